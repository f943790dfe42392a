import assert from "node:assert/strict";
import { test } from "node:test";
import { imports } from "./check-cycles.mjs";
import { wrongImports } from "./check-layers.mjs";

const LAYERS = [["lib.rs"], ["top"], ["left", "right"], ["tools"]];

const wrong = (files, exceptions = {}) => wrongImports(imports(files), LAYERS, exceptions);

const GOOD = {
  "lib.rs": "mod top;\nmod left;\nmod right;\nmod tools;\npub use top::Top;",
  "top/mod.rs": "use crate::left::Left;\nuse crate::tools::clock;\npub struct Top;",
  "left/mod.rs": "mod part;\npub use part::Part;\npub struct Left;",
  "left/part.rs": "use super::Left;\nuse crate::tools::clock::now;\npub struct Part;",
  "right/mod.rs": "#[cfg(test)]\nuse crate::top::Top;\npub struct Right;",
  "tools/mod.rs": "pub mod clock;",
  "tools/clock.rs": "pub fn now() {}",
};

test("imports that run down, and within a folder, are fine", () => {
  assert.deepEqual(wrong(GOOD), []);
});

test("an import that runs up is found, also in code and through a file that re-exports", () => {
  const up = ["tools/clock.rs -> top/mod.rs: this import runs up"];
  assert.deepEqual(wrong({ ...GOOD, "tools/clock.rs": "use crate::top::Top;" }), up);
  assert.deepEqual(wrong({ ...GOOD, "tools/clock.rs": "fn f() { crate::top::g() }" }), up);
  assert.deepEqual(wrong({ ...GOOD, "tools/clock.rs": "use crate::Top;" }), up);
});

test("an import from one folder to another of the same layer is found", () => {
  const files = { ...GOOD, "right/mod.rs": "use crate::left::Part;" };
  assert.deepEqual(wrong(files), ["right/mod.rs -> left/part.rs: this import runs sideways"]);
});

test("a file that is in no layer is found", () => {
  assert.equal(wrong({ ...GOOD, "flat.rs": "" }).length, 1);
  assert.equal(wrong({ ...GOOD, "new/mod.rs": "use crate::top::Top;" }).length, 1);
});

test("an exception excuses its import, and has to exist", () => {
  const files = { ...GOOD, "tools/clock.rs": "use crate::top::Top;" };
  const exceptions = { "tools/clock.rs -> top/mod.rs": "it is about to move" };
  assert.deepEqual(wrong(files, exceptions), []);
  assert.equal(wrong(GOOD, exceptions).length, 1);
});
