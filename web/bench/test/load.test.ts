import { expect, test } from "vitest";
import { fill, read } from "../src/load";

test("a message is read as it was filled, and a damaged one is rejected", () => {
  const load = { number: 70_000, run: 3, isLast: true };
  const bytes = fill(500, load);
  expect(bytes.length).toBe(500);
  expect(read(bytes)).toEqual(load);
  bytes[300]! ^= 1;
  expect(read(bytes)).toBeUndefined();
  expect(read(bytes.subarray(0, 11))).toBeUndefined();
});

test("the messages are the same as the lab's", () => {
  // The same values as in lab/experiments/src/browsers/load.rs.
  expect([...fill(16, { number: 1, run: 2, isLast: false }).subarray(12)]).toEqual([29, 156, 118, 88]);
});
