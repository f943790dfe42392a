import assert from "node:assert/strict";
import { test } from "node:test";
import * as kit from "groupwire/testing";
import { writeTogether } from "./board.cjs";

test("lists are the same in the end", () =>
  kit.forSeeds(20, async (seed) => assert.deepEqual((await writeTogether(kit, seed)).counts, [10, 10, 10])));

test("a seed repeats a run", async () =>
  assert.equal((await writeTogether(kit, 3)).log, (await writeTogether(kit, 3)).log));
