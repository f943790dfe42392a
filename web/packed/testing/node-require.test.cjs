const assert = require("node:assert/strict");
const { test } = require("node:test");
const kit = require("groupwire/testing");
const { writeTogether } = require("./board.cjs");

test("lists are the same in the end", () =>
  kit.forSeeds(20, async (seed) => assert.deepEqual((await writeTogether(kit, seed)).counts, [10, 10, 10])));
