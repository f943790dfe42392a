import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { judge, LIMITS, loadedFirst } from "./check-size.mjs";
import { brotli, gzip } from "./compress.mjs";
import { panics } from "./trim-wasm.mjs";

test("finds what is too large", () => {
  assert.equal(judge(LIMITS).keeps, true);
  for (const name of Object.keys(LIMITS)) {
    const { keeps, lines } = judge({ ...LIMITS, [name]: LIMITS[name] + 1 });
    assert.equal(keeps, false);
    assert.equal(lines.filter((line) => line.includes("TOO LARGE")).length, 1);
  }
});

test("compressed content is what the format's own decoder reads", () => {
  const bytes = Buffer.from("a page that repeats itself ".repeat(100));
  assert.deepEqual(gunzipSync(gzip(bytes)), bytes);
  assert.deepEqual(brotliDecompressSync(brotli(bytes)), bytes);
  assert.ok(gzip(bytes).length < 100 && brotli(bytes).length < 100);
});

test("counts what is loaded before the first message", () => {
  const chunk = (fileName, imports = [], moduleIds = []) => ({ fileName, imports, moduleIds, isEntry: false });
  const entry = { ...chunk("index.js", ["shared.js"]), isEntry: true };
  const glue = chunk("glue.js", ["helper.js"], ["/a/wasm/groupwire_wasm.js"]);
  const chunks = [entry, glue, chunk("shared.js", ["index.js"]), chunk("helper.js"), chunk("later.js")];
  const names = loadedFirst(chunks).map(({ fileName }) => fileName);
  assert.deepEqual(names.sort(), ["glue.js", "helper.js", "index.js", "shared.js"]);
  assert.throws(() => loadedFirst([entry]));
});

test("trims what panics and nothing else", () => {
  for (const name of [
    "core[c5930c85a12de822]::panicking::panic_bounds_check",
    "core[c5930c85a12de822]::panicking::panic_const::panic_const_div_by_zero",
    "core::panicking::panic_fmt::h0123456789abcdef",
    "core[c5930c85a12de822]::slice::index::slice_index_fail",
    "core[c5930c85a12de822]::str::slice_error_fail",
    "core[c5930c85a12de822]::option::expect_failed",
    "alloc[3ca501edff3f0c7c]::raw_vec::handle_error",
    "alloc[3ca501edff3f0c7c]::alloc::handle_alloc_error",
  ]) {
    assert.equal(panics(name), true, name);
  }
  for (const name of [
    "groupwire_session::client::lifecycle::<impl groupwire_session::client::Client>::fail::h1fc49ab13d90fc68",
    "core[c5930c85a12de822]::fmt::write",
    "alloc::vec::Vec<T,A>::push::h28d3106815590245",
    "<core[c5930c85a12de822]::str::lossy::Utf8Chunks as core::iter::Iterator>::next",
  ]) {
    assert.equal(panics(name), false, name);
  }
});
