/** How loud others are. */

import { expect, test } from "vitest";
import { isHeard, loudnessAt } from "../src/talk";

test("the farther somebody is, the softer, and beyond earshot there is silence", () => {
  expect([0, 80, 320, 1000].map((distance) => loudnessAt(distance, 320))).toEqual([1, 1, 0, 0]);
  const all = Array.from({ length: 240 }, (_, at) => loudnessAt(80 + at, 320));
  expect(all).toEqual(all.toSorted((a, b) => b - a));
  expect(loudnessAt(200, 320)).toBeCloseTo(0.25);
});

test("small changes are left out, but not the last one to silence", () => {
  expect(isHeard(0.5, 0.51)).toBe(false);
  expect(isHeard(0.5, 0.6)).toBe(true);
  expect(isHeard(0, 0.01)).toBe(true);
  expect(isHeard(0, 0)).toBe(false);
});
