import { expect, test, vi } from "vitest";
import * as kit from "groupwire/testing";
import { writeTogether } from "./board.cjs";

vi.setConfig({ testTimeout: 60_000 });

test("lists are the same in the end", () =>
  kit.forSeeds(20, async (seed) => expect((await writeTogether(kit, seed)).counts).toEqual([10, 10, 10])));

test("fake timers do not disturb it", async () => {
  vi.useFakeTimers();
  expect((await writeTogether(kit, 3)).counts).toEqual([10, 10, 10]);
  vi.useRealTimers();
});

test("a failing run shows its seed", () =>
  expect(kit.forSeeds(5, (seed) => expect(seed).toBeLessThan(3))).rejects.toThrow("GROUPWIRE_SEED=3"));
