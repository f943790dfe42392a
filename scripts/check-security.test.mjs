import assert from "node:assert/strict";
import { test } from "node:test";
import { hasTest, named, rows, wrong } from "./check-security.mjs";

const table = (...cells) =>
  ["# Attacks", "| what | tests |", "| --- | --- |", ...cells.map((cell) => `| x | ${cell} |`)].join("\n");
const files = {
  "a/b.rs":
    '#[tokio::test(flavor = "multi_thread")]\nasync fn a_flood() {}\n#[test]\n#[ignore]\n/// Why.\nfn other() {}\nfn helper() {}',
  "c.test.mjs": 'test("a page (twice)", options, async () => {});',
};
const read = (file) => files[file];

test("rows are those below the head of a table", () => {
  assert.deepEqual(rows(`${table("one", "two")}\ntext`), [
    [4, [" x ", " one "]],
    [5, [" x ", " two "]],
  ]);
});

test("tests are named with their files, several of a file with commas", () => {
  assert.deepEqual(named("`a/b.rs`: `one`, `two`; `c.test.mjs`: `a page (twice)`, and `three` in words"), [
    ["a/b.rs", "one"],
    ["a/b.rs", "two"],
    ["c.test.mjs", "a page (twice)"],
  ]);
});

test("a test has an attribute in Rust, and a title in JavaScript", () => {
  for (const name of ["a_flood", "other"]) assert.ok(hasTest("a/b.rs", files["a/b.rs"], name), name);
  for (const name of ["helper", "flood", "a_floo", "a_flood_more"])
    assert.ok(!hasTest("a/b.rs", files["a/b.rs"], name), name);
  assert.ok(hasTest("c.test.mjs", files["c.test.mjs"], "a page (twice)"));
  const made = "over_every_transport! {\n    one\n    two\n}\nasync fn one(over: Over) {}\nasync fn three() {}\n";
  assert.ok(hasTest("d.rs", made, "one"));
  for (const name of ["two", "three", "on"]) assert.ok(!hasTest("d.rs", made, name), name);
  assert.ok(!hasTest("c.test.mjs", files["c.test.mjs"], "a page"));
});

test("a row without a test, a missing file and a missing test are told with their line", () => {
  assert.deepEqual(wrong(table("`a/b.rs`: `a_flood`, `other`"), read), []);
  assert.deepEqual(wrong(table("nothing", "`gone.rs`: `one`", "`a/b.rs`: `a_flood`, `gone`"), read), [
    "docs/security.md:4: the row names no test in its last cell",
    "docs/security.md:5: there is no file gone.rs",
    "docs/security.md:6: a/b.rs has no test gone",
  ]);
  assert.deepEqual(wrong("# Attacks", read), ["docs/security.md: it has no table"]);
});
