import { expect, test } from "vitest";
import { cameraAt, worldAt, wrapped } from "../src/draw";
import { Keys } from "../src/keys";
import { SPEED, Walker, WORLD } from "../src/walker";

test("walks to a place at its speed, and stops there", () => {
  const walker = new Walker([100, 100]);
  walker.walkTo([100 + SPEED, 100]);
  expect(walker.step(500)).toEqual([100 + SPEED / 2, 100]);
  expect(walker.step(600)).toEqual([100 + SPEED, 100]);
  expect(walker.isWalking).toBe(false);
  expect(walker.step(1000)).toEqual([100 + SPEED, 100]);
});

test("is not faster on a diagonal, and stays in the world", () => {
  const walker = new Walker([600, 400]);
  walker.steer([1, 1]);
  const [x, y] = walker.step(1000);
  expect(Math.hypot(x - 600, y - 400)).toBeCloseTo(SPEED);
  walker.step(60_000);
  expect(walker.place[0]).toBeLessThan(WORLD.width);
  expect(walker.place[1]).toBeLessThan(WORLD.height);
});

test("keys give a direction while they are held", () => {
  const keys = new Keys();
  expect(keys.change("KeyW", true)).toBe(true);
  expect(keys.change("ArrowRight", true)).toBe(true);
  expect(keys.direction).toEqual([1, -1]);
  // Opposite keys cancel each other out.
  keys.change("KeyA", true);
  expect(keys.direction).toEqual([0, -1]);
  keys.change("KeyW", false);
  keys.release();
  expect(keys.direction).toEqual([0, 0]);
  expect(keys.change("KeyX", true)).toBe(false);
});

test("the camera shows the world around one, and a click means what is under it", () => {
  const phone = cameraAt([600, 400], 400, 640);
  expect(worldAt(200, 320, phone).map(Math.round)).toEqual([600, 400]);
  expect(cameraAt([0, 0], 400, 640).corner).toEqual([0, 0]);
  // On a wide screen the whole world stands in the middle.
  const wide = cameraAt([0, 0], 3000, 800);
  expect(worldAt(1500, 0, wide)[0]).toBeCloseTo(WORLD.width / 2);
});

test("a text is broken into lines that fit", () => {
  expect(wrapped("I am on my way", (line) => line.length <= 7)).toEqual(["I am on", "my way"]);
  expect(wrapped("extraordinary", () => false)).toEqual(["extraordinary"]);
});
