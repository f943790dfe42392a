import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import { collect, judge, machineHas, parse, VARIABLE } from "./skipped.mjs";

const DATA = { test: "replays", need: "data" };
const LZOP = { test: "lzop", need: "lzop" };

test("collects what tests skip, each once, and leaves nothing of an earlier run", async () => {
  const skip = (env) => appendFileSync(env[VARIABLE], "replays: needs data\nreplays: needs data\nlzop: needs lzop\n");
  assert.deepEqual((await collect(skip)).skipped, [LZOP, DATA]);
  assert.deepEqual(await collect(() => 7), { result: 7, skipped: [] });
  assert.throws(() => parse("nonsense\n"));
});

test("counts skipped tests, and fails only in CI, and only where CI has what is needed", () => {
  const never = () => false;
  assert.deepEqual(judge([], true, never), { lines: ["skipped: 0 tests"], isFine: true });
  assert.equal(judge([DATA], false, never).isFine, true);
  assert.equal(judge([DATA], false, never).lines.length, 2);
  assert.equal(judge([DATA], true, (need) => need === "data").isFine, false);
  assert.equal(judge([LZOP], true, never).isFine, true);
  assert.equal(judge([LZOP], true, (need) => need === "lzop").isFine, false);
});

test("looks for programs on the PATH", () => {
  assert.equal(machineHas("sh"), true);
  assert.equal(machineHas("no-such-program-here"), false);
});
