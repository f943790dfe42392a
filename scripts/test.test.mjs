import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { next, runAll, STEPS, unsteadyIn } from "./test.mjs";

const [long, after, small, locked, alsoLocked] = [
  { target: "long", cores: 2 },
  { target: "after", cores: 1, after: ["long"] },
  { target: "small", cores: 1 },
  { target: "locked", cores: 1, lock: "cargo" },
  { target: "also-locked", cores: 1, lock: "cargo" },
];

test("a step starts when what it needs has ended, and a processor and its lock are free", () => {
  const steps = [long, after, small, locked, alsoLocked];
  assert.equal(next(steps, new Set(), new Set(), 2), long);
  assert.equal(next(steps, new Set(), new Set([long]), 2), undefined);
  assert.equal(next(steps, new Set(), new Set([long]), 3), small);
  assert.equal(next(steps, new Set([long]), new Set(), 2), after);
  assert.equal(next(steps, new Set([long, after, small]), new Set([locked]), 2), undefined);
  assert.equal(next(steps, new Set([long, after, small, locked]), new Set(), 2), alsoLocked);
  assert.equal(next([long], new Set(), new Set(), 1), long, "with too few processors, steps run one by one");
});

test("all steps run once, and none starts after one has failed", async () => {
  const run = (wrong) => async (step) => ({ step, isFine: step.target !== wrong });
  const order = async (wrong) =>
    (await runAll([after, long, small], 2, run(wrong), () => {})).map(({ step }) => step.target);
  assert.deepEqual((await order()).sort(), ["after", "long", "small"]);
  assert.equal((await order())[0], "long");
  assert.deepEqual(await order("long"), ["long"]);
  await assert.rejects(
    runAll([after], 2, run(), () => {}),
    /wait for each other/,
  );
});

test("a step that meets real time runs once more when it fails, and the result says so", async () => {
  const sockets = { target: "sockets", cores: 1, repeats: true };
  const runs = async (failures) => {
    const shown = [];
    let count = 0;
    const run = async (step) => ({ step, isFine: ++count > failures });
    const results = await runAll([sockets], 1, run, ({ isFine }, running) => shown.push([isFine, running.length]));
    return { count, shown, results: results.map(({ isFine, isRepeated }) => ({ isFine, isRepeated })) };
  };
  const once = { count: 1, shown: [[true, 0]], results: [{ isFine: true, isRepeated: false }] };
  assert.deepEqual(await runs(0), once);
  const [failed, passed] = [
    [false, 1],
    [true, 0],
  ];
  assert.deepEqual(await runs(1), {
    ...{ count: 2, shown: [failed, passed] },
    results: [{ isFine: true, isRepeated: true }],
  });
  assert.deepEqual(await runs(9), {
    ...{ count: 2, shown: [failed, [false, 0]] },
    results: [{ isFine: false, isRepeated: true }],
  });
});

test("what passed only when it was repeated is told", () => {
  const output = [
    "  TRY 1 FAIL [   1.003s] (7/277) groupwire-cli::all durable::kills",
    "   FLAKY 2/2 [   0.512s] (7/277) groupwire-cli::all durable::kills",
    "   FLAKY 2/2 [   0.512s] groupwire-cli::all durable::kills",
  ].join("\n");
  const results = [
    { step: { name: "Rust tests" }, isFine: true, isRepeated: false, output },
    { step: { name: "browser tests" }, isFine: true, isRepeated: true, output: "" },
    { step: { name: "C library" }, isFine: false, isRepeated: true, output: "" },
  ];
  assert.deepEqual(unsteadyIn(results), [
    "== FLAKY: groupwire-cli::all durable::kills failed once, and passed when repeated",
    "== UNSTEADY: browser tests failed once, and passed when it ran again",
  ]);
});

test("each step is a target of the Makefile, and comes after steps that there are", () => {
  const targets = new Set(
    [...readFileSync(new URL("../Makefile", import.meta.url), "utf8").matchAll(/^([a-z-]+):/gm)].map(
      ([, name]) => name,
    ),
  );
  for (const { target, after = [] } of STEPS) {
    for (const name of [target, ...after]) assert.ok(targets.has(name), name);
    for (const name of after)
      assert.ok(
        STEPS.some((step) => step.target === name),
        name,
      );
  }
});
