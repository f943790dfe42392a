import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown } from "../lab/evidence/markdown.mjs";
import { faults } from "./check-evidence.mjs";

const machine = { processor: "a processor", cores: 2, memoryGb: 8, kernel: "6" };
const entry = (id, more) => ({ id, paper: "p", label: id, caption: "it", counted: true, ...more });
const registry = (more) => ({ about: "x", papers: { p: { name: "P" } }, entries: [entry("t1", more), entry("t2")] });
const holds = { verdict: "holds", lines: [] };
const differs = { verdict: "differs", lines: [] };

/** The faults of a result in which the first entry has this verdict. */
function of(again, more, document) {
  const result = {
    entries: { t1: { again, ours: holds }, t2: { again: holds, ours: holds } },
    measured: [{ runs: ["run"], quick: [], commits: ["abc"], machine }],
  };
  return faults(registry(more), result, document ?? markdown(registry(more), result));
}

test("a result in which everything holds has no faults", () => assert.deepEqual(of(holds), []));

test("a verdict that differs needs a cause", () => {
  assert.match(of(differs)[0], /t1 differs \(again\)/);
  assert.deepEqual(of(differs, { because: { again: "The clock was slow." } }), []);
});

test("an entry without rows, and one that is not in the result, are found", () => {
  assert.match(of({ verdict: "missing", lines: [] })[0], /t1 has no rows/);
  assert.deepEqual(faults(registry(), { entries: {}, measured: [] }, ""), [
    "t1 is not in the result",
    "t2 is not in the result",
  ]);
});

test("another document is found", () => assert.match(of(holds, {}, "old")[0], /--write/));
