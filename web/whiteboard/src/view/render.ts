/**
 * Draws the board on two canvases. The *scene* holds resting objects and is redrawn only where they
 * change. The *overlay* above it holds moving objects and is redrawn in every frame in which they
 * move.
 */

import type { Document } from "../model/document";
import type { Shape } from "../model/shapes";
import type { StrokeView } from "../net/live";
import type { Camera, Rect } from "../../../common/view/camera";
import { box, corners, extent, FONT, grown, HANDLE, LINE_HEIGHT, overlaps, strokeScale, union } from "./geometry";
import { cachedPath, smoothPath } from "./paths";
import { accent, paint } from "./theme";

/** What is drawn in addition to the document. */
export interface Extras {
  /** Objects that differ from the document or are not in it yet. */
  readonly lifted: ReadonlyMap<string, Shape>;
  readonly strokes: readonly StrokeView[];
  readonly selection: ReadonlySet<string>;
  readonly marquee: Rect | undefined;
  /** Objects that fade because the eraser has touched them. */
  readonly erased: ReadonlySet<string>;
  /** The text that is being edited, which the editor shows instead. */
  readonly edited: string | undefined;
}

/** A higher resolution is not visible and too slow on phones. */
const MAX_SCALE = 3;

export class Renderer {
  private readonly scene: CanvasRenderingContext2D;
  private readonly overlay: CanvasRenderingContext2D;
  private dirty: Rect | "all" | undefined = "all";
  /** The shapes as the scene shows them. A change redraws both the old and the new place. */
  private readonly drawn = new Map<string, Shape>();
  private order: [string, Shape][] | undefined;
  private hidden = new Set<string>();
  private faded = new Set<string>();
  private scale = 1;
  width = 0;
  height = 0;

  constructor(
    private readonly stage: HTMLElement,
    private readonly document: Document,
    private readonly camera: Camera,
  ) {
    this.scene = this.addCanvas();
    this.overlay = this.addCanvas();
    document.listen({ changed: (ids) => this.shapesChanged(ids) });
    this.resize();
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.stage;
    this.scale = Math.min(devicePixelRatio, MAX_SCALE);
    [this.width, this.height] = [clientWidth, clientHeight];
    for (const { canvas } of [this.scene, this.overlay]) {
      canvas.width = Math.round(clientWidth * this.scale);
      canvas.height = Math.round(clientHeight * this.scale);
    }
    this.redraw();
  }

  /** Redraws everything, after a change of the view or the theme. */
  redraw(): void {
    this.dirty = "all";
  }

  draw(extras: Extras): void {
    const hidden = new Set(extras.lifted.keys());
    if (extras.edited !== undefined) hidden.add(extras.edited);
    this.hidden = this.swap(this.hidden, hidden);
    this.faded = this.swap(this.faded, new Set(extras.erased));
    this.drawScene();
    this.drawOverlay(extras);
  }

  private drawScene(): void {
    if (this.dirty === undefined) return;
    const ctx = this.scene;
    const area = this.snapped(this.dirty);
    const seen = this.dirty === "all" ? this.visible() : grown(this.dirty, 2 / this.camera.zoom);
    ctx.save();
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.beginPath();
    ctx.rect(area.x, area.y, area.w, area.h);
    ctx.clip();
    ctx.clearRect(area.x, area.y, area.w, area.h);
    this.toBoard(ctx);
    for (const [id, shape] of this.sorted()) {
      if (this.hidden.has(id) || !overlaps(extent(shape), seen)) continue;
      ctx.globalAlpha = this.faded.has(id) ? 0.2 : 1;
      drawShape(ctx, shape);
    }
    ctx.restore();
    this.dirty = undefined;
  }

  private drawOverlay({ lifted, strokes, selection, marquee }: Extras): void {
    const ctx = this.overlay;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    this.toBoard(ctx);
    for (const shape of [...lifted.values()].sort((a, b) => a.z - b.z)) drawShape(ctx, shape);
    for (const { color, width, points } of strokes) {
      if (points.length >= 2) drawLine(ctx, smoothPath(points), paint(color), width);
    }
    ctx.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    this.drawSelection(ctx, selection, lifted);
    if (marquee) this.drawMarquee(ctx, marquee);
  }

  private drawSelection(
    ctx: CanvasRenderingContext2D,
    selection: ReadonlySet<string>,
    lifted: ReadonlyMap<string, Shape>,
  ): void {
    const shapes = [...selection].flatMap((id) => lifted.get(id) ?? this.document.shapes.get(id) ?? []);
    const around = union(shapes.map(box));
    if (!around) return;
    ctx.strokeStyle = accent();
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.45;
    if (shapes.length > 1 && shapes.length <= 100) {
      for (const shape of shapes) strokeRect(ctx, this.onScreen(box(shape)));
    }
    ctx.globalAlpha = 1;
    ctx.lineWidth = 1.5;
    const frame = grown(this.onScreen(around), 6);
    strokeRect(ctx, frame);
    ctx.fillStyle = getComputedStyle(this.stage).backgroundColor;
    for (const { x, y } of corners(frame)) {
      ctx.beginPath();
      ctx.roundRect(x - HANDLE / 2, y - HANDLE / 2, HANDLE, HANDLE, 2.5);
      ctx.fill();
      ctx.stroke();
    }
  }

