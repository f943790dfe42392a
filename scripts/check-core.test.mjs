import assert from "node:assert/strict";
import { test } from "node:test";
import { worldlyCrates, worldlySource, wrongArrows } from "./check-core.mjs";

const source = (kind, text) => worldlySource(kind, { "src/lib.rs": text });

test("a no_std crate uses std in tests only", () => {
  assert.deepEqual(source("no_std", '#![no_std]\nuse core::time::Duration;\n// std\nconst A: &str = "std::fs";'), []);
  assert.deepEqual(source("no_std", "pub fn f() {}"), ["src/lib.rs: lacks #![no_std]"]);
  assert.deepEqual(source("no_std", "// #![no_std]"), ["src/lib.rs: lacks #![no_std]"]);
  assert.deepEqual(source("no_std", "#![no_std]\nextern crate std;"), [
    "src/lib.rs:2: std outside of tests; this crate is no_std",
  ]);
  assert.deepEqual(source("no_std", '#![no_std]\n#[cfg(feature = "std")]\nextern crate std;').length, 1);
  assert.deepEqual(source("no_std", "#![no_std]\n#[cfg(test)]\nmod tests {\n use std::fs;\n fn f() { '{'; }\n}"), []);
  assert.equal(source("no_std", "#![no_std]\n#[cfg(test)]\nmod tests { }\nuse std::fs;").length, 1);
});

test("a test module in a file of its own may use std", () => {
  const files = {
    "src/lib.rs": "#![no_std]\nmod a;",
    "src/a.rs": "#[cfg(test)]\nmod tests;",
    "src/a/tests.rs": "use std::fs;",
  };
  assert.deepEqual(worldlySource("no_std", files), []);
  assert.equal(worldlySource("no_std", { ...files, "src/a.rs": "mod tests;" }).length, 1);
});

test("a std crate uses what reaches no world", () => {
  assert.deepEqual(source("std", "use std::{collections::BTreeMap, fmt, io::{self, Read}};\nstd::mem::take(a);"), []);
  assert.deepEqual(source("std", "fn f<'a>(s: &'a str) -> char { '\"' }\nuse core::time::Duration;"), []);
  for (const bad of [
    "use std::time::Instant;",
    "use std::{fmt, thread};",
    "use std::{\n  io::{Read, stdin},\n};",
    "let a = ::std::net::UdpSocket::bind(b);",
    "fn f<'a>(s: &'a str) -> char { '\"' } use std::fs;",
    "use std::collections::HashMap;",
    "use std::collections::{BTreeMap, hash_map::Entry};",
    "use std::{self as world};",
    "use std as world;",
    "use std::*;",
    'println!("{a}");',
  ]) {
    assert.equal(source("std", bad).length, 1, bad);
  }
});

test("finds crates that reach the world", () => {
  assert.deepEqual(worldlyCrates("groupwire-gmc v0.1.0 (path)\nthiserror v2.0.0\nrand v0.9.0 (*)\nrand_core v0.9.0"), [
    "rand",
  ]);
});

test("finds a crate that reaches around its neighbour", () => {
  const arrows = { server: ["session"], session: ["gmc"], gmc: [] };
  const dep = (name, kind = null) => ({ name: `groupwire-${name}`, kind, path: name });
  const crate = (name, ...dependencies) => ({ name: `groupwire-${name}`, dependencies });
  assert.deepEqual(wrongArrows([crate("server", dep("session"), dep("gmc", "dev"), { name: "tokio" })], arrows), []);
  assert.equal(wrongArrows([crate("server", dep("gmc"))], arrows).length, 1);
  assert.equal(wrongArrows([crate("gmc", dep("session"))], arrows).length, 1);
  assert.equal(wrongArrows([crate("new")], arrows).length, 1);
});
