/** The trace of a pointer: a ribbon in its participant's colour, which becomes thinner towards its old end. */

import type { TraceView } from "groupwire/motion";
import type { Camera, Point } from "../../../common/view/camera";
import { control } from "./paths";
import { colorOf } from "../../../common/view/theme";

/** The width at the pointer, in CSS pixels: slightly wider than the tip of its arrow. */
const WIDTH = 6;
const OPACITY = 0.45;

/** Segments of the curve between two positions: enough for a fast pointer, whose positions are 100 pixels apart. */
const PIECES = 8;

/** A point in screen coordinates. */
interface TracePoint extends Point {
  readonly age: number;
}

export function drawTrace(ctx: CanvasRenderingContext2D, { sender, points }: TraceView, camera: Camera): void {
  const line = smooth(points.map(({ place: [x = 0, y = 0], age }) => ({ ...camera.toScreen({ x, y }), age })));
  const [left, right] = sides(line);
  const [head, end] = [line.at(-1), left.at(-1)];
  if (!head || !end) return;
  // One outline in one colour, because separate segments would show where they overlap.
  ctx.beginPath();
  for (const { x, y } of left) ctx.lineTo(x, y);
  const angle = Math.atan2(end.y - head.y, end.x - head.x);
  ctx.arc(head.x, head.y, Math.hypot(end.x - head.x, end.y - head.y), angle, angle + Math.PI);
  for (const { x, y } of right.reverse()) ctx.lineTo(x, y);
  ctx.globalAlpha = OPACITY;
  ctx.fillStyle = colorOf(sender);
  ctx.fill();
  ctx.globalAlpha = 1;
}

function sides(line: readonly TracePoint[]): [left: Point[], right: Point[]] {
  const left: Point[] = [];
  const right: Point[] = [];
  line.forEach(({ x, y, age }, i) => {
    const [from, to] = [line[i - 1] ?? line[0], line[i + 1] ?? line.at(-1)];
    if (!from || !to) return;
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (length === 0) return;
    const half = ((1 - age) * WIDTH) / 2 / length;
    const [dx, dy] = [(to.y - from.y) * half, (from.x - to.x) * half];
    left.push({ x: x + dx, y: y + dy });
    right.push({ x: x - dx, y: y - dy });
  });
  return [left, right];
}

/** Adds points on the curve with which a stroke through these points is drawn. */
function smooth(points: readonly TracePoint[]): TracePoint[] {
  return points.flatMap((to, i) => {
    const from = points[i - 1];
    if (!from) return [to];
    const leave = control(points[i - 2] ?? from, from, to);
    const arrive = control(points[i + 1] ?? to, to, from);
    return Array.from({ length: PIECES }, (_, k) => {
      const t = (k + 1) / PIECES;
      const x = bezier(from.x, leave.x, arrive.x, to.x, t);
      const y = bezier(from.y, leave.y, arrive.y, to.y, t);
      return { x, y, age: from.age + (to.age - from.age) * t };
    });
  });
}

function bezier(a: number, b: number, c: number, d: number, t: number): number {
  const s = 1 - t;
  return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
}
