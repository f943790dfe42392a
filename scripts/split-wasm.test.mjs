import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { default: binaryen } = await import(pathToFileURL(require.resolve("binaryen")));
const tool = fileURLToPath(new URL("../.cache/tools/bindgen/debug/groupwire-bindgen", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "split-"));
after(() => rmSync(folder, { recursive: true }));

/** The functions `late::` are to be in the second part, and what only they call. */
const MODULE = `(module
  (type $unary (func (param i32) (result i32)))
  (import "host" "note" (func $note (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "\\07")
  (global $stack (mut i32) (i32.const 1000))
  (global $unused (mut i32) (i32.const 1))
  (table $table 5 5 funcref)
  (elem (i32.const 1) $early::double $late::triple $only_late $late::hidden)
  (func $early::double (param i32) (result i32) (i32.mul (local.get 0) (i32.const 2)))
  (func $only_late (param i32) (result i32)
    (global.set $stack (i32.sub (global.get $stack) (i32.const 16)))
    (call $note (global.get $stack))
    (i32.add (call $early::double (local.get 0)) (i32.load8_u (i32.const 16))))
  (func $late::triple (param i32) (result i32) (i32.mul (local.get 0) (i32.const 3)))
  (func $late::hidden (param i32) (result i32) (call $shared (local.get 0)))
  (func $shared (param i32) (result i32) (i32.add (local.get 0) (i32.load8_u (i32.const 16))))
  (func $late::sum (param i64 f64) (result f64)
    (i32.store8 (i32.const 17) (call $only_late (i32.const 5)))
    (f64.add (f64.convert_i64_s (local.get 0)) (local.get 1)))
  (func $late::exported (export "exported") (param i32) (result i32) (i32.sub (local.get 0) (i32.const 1)))
  (func (export "early") (param i32) (result i32) (call $shared (call $early::double (local.get 0))))
  (func (export "sum") (param i64 f64) (result f64) (call $late::sum (local.get 0) (local.get 1)))
  (func (export "indirect") (param i32 i32) (result i32)
    (call_indirect $table (type $unary) (local.get 1) (local.get 0)))
)`;

/** Writes the module with the names of its functions, and splits it. */
function split(boundary) {
  const paths = Object.fromEntries(["whole", "list", "first", "second"].map((name) => [name, join(folder, name)]));
  binaryen.setDebugInfo(true);
  const module = binaryen.parseText(MODULE);
  module.setFeatures(binaryen.Features.All);
  writeFileSync(paths.whole, module.emitBinary());
  writeFileSync(paths.list, boundary);
  execFileSync(tool, ["split", paths.whole, paths.list, paths.first, paths.second], { stdio: "pipe" });
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, readFileSync(path)]));
}

/** All that the module can answer, and what it told the host. */
function answers({ exports }, notes) {
  const indirect = [1, 2, 3, 4].map((slot) => exports.indirect(slot, 20));
  const results = [exports.early(4), exports.sum(3n, 0.5), exports.exported(8), ...indirect];
  return [results, notes.splice(0), [...new Uint8Array(exports.memory.buffer, 16, 2)]];
}

test(
  "the two parts together answer as the whole module, and the first alone what it can",
  { skip: !existsSync(tool) },
  () => {
    const parts = split("late::\n");
    const notes = [];
    const host = { note: (value) => notes.push(value) };
    const instance = (bytes, imports = {}) =>
      new WebAssembly.Instance(new WebAssembly.Module(bytes), { host, ...imports });
    const expected = answers(instance(parts.whole), notes);
    assert.deepEqual(expected, [
      [15, 3.5, 7, 40, 60, 47, 27],
      [984, 968],
      [7, 17],
    ]);

    const first = instance(parts.first);
    assert.equal(first.exports.early(4), 15);
    for (const late of [
      () => first.exports.sum(3n, 0.5),
      () => first.exports.exported(8),
      () => first.exports.indirect(2, 20),
    ]) {
      assert.throws(late, WebAssembly.RuntimeError);
    }
    instance(parts.second, { first: first.exports });
    assert.deepEqual(answers(first, notes), expected);
  },
);

test("functions are where the list says, with what only they call", { skip: !existsSync(tool) }, () => {
  const defined = (bytes) => {
    const module = binaryen.readBinary(bytes);
    const all = Array.from({ length: module.getNumFunctions() }, (_, at) => module.getFunctionByIndex(at));
    return all.map((at) => binaryen.getFunctionInfo(at)).flatMap(({ name, module }) => (module ? [] : [name]));
  };
  const second = defined(split("late::\n!late::triple\n").second);
  assert.deepEqual(second.sort(), ["late::exported", "late::hidden", "late::sum"]);
  assert.throws(() => split("# nothing\n"), /is empty/);
});
