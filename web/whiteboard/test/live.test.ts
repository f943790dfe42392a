import { describe, expect, test } from "vitest";
import type { Box, Shape } from "../src/model/shapes";
import { Live } from "../src/net/live";

const box: Box = { kind: "rectangle", x: 0, y: 0, w: 10, h: 10, z: 1, color: "ink", width: 2, fill: false };
const piece = (from: number, points: number[]) => ({ id: "s", color: "ink", width: 2, from, points });
const none = (): Shape | undefined => undefined;

describe("live strokes", () => {
  test("grow with each message, are completed by late pieces, and are removed when finished", () => {
    const live = new Live();
    live.receiveStroke(1, piece(0, [0, 0, 1, 1]), 0);
    live.receiveStroke(1, piece(3, [3, 3]), 10);
    live.receiveStroke(1, piece(2, [2, 2]), 20);
    live.advance(30);
    live.advance(1000);
    live.advance(1016);
    expect(live.strokeViews()[0]?.points).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(live.tip(1)).toEqual([3, 3]);
    live.finish(1, ["s"], none, 1020);
    live.receiveStroke(1, piece(4, [4, 4]), 1030);
    expect(live.strokeViews()).toEqual([]);
  });

  test("cannot be continued by another participant, and end by silence or leaving", () => {
    const live = new Live();
    live.receiveStroke(1, piece(0, [0, 0]), 0);
    live.receiveStroke(2, piece(1, [9, 9]), 10);
    live.advance(20);
    expect(live.strokeViews()).toHaveLength(1);
    expect(live.strokeViews()[0]?.points).toEqual([0, 0]);
    live.advance(20_000);
    expect(live.strokeViews()).toEqual([]);
    live.receiveStroke(1, { ...piece(0, [0, 0]), id: "t" }, 20_000);
    live.keep(() => false);
    expect(live.advance(20_010)).toBe(false);
  });
});

describe("live drags", () => {
  test("show the object at the drag's position and let it glide to the operation's", () => {
    const live = new Live();
    const find = () => box;
    live.receiveDrag(1, { id: "x", look: { x: 50, y: 0 } }, 0, 0);
    live.receiveDrag(1, { id: "x", look: { x: 60, y: 0 } }, 40, 0);
    expect(live.dragViews(500, find).get("x")?.x).toBe(60);
    live.finish(1, ["x"], () => ({ ...box, x: 70 }), 500);
    expect(live.dragViews(500, () => ({ ...box, x: 70 })).get("x")?.x).toBeLessThan(70);
    live.advance(2000);
    expect(live.dragViews(2000, find).size).toBe(0);
  });

  test("show an object that is being created; `end` removes it; an old message is ignored", () => {
    const live = new Live();
    live.receiveDrag(1, { id: "n", new: box }, 0, 0);
    expect(live.dragViews(100, none).get("n")).toEqual(box);
    live.receiveDrag(2, { id: "n", end: true }, 100, 0);
    expect(live.dragViews(100, none).size).toBe(1);
    live.receiveDrag(1, { id: "n", end: true }, 100, 0);
    expect(live.dragViews(100, none).size).toBe(0);
    live.receiveDrag(1, { id: "old", new: box }, 100, 60_000);
    expect(live.dragViews(100, none).size).toBe(0);
  });

  test("a late message does not move the object back", () => {
    const live = new Live();
    live.receiveDrag(1, { id: "x", look: { x: 50, y: 0 } }, 0, 0, 7);
    live.receiveDrag(1, { id: "x", look: { x: 40, y: 0 } }, 20, 60, 6);
    expect(live.dragViews(500, () => box).get("x")?.x).toBe(50);
  });

  test("are limited per participant", () => {
    const live = new Live();
    for (let i = 0; i < 5000; i++) live.receiveDrag(1, { id: `n${i}`, new: box }, 0, 0);
    expect(live.dragViews(10, none).size).toBeLessThanOrEqual(200);
  });
});
