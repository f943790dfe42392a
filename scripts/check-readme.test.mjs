import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { blocks, run } from "./check-readme.mjs";

test("finds the blocks to run", () => {
  const markdown = [
    "# A",
    "```sh",
    "one",
    "two",
    "```",
    "<!-- no-test -->",
    "```sh",
    "three",
    "```",
    "```ts",
    "four",
    "```",
    '<!-- test: background until "http://" -->',
    "```sh",
    "five",
    "```",
  ].join("\n");
  assert.deepEqual(blocks(markdown), [
    { line: 2, script: "one\ntwo", until: undefined },
    { line: 14, script: "five", until: "http://" },
  ]);
  assert.throws(() => blocks("```sh\none"), /does not end/);
  assert.throws(() => blocks("<!-- test: backgruond -->\n```sh\none\n```"), /cannot read/);
});

test("fails where a command fails", async () => {
  await run([{ line: 1, script: "true" }]);
  await assert.rejects(run([{ line: 1, script: "false\ntrue" }]), /line 1 ended with 1/);
  await assert.rejects(run([{ line: 1, script: "sleep 60" }], { timeout: 100 }), /longer than 0.1 s/);
});

test("keeps what is in the background until the end", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "check-readme-"));
  const server = { line: 1, script: "echo $$ > pid; echo ready; sleep 60; true", until: "ready" };
  const alive = { line: 2, script: 'kill -0 "$(cat pid)"' };
  await run([server, alive], { cwd });
  await assert.rejects(run([alive], { cwd }), /line 2/);
  await assert.rejects(run([{ line: 1, script: "true", until: "ready" }]), /before it printed "ready"/);
  rmSync(cwd, { recursive: true });
});
