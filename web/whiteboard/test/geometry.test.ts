import { describe, expect, test } from "vitest";
import type { Box, Stroke } from "../src/model/shapes";
import { resized } from "../src/tools/select";
import { crosses, fitted, isHit, union } from "../src/view/geometry";
import { simplify } from "../src/view/paths";
import { initials } from "../../common/ui/people";

const box: Box = { kind: "rectangle", x: 0, y: 0, w: 100, h: 50, z: 1, color: "ink", width: 2, fill: false };
const stroke: Stroke = {
  kind: "stroke",
  x: 10,
  y: 10,
  w: 20,
  h: 20,
  z: 1,
  color: "ink",
  width: 2,
  points: [0, 0, 10, 10],
};

describe("hitting", () => {
  test("a frame is hit on its line, and inside only if areas count or it is filled", () => {
    const middle = { x: 50, y: 25 };
    expect(isHit(box, { x: 0, y: 25 }, 4, false)).toBe(true);
    expect(isHit(box, middle, 4, false)).toBe(false);
    expect(isHit(box, middle, 4, true)).toBe(true);
    expect(isHit({ ...box, fill: true }, middle, 4, false)).toBe(true);
    expect(isHit({ ...box, kind: "ellipse" }, { x: 2, y: 2 }, 2, true)).toBe(false);
  });

  test("a stroke is hit where it is drawn, scaled", () => {
    expect(isHit(stroke, { x: 20, y: 20 }, 2, true)).toBe(true);
    expect(isHit(stroke, { x: 28, y: 12 }, 2, true)).toBe(false);
    expect(crosses(stroke, { x: 14, y: 14, w: 2, h: 2 })).toBe(true);
    expect(crosses(stroke, { x: 24, y: 12, w: 4, h: 4 })).toBe(false);
  });
});

describe("resizing", () => {
  test("the opposite corner stays, and proportions are kept on request", () => {
    expect(resized(box, 2, 50, 50, false)).toEqual({ x: 0, y: 0, w: 150, h: 100 });
    expect(resized(box, 0, 20, 10, false)).toEqual({ x: 20, y: 10, w: 80, h: 40 });
    expect(resized(box, 2, 100, 0, true)).toEqual({ x: 0, y: 0, w: 200, h: 100 });
    expect(resized(box, 2, -500, -500, false)).toMatchObject({ w: 8, h: 8 });
  });

  test("all objects in the box are scaled", () => {
    const around = union([box, stroke]) ?? box;
    expect(fitted(stroke, around, { x: 0, y: 0, w: 200, h: 100 })).toEqual({ x: 20, y: 20, w: 40, h: 40 });
    expect(fitted(stroke, around, { ...around, x: 5 })).toEqual({ x: 15, y: 10 });
  });
});

test("a straight line needs two points, a corner stays", () => {
  const line = Array.from({ length: 100 }, (_, i) => ({ x: i, y: 2 * i }));
  expect(simplify(line, 0.3)).toEqual([line[0], line[99]]);
  const corner = [...line, { x: 150, y: 198 }];
  expect(simplify(corner, 0.3)).toHaveLength(3);
});

test("initials", () => {
  expect(initials("Ada Lovelace")).toBe("AL");
  expect(initials("  ada  ")).toBe("A");
  expect(initials("🦊 fox")).toBe("🦊F");
});
