/** The part of the unbounded board that the window shows. Screen coordinates are CSS pixels. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Rect extends Point {
  readonly w: number;
  readonly h: number;
}

const ZOOM_MIN = 0.1;
const ZOOM_MAX = 8;

/**
 * Free space around the drawing when it is fitted into the window, because the toolbars are there.
 */
const MARGIN = 90;

export class Camera {
  /** The board coordinates of the window's top left corner. */
  x = 0;
  y = 0;
  zoom = 1;

  constructor(private readonly onMoved: () => void) {}

  toBoard({ x, y }: Point): Point {
    return { x: x / this.zoom + this.x, y: y / this.zoom + this.y };
  }

  toScreen({ x, y }: Point): Point {
    return { x: (x - this.x) * this.zoom, y: (y - this.y) * this.zoom };
  }

  pan(dx: number, dy: number): void {
    this.x -= dx / this.zoom;
    this.y -= dy / this.zoom;
    this.onMoved();
  }

  /** Zooms by a factor and keeps the board point under `at` (screen coordinates) in place. */
  zoomBy(factor: number, at: Point): void {
    const fixed = this.toBoard(at);
    this.zoom = Math.min(Math.max(this.zoom * factor, ZOOM_MIN), ZOOM_MAX);
    this.x = fixed.x - at.x / this.zoom;
    this.y = fixed.y - at.y / this.zoom;
    this.onMoved();
  }

  /** Moves a board point to the middle of a window of this size. */
  center({ x, y }: Point, width: number, height: number): void {
    this.x = x - width / 2 / this.zoom;
    this.y = y - height / 2 / this.zoom;
    this.onMoved();
  }

  /** Shows all of a rectangle at a zoom of at most 1, with a margin (px) on its left and right. */
  fit(rect: Rect, width: number, height: number, margin = Math.min(MARGIN, width / 8)): void {
    const room = { w: width - 2 * margin, h: height - 2 * MARGIN };
    const zoom = Math.min(room.w / Math.max(rect.w, 1), room.h / Math.max(rect.h, 1), 1);
    this.zoom = Math.max(zoom, ZOOM_MIN);
    this.center({ x: rect.x + rect.w / 2, y: rect.y + rect.h / 2 }, width, height);
  }
}
