import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, unclear, wrapped } from "./check-comments.mjs";

// Put together here, so that this file passes the check.
const comment = (text, marker = "///") => `${marker} ${text}`;
const kinds = (text) => unclear(text).map(({ kind, line }) => `${kind}:${line}`);
const LONG = "word ".repeat(30).trim();

test("finds words of the old dialect", () => {
  for (const text of ["A message of four octets.", "Waits for so many bytes.", "What became of a message."]) {
    assert.deepEqual(kinds(`fn f() {}\n${comment(text)}`), ["dialect:2"], text);
  }
  for (const text of ["The type is application/octet-stream.", "Keeps so many bytes that memory ends."]) {
    assert.deepEqual(kinds(comment(text)), [], text);
  }
});

test("finds comments that begin with a pronoun and name nothing", () => {
  for (const text of ["What is left.", "Its end: the bytes are gone.", "It has gone. The packet is lost."]) {
    assert.deepEqual(kinds(comment(text)), ["riddle:1"], text);
  }
  for (const text of ["What a packet holds.", "What `write` returns.", "It is JSON.", "The rest."]) {
    assert.deepEqual(kinds(comment(text)), [], text);
  }
});

test("reads all forms of comments, but no code and no strings", () => {
  assert.deepEqual(kinds("/** What is left. */\n/**\n * What is left.\n */\n  // What is left."), [
    "riddle:1",
    "riddle:2",
    "riddle:5",
  ]);
  assert.deepEqual(kinds("// The end.\n*what = octet;\n * octet"), []);
  assert.deepEqual(kinds('let what = "// octet";'), []);
});

test("finds long lines of comments", () => {
  assert.deepEqual(kinds(comment(LONG)), ["long:1"]);
  assert.deepEqual(kinds(comment(`| ${LONG}`)), [], "a table");
  assert.deepEqual(kinds(comment("x".repeat(120))), [], "a single word");
  assert.deepEqual(kinds(`let x = "${LONG}";`), [], "code");
});

test("wraps paragraphs with long lines, and nothing else", () => {
  const code = ["fn f() {", "    // Short", "    // lines stay.", "    //", `    // ${LONG}`, "}"].join("\n");
  const lines = wrapped(code).split("\n");
  assert.deepEqual(lines.slice(0, 4), code.split("\n").slice(0, 4));
  assert.ok(lines.every((line) => line.length <= 100));
  assert.deepEqual(kinds(wrapped(code)), []);
  assert.equal(lines.join(" ").match(/word/g).length, 30);
  assert.equal(wrapped(wrapped(code)), wrapped(code));
});

test("wraps block comments, lists with their indentation, and no code in comments", () => {
  const item = wrapped(`//! - ${LONG}\n//!   more`).split("\n");
  assert.ok(
    item.slice(1).every((line) => line.startsWith("//!   w") || line.startsWith("//!   m")),
    item.join("\n"),
  );
  assert.deepEqual(
    wrapped(`  /** ${LONG} */\n  f();`)
      .split("\n")
      .map((line) => line.slice(0, 9)),
    ["  /**", "   * word", "   * word", "   */", "  f();"],
  );
  const whole = `/**\n * ${LONG}\n */\nf();`;
  assert.deepEqual(wrapped(whole), wrapped(`/** ${LONG} */\nf();`));
  assert.match(wrapped(`/**\n * @param a - ${LONG}\n */`), /^\/\*\*\n \* @param a .*\n \*   word/);
  for (const fixed of [`// \`\`\`\n// ${LONG}\n// \`\`\``, `//   ${LONG}`]) {
    assert.equal(wrapped(fixed), fixed);
    assert.deepEqual(kinds(fixed), []);
  }
});

test("a limit may only fall", () => {
  assert.deepEqual(compare({ riddle: 2 }, { riddle: 2, long: 0 }), []);
  assert.match(compare({ riddle: 3 }, { riddle: 2 })[0], /3 where 2 are allowed/);
  assert.match(compare({}, { riddle: 2 })[0], /lower the limit from 2/);
});
