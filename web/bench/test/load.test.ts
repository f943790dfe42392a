import { expect, test } from "vitest";
import { fill, read } from "../src/load";

test("what is read is what was filled, or nothing", () => {
  const load = { number: 70_000, run: 3, isLast: true };
  const bytes = fill(500, load);
  expect(bytes.length).toBe(500);
  expect(read(bytes)).toEqual(load);
  bytes[300]! ^= 1;
  expect(read(bytes)).toBeUndefined();
  expect(read(bytes.subarray(0, 11))).toBeUndefined();
});

test("the lab makes the same messages", () => {
  // As crates/lab/src/web/load.rs has it.
  expect([...fill(16, { number: 1, run: 2, isLast: false }).subarray(12)]).toEqual([29, 156, 118, 88]);
});
