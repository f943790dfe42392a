/**
 * Deletes the objects that it is drawn across. Until the release they only fade, and Escape keeps
 * them.
 */

import type { Point } from "../../../common/view/camera";
import type { Tool } from "../../../common/view/gestures";
import type { Canvas } from "./tool";

export class Eraser implements Tool {
  readonly cursor = "crosshair";
  private ids: Set<string> | undefined;
  private last: Point | undefined;

  constructor(private readonly canvas: Canvas) {}

  down(point: Point): void {
    this.ids = new Set();
    this.last = point;
    this.move([point]);
  }

  move(points: readonly Point[]): void {
    if (!this.ids) return;
    for (const point of points) {
      for (const step of between(this.last ?? point, point, 8 / this.canvas.zoom)) {
        const id = this.canvas.find(step, false);
        if (id !== undefined) this.ids.add(id);
      }
      this.last = point;
    }
    this.canvas.showErased(new Set(this.ids));
  }

  up(): void {
    if (this.ids && this.ids.size > 0) this.canvas.document.perform({ del: [...this.ids] });
    this.cancel();
  }

  cancel(): void {
    this.ids = undefined;
    this.canvas.showErased(new Set());
  }
}

/** Points between two events, because a quick hand would skip over thin lines. */
function between(from: Point, to: Point, step: number): Point[] {
  const count = Math.max(Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / step), 1);
  return Array.from({ length: Math.min(count, 200) }, (_, i) => {
    const t = (i + 1) / Math.min(count, 200);
    return { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t };
  });
}
