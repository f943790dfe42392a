import assert from "node:assert/strict";
import { test } from "node:test";
import { offenders, satisfiable, shippedCrates, shippedNpm } from "./check-licences.mjs";

test("reads SPDX expressions", () => {
  for (const good of [
    "MIT",
    "MIT OR GPL-3.0",
    "MIT/Apache-2.0",
    "(MIT OR GPL-3.0) AND Unicode-3.0",
    "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
    "GPL-3.0 AND ISC OR MIT",
  ]) {
    assert.equal(satisfiable(good), true, good);
  }
  for (const bad of [
    "GPL-3.0",
    "MPL-2.0",
    "MIT AND GPL-3.0",
    "GPL-3.0 AND (MIT OR ISC)",
    "GPL-2.0 WITH Classpath-exception-2.0",
  ]) {
    assert.equal(satisfiable(bad), false, bad);
  }
  for (const broken of ["", "(MIT", "MIT Apache-2.0", "OR MIT", "MIT AND", "MIT)"]) {
    assert.throws(() => satisfiable(broken), broken);
  }
});

test("finds the crate that may not be shipped and shows how it got in", () => {
  const crate = (id, license) => ({ id, name: id, version: "1.0.0", license });
  const dep = (pkg, kind) => ({ pkg, dep_kinds: [{ kind }] });
  const metadata = {
    workspace_default_members: ["ours"],
    packages: [crate("ours", "MIT"), crate("a", "ISC"), crate("b", "GPL-3.0"), crate("c", null), crate("d", "GPL-3.0")],
    resolve: {
      nodes: [
        { id: "ours", deps: [dep("a", null), dep("d", "dev")] },
        { id: "a", deps: [dep("b", null), dep("c", "build")] },
        { id: "b", deps: [] },
        { id: "c", deps: [] },
        { id: "d", deps: [] },
      ],
    },
  };
  assert.deepEqual(offenders(shippedCrates(metadata)), [
    "b 1.0.0: GPL-3.0 (ours > a > b)",
    "c 1.0.0: no licence given (ours > a > c)",
  ]);
});

test("finds the npm package that may not be shipped", () => {
  const packages = {
    "": { name: "root" },
    client: { name: "groupwire" },
    "node_modules/groupwire": { resolved: "client", link: true },
    "node_modules/tool": { version: "1.0.0", license: "GPL-3.0", dev: true },
    "node_modules/good": { version: "1.0.0", license: "MIT" },
    "node_modules/good/node_modules/@x/bad": { version: "2.0.0", license: "SEE LICENSE IN FILE" },
  };
  assert.deepEqual(
    shippedNpm({ packages }).map(({ name }) => name),
    ["good", "@x/bad"],
  );
  assert.equal(offenders(shippedNpm({ packages })).length, 1);
});

test("an exception holds for one licence only", () => {
  const exceptions = { odd: { licence: "MPL-2.0", reason: "" } };
  const odd = { name: "odd", version: "1.0.0", path: "odd" };
  assert.deepEqual(offenders([{ ...odd, licence: "MPL-2.0" }], exceptions), []);
  assert.equal(offenders([{ ...odd, licence: "GPL-3.0" }], exceptions).length, 1);
});
