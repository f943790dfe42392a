import assert from "node:assert/strict";
import { test } from "node:test";
import { citations, definitions, testsOf, wrongCitations, wrongDefinitions } from "./check-wire.mjs";

const page = (...numbers) => numbers.map((number) => `- **W${number}** A rule.\n  More of W1.`).join("\n");
const defined = (pages) => definitions(pages);

test("rules are found where a line defines them", () => {
  assert.deepEqual(
    defined({ "a.md": "# A\n- **W1** One.\n- W2 is not defined.\n  **W3** nor is this.\n- **W4** Four." }),
    [
      [1, "a.md", 2],
      [4, "a.md", 5],
    ],
  );
});

test("each rule is defined once, in order within its page, and never under a retired number", () => {
  assert.deepEqual(wrongDefinitions(defined({ "a.md": page(1, 2, 9), "b.md": page(3, 4) })), []);
  assert.deepEqual(wrongDefinitions(defined({ "a.md": page(1, 2), "b.md": page(2) })), [
    "b.md:1: W2 is defined at a.md:3, too",
  ]);
  assert.deepEqual(wrongDefinitions(defined({ "a.md": page(1, 3, 2) })), [
    "a.md:5: W2 stands behind W3: the numbers of a page ascend",
  ]);
  assert.deepEqual(wrongDefinitions(defined({ "a.md": page(57) })), [
    "a.md:1: W57 is retired: take a number that no rule ever had",
  ]);
});

test("citations are read alone, in lists, in ranges and in names of tests", () => {
  const cited = (text) => citations(text).map(([number, , isAlone]) => (isAlone ? number : -number));
  assert.deepEqual(cited("// W12: as W5 and W6 say (W7)."), [12, 5, 6, 7]);
  assert.deepEqual(cited("// W60 to W62, W70"), [-60, -61, -62, 70]);
  assert.deepEqual(cited("fn w14_a_session() {}"), [14]);
  assert.deepEqual(cited('test("w14_a_session")'), [14]);
  assert.deepEqual(cited("fn w41_w74_two_rules() {}"), [41, 74]);
  assert.deepEqual(cited("let w14 = 5; XW3, W, WELCOME, W1234"), []);
});

test("tests are those of a tests folder, of web, and modules under cfg(test)", () => {
  assert.equal(testsOf("crates/a/tests/b.rs", "W1"), "W1");
  assert.equal(testsOf("crates/a/tests/support/mod.rs", "W1"), "W1");
  assert.equal(testsOf("crates/a/src/b.rs", "// W1\n#[cfg(test)]\nmod tests {\n// W2\n}").includes("W1"), false);
  assert.equal(testsOf("crates/a/src/b.rs", "// W1\n#[cfg(test)]\nmod tests {\n// W2\n}").includes("W2"), true);
  assert.equal(testsOf("crates/a/src/b.rs", "// W1\n#[cfg(test)]\nfn helper() {}\nfn w2_no_test() {}"), "");
  assert.equal(testsOf("crates/a/src/b/tests.rs", "W1"), "W1");
  assert.equal(testsOf("crates/a/src/b.rs", "W1"), "");
  assert.equal(testsOf("web/client/test/wire.ts", "W1"), "W1");
  assert.equal(testsOf("web/client/src/wire.ts", "W1"), "");
  assert.equal(testsOf("docs/a.md", "W1"), "");
});

test("a rule that no test cites is told, and so is a citation of no rule", () => {
  const rules = defined({ "docs/wire/a.md": page(1, 2) });
  const files = { "docs/wire/a.md": page(1, 2), "crates/a/tests/b.rs": "// W1\nfn w2_x() {}" };
  assert.deepEqual(wrongCitations(rules, files), []);
  // The documents and the code are no tests, and a range is no proof.
  for (const other of [
    { "crates/a/tests/b.rs": "// W1" },
    { "crates/a/tests/b.rs": "// W1", "crates/a/src/c.rs": "// W2" },
    { "crates/a/tests/b.rs": "// W1\n// W1 to W2" },
  ]) {
    assert.deepEqual(wrongCitations(rules, other), [
      "W2 is cited by no test: write one that fails if the rule is broken",
    ]);
  }
  assert.deepEqual(wrongCitations(rules, { ...files, "crates/a/src/c.rs": "\n// W33" }), [
    "crates/a/src/c.rs:2: there is no rule W33",
  ]);
  assert.deepEqual(wrongCitations(rules, { ...files, "docs/wire/b.md": "W56 to W59 are retired." }), []);
  assert.equal(wrongCitations(rules, { ...files, "crates/a/src/c.rs": "// W57" }).length, 1);
});
