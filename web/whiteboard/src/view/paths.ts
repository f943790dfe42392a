/** Smooth outlines of shapes. They are cached, because shapes are immutable. */

import type { Point } from "../../../common/view/camera";

/**
 * A curve through all points (alternating coordinates): centripetal Catmull-Rom, which does not
 * overshoot at corners.
 */
export function smoothPath(points: readonly number[]): Path2D {
  const path = new Path2D();
  const count = points.length / 2;
  const at = (i: number): Point => {
    const k = Math.min(Math.max(i, 0), count - 1) * 2;
    return { x: points[k] ?? 0, y: points[k + 1] ?? 0 };
  };
  const start = at(0);
  path.moveTo(start.x, start.y);
  // A dot: not every browser draws round caps on a line of length 0.
  if (count < 2) path.lineTo(start.x + 0.01, start.y);
  for (let i = 0; i < count - 1; i++) {
    const [before, from, to, after] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    const leave = control(before, from, to);
    const arrive = control(after, to, from);
    path.bezierCurveTo(leave.x, leave.y, arrive.x, arrive.y, to.x, to.y);
  }
  return path;
}

/** The control point beside `at` towards `next`, for a curve that comes from `previous`. */
function control(previous: Point, at: Point, next: Point): Point {
  const a = Math.sqrt(Math.hypot(at.x - previous.x, at.y - previous.y));
  const b = Math.sqrt(Math.hypot(next.x - at.x, next.y - at.y));
  // The line begins or ends here.
  if (a === 0) return at;
  const weight = 2 * a * a + 3 * a * b + b * b;
  const mix = (p: number, q: number, r: number): number => (a * a * r - b * b * p + weight * q) / (3 * a * (a + b));
  return { x: mix(previous.x, at.x, next.x), y: mix(previous.y, at.y, next.y) };
}

const cache = new WeakMap<readonly number[], Path2D>();

export function cachedPath(points: readonly number[]): Path2D {
  const known = cache.get(points) ?? smoothPath(points);
  cache.set(points, known);
  return known;
}

/**
 * Removes points that are at most `tolerance` off the simplified line (Ramer-Douglas-Peucker,
 * without recursion because a stroke may have thousands of points).
 */
export function simplify(points: readonly Point[], tolerance: number): Point[] {
  const kept = new Set([0, points.length - 1]);
  const open: [number, number][] = [[0, points.length - 1]];
  for (let span = open.pop(); span; span = open.pop()) {
    const [first, last] = span;
    const farthest = farthestFrom(points, first, last);
    if (farthest.distance <= tolerance) continue;
    kept.add(farthest.index);
    open.push([first, farthest.index], [farthest.index, last]);
  }
  return points.filter((_, i) => kept.has(i));
}

function farthestFrom(points: readonly Point[], first: number, last: number) {
  const [a, b] = [points[first], points[last]];
  let farthest = { index: first, distance: 0 };
  for (let i = first + 1; i < last; i++) {
    const point = points[i];
    if (!a || !b || !point) continue;
    const distance = distanceToSegment(point, a, b);
    if (distance > farthest.distance) farthest = { index: i, distance };
  }
  return farthest;
}

export function distanceToSegment(p: Point, a: Point, b: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(Math.max(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0), 1);
  return Math.hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}
