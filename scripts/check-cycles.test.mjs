import assert from "node:assert/strict";
import { test } from "node:test";
import { components, imports, largestCircle } from "./check-cycles.mjs";

const targets = (files, file) => [...imports(files).get(file)].sort();

test("a file imports what its paths lead to", () => {
  const files = {
    "lib.rs": "mod a;\nmod b;\npub use a::Thing;",
    "a.rs": "mod inner;\nmod other;\npub struct Thing;",
    "a/inner.rs": "use super::Thing;\nuse crate::{b::{self, Item}, a::other::*};",
    "a/other.rs": "fn f() { super::inner::g(crate::b::H); }",
    "b.rs": "use core::mem;\npub struct Item;",
  };
  assert.deepEqual(targets(files, "lib.rs"), ["a.rs"]);
  assert.deepEqual(targets(files, "a.rs"), []);
  assert.deepEqual(targets(files, "a/inner.rs"), ["a.rs", "a/other.rs", "b.rs"]);
  assert.deepEqual(targets(files, "a/other.rs"), ["a/inner.rs", "b.rs"]);
  assert.deepEqual(targets(files, "b.rs"), []);
});

test("names of modules count where they are used", () => {
  const files = {
    "lib.rs": "mod a;\nmod b;",
    "a/mod.rs": "mod inner;\nfn f() { inner::g() }",
    "a/inner.rs": "",
    "b.rs": "use crate::a as other;\nfn f() { other::inner::g() }",
  };
  assert.deepEqual(targets(files, "a/mod.rs"), ["a/inner.rs"]);
  assert.deepEqual(targets(files, "b.rs"), ["a/inner.rs", "a/mod.rs"]);
  const through = { ...files, "b.rs": "use crate::a;\nfn f() { a::inner::g() }" };
  assert.deepEqual(targets(through, "b.rs"), ["a/inner.rs", "a/mod.rs"]);
});

test("an import through a file that re-exports leads to the origin", () => {
  const files = {
    "lib.rs": "mod a;\nmod b;\npub use b::Item;\npub struct Own;",
    "a.rs": "use crate::Item;",
    "b.rs": "pub use self::c::Thing as Item;\npub mod c;",
    "b/c.rs": "use crate::Own;\nuse super::Item;",
  };
  assert.deepEqual(targets(files, "a.rs"), ["b/c.rs"]);
  assert.deepEqual(targets(files, "b/c.rs"), ["lib.rs"]);
});

test("declarations, visibilities, comments, strings and tests are no imports", () => {
  const files = {
    "lib.rs": "pub mod a;\nmod b;",
    "a.rs": '// use crate::b::X;\nconst A: &str = "crate::b::X";\npub(in crate::b) fn f() {}\npub(crate) fn g() {}',
    "b.rs": "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { use crate::a::X; }\n#[cfg(test)]\nuse crate::a::Y;",
    "b/tests.rs": "use crate::a::X;",
  };
  assert.deepEqual(targets(files, "lib.rs"), []);
  assert.deepEqual(targets(files, "a.rs"), []);
  assert.deepEqual(targets(files, "b.rs"), []);
  assert.equal(imports(files).has("b/tests.rs"), false);
});

test("super means the file itself in a module with a body", () => {
  const files = {
    "lib.rs": "mod a;\npub struct Root;",
    "a.rs": "struct A;\nmod inner { use super::A; fn f() { super::super::Root; } }",
  };
  assert.deepEqual(targets(files, "a.rs"), ["lib.rs"]);
});

test("finds a circle, however long", () => {
  const straight = { "lib.rs": "mod a;", "a.rs": "use crate::b::B;", "b.rs": "use crate::c::C;", "c.rs": "" };
  assert.equal(largestCircle(straight).length, 1);
  const circle = { ...straight, "c.rs": "use crate::a::A;" };
  assert.deepEqual(largestCircle(circle), ["a.rs", "b.rs", "c.rs"]);
  const two = { ...circle, "d.rs": "use crate::e::E;", "e.rs": "use crate::d::D;" };
  assert.deepEqual(largestCircle(two), ["a.rs", "b.rs", "c.rs"]);
});

test("components are those of the graph", () => {
  const edges = new Map([
    [1, new Set([2])],
    [2, new Set([3])],
    [3, new Set([1, 4])],
    [4, new Set([5])],
    [5, new Set([4])],
    [6, new Set()],
  ]);
  const sorted = components(edges).map((circle) => circle.sort());
  assert.deepEqual(sorted.sort(), [[1, 2, 3], [4, 5], [6]]);
});
