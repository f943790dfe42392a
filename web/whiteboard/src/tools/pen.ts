/**
 * Freehand strokes, slightly smoothed while they are drawn and simplified when they are finished.
 */

import { newId } from "../../../common/id";
import { round, type Stroke } from "../model/shapes";
import type { Point } from "../../../common/view/camera";
import { simplify } from "../view/paths";
import type { Tool } from "../../../common/view/gestures";
import type { Canvas } from "./tool";

/**
 * The line moves by this share of the distance to the pointer: removes the tremble and keeps the
 * shape.
 */
const FOLLOW = 0.65;

/** Points that are nearer to the last one than this (CSS pixels) are left out. */
const STEP = 1.2;

/** Points that are less than this (CSS pixels) off the line are removed at the end. */
const TOLERANCE = 0.35;

/** After this many points a new stroke continues, so that messages stay small. */
const POINTS = 1500;

export class Pen implements Tool {
  readonly cursor = "crosshair";
  private id: string | undefined;
  private points: Point[] = [];
  private sent = 0;
  private goal: Point | undefined;
  private flushing = 0;

  constructor(private readonly canvas: Canvas) {}

  down(point: Point): void {
    this.begin(point);
  }

  move(points: readonly Point[]): void {
    if (this.id === undefined) return;
    for (const goal of points) this.follow(goal, FOLLOW);
    this.goal = points.at(-1);
    this.show();
    if (this.points.length >= POINTS) {
      const last = this.points.at(-1);
      this.up();
      if (last) this.begin(last);
    }
  }

  up(): void {
    if (this.id === undefined) return;
    // The smoothed line lags behind; it ends where the pointer did.
    if (this.goal) this.follow(this.goal, 1);
    const { document, style, zoom } = this.canvas;
    const points = simplify(this.points, TOLERANCE / zoom);
    const shape = toStroke(points, { color: style.color, width: style.width, z: document.nextZ() });
    document.perform({ add: [[this.id, shape]] });
    this.end();
  }

  cancel(): void {
    if (this.id !== undefined) this.canvas.sendDrag({ id: this.id, end: true });
    this.end();
  }

  private begin(point: Point): void {
    this.id = newId();
    this.points = [{ x: round(point.x), y: round(point.y) }];
    this.goal = undefined;
    this.sent = 0;
    this.show();
  }

  private follow(goal: Point, share: number): void {
    const last = this.points.at(-1) ?? goal;
    const point = { x: round(last.x + (goal.x - last.x) * share), y: round(last.y + (goal.y - last.y) * share) };
    if (Math.hypot(point.x - last.x, point.y - last.y) >= STEP / this.canvas.zoom) this.points.push(point);
  }

  private show(): void {
    const { color, width } = this.canvas.style;
    this.canvas.showStroke({ sender: 0, color, width, points: this.points.flatMap(({ x, y }) => [x, y]) });
    // The points of a frame are sent together; the channel aggregates frames into packets.
    if (this.flushing === 0) this.flushing = requestAnimationFrame(() => this.flush());
  }

  private flush(): void {
    this.flushing = 0;
    const { color, width } = this.canvas.style;
    const fresh = this.points.slice(this.sent);
    if (this.id === undefined || fresh.length === 0) return;
    const points = fresh.flatMap(({ x, y }) => [x, y]);
    this.canvas.sendStroke({ id: this.id, color, width, from: this.sent, points });
    this.sent = this.points.length;
  }

  private end(): void {
    this.id = undefined;
    this.canvas.showStroke(undefined);
  }
}

function toStroke(points: readonly Point[], look: Pick<Stroke, "color" | "width" | "z">): Stroke {
  const x = Math.min(...points.map((point) => point.x));
  const y = Math.min(...points.map((point) => point.y));
  const relative = points.flatMap((point) => [round(point.x - x), round(point.y - y)]);
  const w = round(Math.max(...points.map((point) => point.x)) - x);
  const h = round(Math.max(...points.map((point) => point.y)) - y);
  return { kind: "stroke", x: round(x), y: round(y), w, h, ...look, points: relative };
}
