import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, exampleName, listed, rustName } from "./test-names.mjs";

test("a test's name survives the move of its program into a module of `all`", () => {
  const alone = rustName("groupwire-session", "test", "blocks", "a_late_joiner");
  const together = rustName("groupwire-session", "test", "all", "blocks::a_late_joiner");
  assert.equal(alone, together);
  assert.notEqual(alone, rustName("groupwire-session", "lib", "groupwire_session", "blocks::a_late_joiner"));
});

test("reads the lists that programs of Rust tests print", () => {
  assert.deepEqual(listed("room::tests::one: test\nspeed: bench\n\n1 test, 1 benchmark\n"), ["room::tests::one"]);
  assert.equal(exampleName("src/lib.rs - Room::join (line 12)"), "src/lib.rs - Room::join");
});

test("a missing test is lost, also if another one of its name is left", () => {
  assert.deepEqual(compare(["a", "b"], ["b", "a"]), { lost: [], added: [], moved: [] });
  assert.deepEqual(compare(["a", "b"], ["b", "c"]), { lost: ["a"], added: ["c"], moved: [] });
  assert.deepEqual(compare(["a", "a"], ["a"]), { lost: ["a"], added: [], moved: [] });
});

test("a Rust test that kept its function's name has moved; the same function twice is no proof for two", () => {
  const [old, other] = ["gw test a::works", "gw lib b::works"];
  const moved = "gw-lab test c::works";
  assert.deepEqual(compare([old], [moved]), { lost: [], added: [], moved: [[old, moved]] });
  assert.deepEqual(compare([old, other], [moved]), { lost: [other], added: [], moved: [[old, moved]] });
});
