/** How loud others are. */

import { expect, test } from "vitest";
import { loudnessAt } from "../src/talk";

test("the farther somebody is, the softer, and beyond earshot there is silence", () => {
  expect([0, 80, 320, 1000].map((distance) => loudnessAt(distance, 320))).toEqual([1, 1, 0, 0]);
  const all = Array.from({ length: 240 }, (_, at) => loudnessAt(80 + at, 320));
  expect(all).toEqual(all.toSorted((a, b) => b - a));
  expect(loudnessAt(200, 320)).toBeCloseTo(0.25);
});