  private drawMarquee(ctx: CanvasRenderingContext2D, marquee: Rect): void {
    const rect = this.onScreen(marquee);
    ctx.fillStyle = ctx.strokeStyle = accent();
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.08;
    ctx.fillRect(rect.x, rect.y, rect.w, rect.h);
    ctx.globalAlpha = 0.7;
    strokeRect(ctx, rect);
    ctx.globalAlpha = 1;
  }

  private shapesChanged(ids: Iterable<string>): void {
    this.order = undefined;
    for (const id of ids) {
      const shape = this.document.shapes.get(id);
      this.soil(this.drawn.get(id));
      this.soil(shape);
      if (shape) this.drawn.set(id, shape);
      else this.drawn.delete(id);
    }
  }

  /**
   * Takes a new set of ids that are drawn on the overlay, and redraws those that entered or left
   * it.
   */
  private swap(before: Set<string>, after: Set<string>): Set<string> {
    for (const id of before) if (!after.has(id)) this.soil(this.document.shapes.get(id));
    for (const id of after) if (!before.has(id)) this.soil(this.document.shapes.get(id));
    return after;
  }

  private soil(shape: Shape | undefined): void {
    if (!shape || this.dirty === "all") return;
    // Two more device pixels, because antialiased edges extend beyond the shape.
    const area = grown(extent(shape), 2 / this.camera.zoom);
    this.dirty = union(this.dirty ? [this.dirty, area] : [area]);
  }

  private sorted(): readonly [string, Shape][] {
    this.order ??= [...this.document.shapes].sort(([idA, a], [idB, b]) => a.z - b.z || (idA < idB ? -1 : 1));
    return this.order;
  }

  /** All shapes, the topmost first. */
  topDown(): readonly [string, Shape][] {
    return [...this.sorted()].reverse();
  }

  /** Rounded to whole device pixels, because a clip through the middle of a pixel leaves a seam. */
  private snapped(dirty: Rect | "all"): Rect {
    const { width, height } = this.scene.canvas;
    if (dirty === "all") return { x: 0, y: 0, w: width, h: height };
    const zoom = this.scale * this.camera.zoom;
    const x = Math.floor((dirty.x - this.camera.x) * zoom);
    const y = Math.floor((dirty.y - this.camera.y) * zoom);
    return { x, y, w: Math.ceil(dirty.w * zoom) + 1, h: Math.ceil(dirty.h * zoom) + 1 };
  }

  private visible(): Rect {
    const { zoom } = this.camera;
    return { ...this.camera.toBoard({ x: 0, y: 0 }), w: this.width / zoom, h: this.height / zoom };
  }

  private toBoard(ctx: CanvasRenderingContext2D): void {
    const zoom = this.scale * this.camera.zoom;
    ctx.setTransform(zoom, 0, 0, zoom, -this.camera.x * zoom, -this.camera.y * zoom);
  }

  private onScreen({ x, y, w, h }: Rect): Rect {
    const { zoom } = this.camera;
    return { ...this.camera.toScreen({ x, y }), w: w * zoom, h: h * zoom };
  }

  private addCanvas(): CanvasRenderingContext2D {
    const canvas = this.stage.appendChild(document.createElement("canvas"));
    canvas.ariaHidden = "true";
    const ctx = canvas.getContext("2d");
    if (!ctx) throw new Error("this browser cannot draw on a canvas");
    return ctx;
  }
}

/** The radius of a rectangle's corners; small rectangles have a smaller one. */
const RADIUS = 6;

function drawShape(ctx: CanvasRenderingContext2D, shape: Shape): void {
  const color = paint(shape.color);
  if (shape.kind === "text") {
    ctx.font = `${shape.size}px ${FONT}`;
    ctx.textBaseline = "middle";
    ctx.fillStyle = color;
    const line = shape.size * LINE_HEIGHT;
    shape.text.split("\n").forEach((text, i) => {
      ctx.fillText(text, shape.x, shape.y + (i + 0.5) * line);
    });
    return;
  }
  if (shape.kind === "stroke") {
    const scale = strokeScale(shape);
    const path = cachedPath(shape.points);
    const placed = new Path2D();
    placed.addPath(path, { a: scale.x, d: scale.y, e: shape.x, f: shape.y });
    drawLine(ctx, placed, color, shape.width);
    return;
  }
  const { x, y, w, h, width, fill } = shape;
  ctx.beginPath();
  if (shape.kind === "ellipse") ctx.ellipse(x + w / 2, y + h / 2, w / 2, h / 2, 0, 0, 2 * Math.PI);
  else ctx.roundRect(x, y, w, h, Math.min(RADIUS, w / 4, h / 4));
  if (fill) {
    const { globalAlpha } = ctx;
    ctx.globalAlpha = globalAlpha * 0.16;
    ctx.fillStyle = color;
    ctx.fill();
    ctx.globalAlpha = globalAlpha;
  }
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.lineJoin = "round";
  ctx.stroke();
}

function drawLine(ctx: CanvasRenderingContext2D, path: Path2D, color: string, width: number): void {
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.stroke(path);
}

function strokeRect(ctx: CanvasRenderingContext2D, { x, y, w, h }: Rect): void {
  ctx.strokeRect(x, y, w, h);
}
