import assert from "node:assert/strict";
import { test } from "node:test";
import { differences } from "./compare-rows.mjs";

const row = (technique, more) => ({ trace: "xml", technique, mode: "stream", bytes_out: 7, encode_us: 1.5, ...more });

test("accepts the same rows in another order, with other times and with more fields", () => {
  const after = [row("zstd", { encode_us: 9 }), row("lz4", { experiment: "gmc" })];
  assert.deepEqual(differences("gmc", [row("lz4"), row("zstd")], after, { values: true }), []);
});

test("finds rows that are gone or new, of several with one name, too", () => {
  const lines = differences("gmc", [row("lz4"), row("lz4"), row("zstd")], [row("lz4"), row("brotli")]);
  assert.deepEqual(
    lines.map((line) => line.replace(/^(\w+): .*technique ("\w+")(.*)$/, "$1 $2$3")),
    ['gone "lz4" (2)', 'gone "zstd"', 'new "brotli"'],
  );
});

test("finds fields that are gone, and other values only if they are asked for", () => {
  const { bytes_out: _, ...less } = row("lz4");
  assert.match(differences("gmc", [row("lz4")], [less]).join(), /^without bytes_out: /);
  const other = [row("lz4", { bytes_out: 8 })];
  assert.deepEqual(differences("gmc", [row("lz4")], other), []);
  assert.match(differences("gmc", [row("lz4")], other, { values: true }).join(), /^bytes_out 7 is 8: /);
});

test("names experiments if there is none of the name", () => {
  assert.throws(() => differences("moon", [], []), /there are gmc, afec/);
});
