import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictLines, conflicts } from "./check-conflicts.mjs";

// Made here, so that this file passes the check.
const marker = (character, label = "") => character.repeat(7) + label;
const merge = [
  "before",
  marker("<", " HEAD"),
  "ours",
  marker("|", " 1234567"),
  "base",
  marker("="),
  "theirs",
  marker(">", " branch"),
  "after",
].join("\n");

test("finds each of the four markers", () => {
  assert.deepEqual(conflictLines(merge), [2, 4, 6, 8]);
  assert.deepEqual(conflictLines(merge.replaceAll("\n", "\r\n")), [2, 4, 6, 8]);
  assert.deepEqual(conflictLines(marker("=")), [1]);
  assert.deepEqual(conflictLines(marker(">")), [1]);
});

test("accepts what only resembles a marker", () => {
  for (const line of ["========", "======= x", " " + marker("<", " HEAD"), marker("<") + "<", "a " + marker("=")]) {
    assert.deepEqual(conflictLines(line), [], line);
  }
});

test("names the file and the line, and passes over binary files", () => {
  const files = { "a.md": merge, "b.md": "text", "c.bin": `\0${merge}` };
  assert.deepEqual(
    conflicts(Object.keys(files), (path) => files[path]),
    ["a.md:2", "a.md:4", "a.md:6", "a.md:8"],
  );
});
