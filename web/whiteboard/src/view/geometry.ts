/** The geometry of shapes: boxes, hit tests and tests against rectangles. */

import type { Patch, Shape, Stroke, Text } from "../model/shapes";
import { round } from "../model/shapes";
import type { Point, Rect } from "../../../common/view/camera";
import { distanceToSegment } from "./paths";

export const FONT = 'ui-rounded, "SF Pro Rounded", system-ui, "Segoe UI", Roboto, sans-serif';
export const LINE_HEIGHT = 1.3;

/** The side of a selection handle, in CSS pixels. */
export const HANDLE = 9;

/** The box of a shape without the width of its line. */
export function box(shape: Shape): Rect {
  if (shape.kind !== "text") return shape;
  return { x: shape.x, y: shape.y, ...textSize(shape) };
}

/** The box of all pixels that a shape may touch. */
export function extent(shape: Shape): Rect {
  const margin = shape.kind === "text" ? shape.size / 2 : shape.width / 2 + 2;
  return grown(box(shape), margin);
}

export function grown({ x, y, w, h }: Rect, by: number): Rect {
  return { x: x - by, y: y - by, w: w + 2 * by, h: h + 2 * by };
}

export function union(rects: Iterable<Rect>): Rect | undefined {
  let all: Rect | undefined;
  for (const rect of rects) {
    if (!all) {
      all = { x: rect.x, y: rect.y, w: rect.w, h: rect.h };
      continue;
    }
    const x = Math.min(all.x, rect.x);
    const y = Math.min(all.y, rect.y);
    const w = Math.max(all.x + all.w, rect.x + rect.w) - x;
    const h = Math.max(all.y + all.h, rect.y + rect.h) - y;
    all = { x, y, w, h };
  }
  return all;
}

export function overlaps(a: Rect, b: Rect): boolean {
  return a.x <= b.x + b.w && b.x <= a.x + a.w && a.y <= b.y + b.h && b.y <= a.y + a.h;
}

export function contains(outer: Rect, inner: Rect): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    outer.x + outer.w >= inner.x + inner.w &&
    outer.y + outer.h >= inner.y + inner.h
  );
}

/** Clockwise from the top left. */
export function corners({ x, y, w, h }: Rect) {
  return [
    { x, y },
    { x: x + w, y },
    { x: x + w, y: y + h },
    { x, y: y + h },
  ];
}

/**
 * True if a point is on a shape, with a tolerance of `slack`. Inner areas count only if `inside`.
 */
export function isHit(shape: Shape, point: Point, slack: number, inside: boolean): boolean {
  if (!overlaps(grown(extent(shape), slack), { ...point, w: 0, h: 0 })) return false;
  switch (shape.kind) {
    case "text":
      return true;
    case "stroke":
      return isOnStroke(shape, point, slack + shape.width / 2);
    case "rectangle": {
      const line = slack + shape.width / 2;
      return inside || shape.fill || !contains(grown(shape, -line), { ...point, w: 0, h: 0 });
    }
    case "ellipse":
      return isOnEllipse(shape, point, slack + shape.width / 2, inside || shape.fill);
  }
}

/**
 * The patch that moves and scales a shape when the box around a selection changes from `from` to
 * `to`.
 */
export function fitted(shape: Shape, from: Rect, to: Rect): Patch {
  const sx = from.w > 0 ? to.w / from.w : 1;
  const sy = from.h > 0 ? to.h / from.h : 1;
  const x = round(to.x + (shape.x - from.x) * sx);
  const y = round(to.y + (shape.y - from.y) * sy);
  if (sx === 1 && sy === 1) return { x, y };
  if (shape.kind === "text") return { x, y, size: Math.max(round(shape.size * sy), 4) };
  return { x, y, w: round(shape.w * sx), h: round(shape.h * sy) };
}

/** The size of a stroke's points before they are scaled. */
function naturalSize(points: readonly number[]): { w: number; h: number } {
  const known = sizes.get(points);
  if (known) return known;
  let [w, h] = [0, 0];
  for (let i = 0; i < points.length; i += 2) {
    w = Math.max(w, points[i] ?? 0);
    h = Math.max(h, points[i + 1] ?? 0);
  }
  sizes.set(points, { w, h });
  return { w, h };
}
const sizes = new WeakMap<readonly number[], { w: number; h: number }>();

export function strokeScale(stroke: Stroke): Point {
  const { w, h } = naturalSize(stroke.points);
  return { x: w > 0 ? stroke.w / w : 1, y: h > 0 ? stroke.h / h : 1 };
}

function textSize(text: Text): { w: number; h: number } {
  const known = measured.get(text);
  if (known) return known;
  const lines = text.text.split("\n");
  const size = {
    w: Math.max(...lines.map((line) => lineWidth(line, text.size)), 4),
    h: lines.length * text.size * LINE_HEIGHT,
  };
  measured.set(text, size);
  return size;
}
const measured = new WeakMap<Text, { w: number; h: number }>();

/**
 * Measured at one font size and scaled, so that a text need not be measured again when it is
 * resized.
 */
function lineWidth(line: string, size: number): number {
  ruler ??= document.createElement("canvas").getContext("2d") ?? undefined;
  if (!ruler) return line.length * size * 0.55;
  ruler.font = `100px ${FONT}`;
  return (ruler.measureText(line).width * size) / 100;
}
let ruler: CanvasRenderingContext2D | undefined;

/** True if a stroke passes through a rectangle. */
export function crosses(stroke: Stroke, rect: Rect): boolean {
  return segments(stroke).some(([a, b]) => isSegmentIn(a, b, rect));
}

function isOnStroke(stroke: Stroke, point: Point, slack: number): boolean {
  return segments(stroke).some(([a, b]) => distanceToSegment(point, a, b) <= slack);
}

function segments(stroke: Stroke): [Point, Point][] {
  const scale = strokeScale(stroke);
  const at = (i: number): Point => ({
    x: stroke.x + (stroke.points[i * 2] ?? 0) * scale.x,
    y: stroke.y + (stroke.points[i * 2 + 1] ?? 0) * scale.y,
  });
  const count = stroke.points.length / 2;
  // A dot is a segment of length 0.
  return Array.from({ length: Math.max(count - 1, 1) }, (_, i) => [at(i), at(Math.min(i + 1, count - 1))]);
}

/** Liang-Barsky: true if some part of the segment remains after clipping by the four sides. */
function isSegmentIn(a: Point, b: Point, { x, y, w, h }: Rect): boolean {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const sides = [
    [-dx, a.x - x],
    [dx, x + w - a.x],
    [-dy, a.y - y],
    [dy, y + h - a.y],
  ] as const;
  let [enter, leave] = [0, 1];
  for (const [direction, distance] of sides) {
    if (direction === 0 && distance < 0) return false;
    if (direction < 0) enter = Math.max(enter, distance / direction);
    if (direction > 0) leave = Math.min(leave, distance / direction);
  }
  return enter <= leave;
}

function isOnEllipse({ x, y, w, h }: Rect, point: Point, slack: number, inside: boolean): boolean {
  const [rx, ry] = [w / 2, h / 2];
  const [dx, dy] = [point.x - x - rx, point.y - y - ry];
  const within = (a: number, b: number): boolean => a > 0 && b > 0 && (dx / a) ** 2 + (dy / b) ** 2 <= 1;
  return within(rx + slack, ry + slack) && (inside || !within(rx - slack, ry - slack));
}
