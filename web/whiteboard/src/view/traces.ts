/** The way by which a pointer came: a ribbon in its participant's colour, which tapers off to where it was before. */

import type { TraceView } from "../net/pointers";
import type { TracePoint } from "../net/trace";
import type { Camera, Point } from "./camera";
import { colorOf } from "./theme";

/** CSS pixels where the pointer is: as much as the tip of the arrow covers. */
const WIDTH = 7;
const OPACITY = 0.4;

/** Pieces of the curve between two positions: at a fast pointer's 100 pixels no corner is seen. */
const PIECES = 8;

/** In screen coordinates. */
export function drawTrace(ctx: CanvasRenderingContext2D, { id, points }: TraceView, camera: Camera): void {
  const line = smooth(points.map(({ x, y, age }) => ({ ...camera.toScreen({ x, y }), age })));
  // One outline in one colour: pieces on top of each other would show where they meet.
  const [first, ...rest] = outline(line);
  if (!first) return;
  ctx.beginPath();
  ctx.moveTo(first.x, first.y);
  for (const { x, y } of rest) ctx.lineTo(x, y);
  ctx.globalAlpha = OPACITY;
  ctx.fillStyle = colorOf(id);
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** There on one side and back on the other. */
function outline(line: readonly TracePoint[]): Point[] {
  const there: Point[] = [];
  const back: Point[] = [];
  line.forEach(({ x, y, age }, i) => {
    const [from, to] = [line[Math.max(i - 1, 0)], line[Math.min(i + 1, line.length - 1)]];
    if (!from || !to) return;
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (length === 0) return;
    const half = ((1 - age) * WIDTH) / 2 / length;
    const [dx, dy] = [(to.y - from.y) * half, (from.x - to.x) * half];
    there.push({ x: x + dx, y: y + dy });
    back.push({ x: x - dx, y: y - dy });
  });
  return [...there, ...back.reverse()];
}

/** More points, on a curve through these (Catmull-Rom). */
function smooth(points: readonly TracePoint[]): TracePoint[] {
  return points.flatMap((to, i) => {
    const from = points[i - 1];
    if (!from) return [to];
    const [before, after] = [points[i - 2] ?? from, points[i + 1] ?? to];
    return Array.from({ length: PIECES }, (_, k) => {
      const t = (k + 1) / PIECES;
      const at = (a: number, b: number, c: number, d: number): number =>
        b + (t / 2) * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
      return {
        x: at(before.x, from.x, to.x, after.x),
        y: at(before.y, from.y, to.y, after.y),
        age: from.age + (to.age - from.age) * t,
      };
    });
  });
}
