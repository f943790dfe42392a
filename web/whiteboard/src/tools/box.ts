/** Rectangles and ellipses, drawn from corner to corner; with Shift as high as wide. */

import { newId } from "../../../common/id";
import { type Box, round } from "../model/shapes";
import type { Point } from "../../../common/view/camera";
import type { Press, Tool } from "../../../common/view/gestures";
import type { Canvas } from "./tool";

/** The size after a press without a drag, so that a tap on a phone is enough. */
const DEFAULT = { w: 160, h: 110 };

export class BoxTool implements Tool {
  readonly cursor = "crosshair";
  private id: string | undefined;
  private start: Point = { x: 0, y: 0 };
  private shape: Box | undefined;

  constructor(
    private readonly canvas: Canvas,
    private readonly kind: Box["kind"],
  ) {}

  down(point: Point): void {
    this.id = newId();
    this.start = point;
    this.shape = undefined;
  }

  move(points: readonly Point[], { shift }: Press): void {
    const end = points.at(-1);
    if (this.id === undefined || !end) return;
    const [dx, dy] = [end.x - this.start.x, end.y - this.start.y];
    if (!this.shape && Math.hypot(dx, dy) * this.canvas.zoom < 4) return;
    const side = Math.max(Math.abs(dx), Math.abs(dy));
    const w = shift ? side : Math.abs(dx);
    const h = shift ? side : Math.abs(dy);
    this.shape = this.make({ x: this.start.x - (dx < 0 ? w : 0), y: this.start.y - (dy < 0 ? h : 0) }, w, h);
    this.canvas.lift(this.id, this.shape);
    this.canvas.sendDrag({ id: this.id, new: this.shape });
  }

  up(): void {
    const { id } = this;
    if (id === undefined) return;
    const { x, y } = this.start;
    const { w, h } = DEFAULT;
    const shape = this.shape ?? this.make({ x: x - w / 2, y: y - h / 2 }, w, h);
    this.canvas.document.perform({ add: [[id, shape]] });
    this.canvas.drop([id]);
    this.id = undefined;
    this.canvas.finished(id);
  }

  cancel(): void {
    if (this.id === undefined) return;
    this.canvas.drop([this.id]);
    this.canvas.sendDrag({ id: this.id, end: true });
    this.id = undefined;
  }

  private make({ x, y }: Point, w: number, h: number): Box {
    const { style, document } = this.canvas;
    const place = { x: round(x), y: round(y), w: round(w), h: round(h) };
    return { kind: this.kind, ...place, ...style, z: this.shape?.z ?? document.nextZ() };
  }
}
