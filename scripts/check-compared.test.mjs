import assert from "node:assert/strict";
import { test } from "node:test";
import { wrongComparison } from "./check-compared.mjs";

const files = new Map([["web/a.test.ts", 'test("it works", () => {});']]);
const read = (file) => files.get(file);
const head = `| | us | a | b | c | d | e | test |\n|${" --- |".repeat(8)}\n`;
const link = "[yes](https://example.com/docs)";
const proof = "`web/a.test.ts`: `it works`";
const row = (...cells) => `${head}| ${cells.join(" | ")} |\n`;

test("a row with tests that exist, and links for what others have, is fine", () => {
  assert.deepEqual(wrongComparison(row("x", "ours", link, "–", "–", link, "–", proof), read), []);
});

test("a claim without a link is found", () => {
  const found = wrongComparison(row("x", "ours", "yes", "", "–", link, "[no](http)", proof), read);
  assert.deepEqual(
    found.map((line) => line.replace(/^.*this: /, "")),
    ["yes", "an empty cell", "[no](http)"],
  );
});

test("a test that does not exist is found, and a row without one", () => {
  const found = wrongComparison(row("x", "ours", link, link, link, link, link, "`web/a.test.ts`: `it breaks`"), read);
  assert.deepEqual(found, ["docs/compared.md:3: web/a.test.ts has no test it breaks"]);
  assert.match(wrongComparison(row("x", "ours", link, link, link, link, link, ""), read)[0], /names no test/);
});

test("a row with a cell too few is found", () => {
  assert.match(wrongComparison(row("x", "ours", link, proof), read)[0], /has 4 cells, not 8/);
});
