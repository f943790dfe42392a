/**
 * Selects, moves and resizes objects. Others see the movement live; the operation is sent at the
 * release.
 */

import type { Patch, Shape } from "../model/shapes";
import { patched } from "../model/shapes";
import type { Point, Rect } from "../../../common/view/camera";
import { box, contains, corners, crosses, fitted, grown, HANDLE, overlaps, union } from "../view/geometry";
import { type Press, slack, type Tool } from "../../../common/view/gestures";
import type { Canvas } from "./tool";

/** Limit of objects of a selection that others see move; the rest follow at the release. */
const LIVE = 40;

/** The smallest size of a resized object, so that it can still be grabbed. */
const SMALLEST = 8;

type Action =
  | { readonly kind: "move"; readonly from: Rect; readonly shapes: ReadonlyMap<string, Shape> }
  | {
      readonly kind: "resize";
      readonly from: Rect;
      readonly shapes: ReadonlyMap<string, Shape>;
      readonly corner: number;
    }
  | { readonly kind: "marquee"; readonly before: ReadonlySet<string> }
  | { readonly kind: "pan" };

export class Select implements Tool {
  readonly cursor = "default";
  private action: Action | undefined;
  private start: Point = { x: 0, y: 0 };
  private patches = new Map<string, Patch>();
  /** The pressed object of a selection: if no drag follows, it becomes the only selected one. */
  private clicked: string | undefined;

  constructor(private readonly canvas: Canvas) {}

  down(point: Point, press: Press): void {
    this.start = point;
    this.clicked = undefined;
    const corner = this.cornerAt(point, press.touch);
    if (corner !== undefined) {
      this.begin("resize", corner);
      return;
    }
    const id = this.canvas.find(point, true);
    const { selection } = this.canvas;
    if (id === undefined) {
      if (!press.shift) this.canvas.select([]);
      this.action = press.touch ? { kind: "pan" } : { kind: "marquee", before: new Set(press.shift ? selection : []) };
      return;
    }
    if (press.shift) this.canvas.select(toggled(selection, id));
    else if (selection.has(id)) this.clicked = id;
    else this.canvas.select([id]);
    this.begin("move", 0);
  }

  move(points: readonly Point[], press: Press): void {
    const to = points.at(-1);
    const { action } = this;
    if (!to || !action) return;
    if (action.kind === "pan") this.canvas.pan(this.start, to);
    else if (action.kind === "marquee") this.sweep(to, action.before);
    else if (this.patches.size > 0 || this.isFar(to)) this.drag(to, action, press);
  }

  up(): void {
    if (this.patches.size > 0) this.canvas.document.perform({ set: [...this.patches] });
    else if (this.clicked !== undefined) this.canvas.select([this.clicked]);
    this.end();
  }

  cancel(): void {
    for (const id of [...this.patches.keys()].slice(0, LIVE)) this.canvas.sendDrag({ id, end: true });
    this.end();
  }

  hover(point: Point): void {
    const corner = this.cornerAt(point, false);
    if (corner !== undefined) this.canvas.setCursor(corner % 2 === 0 ? "nwse-resize" : "nesw-resize");
    else this.canvas.setCursor(this.canvas.find(point, true) === undefined ? "default" : "move");
  }

  double(point: Point): void {
    const id = this.canvas.find(point, true);
    const shape = id === undefined ? undefined : this.canvas.document.shapes.get(id);
    if (shape === undefined || shape.kind === "text") this.canvas.editText(id, point);
  }

  private begin(kind: "move" | "resize", corner: number): void {
    const shapes = this.selected();
    const from = union([...shapes.values()].map(box));
    if (!from) return;
    this.action = kind === "move" ? { kind, from, shapes } : { kind, from, shapes, corner };
  }

  private drag(to: Point, action: Extract<Action, { shapes: unknown }>, { shift }: Press): void {
    const { from, shapes } = action;
    const [dx, dy] = [to.x - this.start.x, to.y - this.start.y];
    const hasText = [...shapes.values()].some(({ kind }) => kind === "text");
    const target =
      action.kind === "move"
        ? { ...from, x: from.x + dx, y: from.y + dy }
        : resized(from, action.corner, dx, dy, shift || hasText);
    let live = 0;
    for (const [id, shape] of shapes) {
      const look = fitted(shape, from, target);
      this.patches.set(id, look);
      this.canvas.lift(id, patched(shape, look));
      if (live++ < LIVE) this.canvas.sendDrag({ id, look });
    }
  }

  private sweep(to: Point, before: ReadonlySet<string>): void {
    const marquee = spanned(this.start, to);
    this.canvas.showMarquee(marquee);
    const inside = [...this.canvas.document.shapes].filter(([, shape]) => isSwept(shape, marquee));
    this.canvas.select([...before, ...inside.map(([id]) => id)]);
  }

  private end(): void {
    this.canvas.drop(this.patches.keys());
    this.canvas.showMarquee(undefined);
    this.patches = new Map();
    this.action = undefined;
  }

  private selected(): Map<string, Shape> {
    const { selection, document } = this.canvas;
    const found = new Map<string, Shape>();
    for (const id of selection) {
      const shape = document.shapes.get(id);
      if (shape) found.set(id, shape);
    }
    return found;
  }

  private isFar(to: Point): boolean {
    return Math.hypot(to.x - this.start.x, to.y - this.start.y) * this.canvas.zoom >= 3;
  }

  private cornerAt(point: Point, touch: boolean): number | undefined {
    const around = union([...this.selected().values()].map(box));
    if (!around) return undefined;
    const { zoom } = this.canvas;
    const reach = (HANDLE / 2 + slack(touch) - 2) / zoom;
    const index = corners(grown(around, 6 / zoom)).findIndex(
      ({ x, y }) => Math.abs(point.x - x) <= reach && Math.abs(point.y - y) <= reach,
    );
    return index < 0 ? undefined : index;
  }
}

/** The box after one corner (clockwise from the top left) was moved; the opposite corner stays. */
export function resized(from: Rect, corner: number, dx: number, dy: number, inProportion: boolean): Rect {
  const isLeft = corner === 0 || corner === 3;
  const isTop = corner === 0 || corner === 1;
  let w = Math.max(from.w + (isLeft ? -dx : dx), SMALLEST);
  let h = Math.max(from.h + (isTop ? -dy : dy), SMALLEST);
  // A straight line has no width or height to scale.
  if (from.w === 0) w = 0;
  if (from.h === 0) h = 0;
  if (inProportion && from.w > 0 && from.h > 0) {
    const scale = Math.max(w / from.w, h / from.h);
    [w, h] = [from.w * scale, from.h * scale];
  }
  return { x: isLeft ? from.x + from.w - w : from.x, y: isTop ? from.y + from.h - h : from.y, w, h };
}

function spanned(a: Point, b: Point): Rect {
  return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), w: Math.abs(a.x - b.x), h: Math.abs(a.y - b.y) };
}

/**
 * True if the marquee touches the shape. A box counts only if its line is touched, so that one can
 * select what is inside a frame.
 */
function isSwept(shape: Shape, marquee: Rect): boolean {
  const around = box(shape);
  if (!overlaps(around, marquee)) return false;
  const isFrame = (shape.kind === "rectangle" || shape.kind === "ellipse") && !shape.fill;
  if (contains(marquee, around)) return true;
  if (shape.kind === "stroke") return crosses(shape, marquee);
  return !(isFrame && contains(around, grown(marquee, 1)));
}

function toggled(selection: ReadonlySet<string>, id: string): string[] {
  return selection.has(id) ? [...selection].filter((other) => other !== id) : [...selection, id];
}
