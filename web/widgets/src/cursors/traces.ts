/**
 * Traces: where pointers have just been, each a ribbon in its person's colour that becomes thinner
 * towards its old end.
 */

import type { TraceView } from "groupwire/motion";
import type { Point, Stage } from "../core/stage.js";

/** The width of a trace at the pointer, in pixels: slightly wider than the tip of the arrow. */
const WIDTH = 6;
const OPACITY = 0.45;

/**
 * Pieces of the curve between two places: enough for a fast pointer, whose places are 100 pixels
 * apart.
 */
const PIECES = 8;

/** A point of the window. */
interface Aged extends Point {
  readonly age: number;
}

export function drawTraces(
  canvas: HTMLCanvasElement,
  traces: readonly TraceView[],
  stage: Stage,
  colorOf: (id: number) => string,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const scale = devicePixelRatio;
  const [width, height] = [Math.round(innerWidth * scale), Math.round(innerHeight * scale)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, innerWidth, innerHeight);
  context.globalAlpha = OPACITY;
  for (const { sender, points } of traces) {
    context.fillStyle = colorOf(sender);
    fill(context, smooth(points.map(({ place, age }) => ({ ...stage.toWindow(place), age }))));
  }
}

/** Fills one outline, because separate pieces would show where they overlap. */
function fill(context: CanvasRenderingContext2D, line: readonly Aged[]): void {
  const sides: (readonly [Point, Point])[] = [];
  line.forEach(({ x, y, age }, at) => {
    const [from, to] = [line[at - 1] ?? line[0], line[at + 1] ?? line.at(-1)] as [Point, Point];
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (length === 0) return;
    const half = ((1 - age) * WIDTH) / 2 / length;
    const [dx, dy] = [(to.y - from.y) * half, (from.x - to.x) * half];
    sides.push([
      { x: x + dx, y: y + dy },
      { x: x - dx, y: y - dy },
    ]);
  });
  const [head, end] = [line.at(-1), sides.at(-1)?.[0]];
  if (!head || !end) return;
  context.beginPath();
  for (const [{ x, y }] of sides) context.lineTo(x, y);
  const angle = Math.atan2(end.y - head.y, end.x - head.x);
  context.arc(head.x, head.y, Math.hypot(end.x - head.x, end.y - head.y), angle, angle + Math.PI);
  for (const [, { x, y }] of sides.reverse()) context.lineTo(x, y);
  context.fill();
}

/** Adds points of a curve through these points (Catmull-Rom). */
function smooth(points: readonly Aged[]): Aged[] {
  return points.flatMap((to, at) => {
    const from = points[at - 1];
    if (!from) return [to];
    const [before, after] = [points[at - 2] ?? from, points[at + 1] ?? to];
    return Array.from({ length: PIECES }, (_, piece) => {
      const t = (piece + 1) / PIECES;
      const mix = (a: number, b: number, c: number, d: number): number =>
        b + (t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))) / 2;
      const [x, y] = [mix(before.x, from.x, to.x, after.x), mix(before.y, from.y, to.y, after.y)];
      return { x, y, age: from.age + (to.age - from.age) * t };
    });
  });
}
