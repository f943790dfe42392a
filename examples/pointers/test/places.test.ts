import { expect, test } from "vitest";
import { initials, remember, remembered } from "../src/person";
import { placeOf, stepped } from "../src/places";
import { COLORS } from "../src/room";

const stage = { left: 100, top: 50, width: 400, height: 200 };

test("a point of the window is a place on the stage, whatever its size", () => {
  expect(placeOf(100, 50, stage)).toEqual([0, 0]);
  expect(placeOf(300, 150, stage)).toEqual([500, 500]);
  expect(placeOf(500.4, 250, stage)).toEqual([1000, 1000]);
  expect(placeOf(0, 999, stage)).toEqual([0, 1000]);
  expect(placeOf(1, 1, { ...stage, width: 0 })).toBeNull();
});

test("arrow keys move from the middle, and not over the edge", () => {
  expect(stepped(null, "ArrowLeft", false)).toEqual([490, 500]);
  expect(stepped([5, 5], "ArrowUp", true)).toEqual([5, 0]);
  expect(stepped([5, 5], "a", false)).toBeUndefined();
});

test("initials", () => {
  expect(["Ada Lovelace", " ada ", "Guest of 7", "🦊 fox", ""].map(initials)).toEqual(["AL", "A", "G7", "🦊F", "?"]);
});

test("a person is remembered, and what does not fit is not", () => {
  const saved = new Map<string, string>();
  const memory = {
    getItem: (key: string) => saved.get(key) ?? null,
    setItem: (key: string, value: string) => void saved.set(key, value),
  };
  expect(remembered(memory, () => 0)).toEqual({ name: "Guest 100", color: COLORS[0] });
  remember(memory, { name: "Ada", color: COLORS[3]! });
  expect(remembered(memory)).toEqual({ name: "Ada", color: COLORS[3] });
  for (const key of saved.keys()) saved.set(key, "x".repeat(99));
  expect(remembered(memory, () => 0.5)).toEqual({ name: "Guest 550", color: COLORS[4] });
});
