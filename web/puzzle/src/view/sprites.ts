/** Images of all pieces, which are cut once and then copied. */

import { cut, OVERHANG, type Outline } from "../model/cut";
import { cellOf, HEIGHT, home, type Spec, WIDTH } from "../model/spec";
import { paintPicture } from "../pictures";

type Paint = CanvasRenderingContext2D;

/** Pixels per table unit: sharp at a high zoom, and at most a few dozen MB in all. */
const SCALE_MAX = 2;

/** Shadows have no details, so they need fewer pixels. */
const SHADOW_SCALE = 0.5;
const SHADOW_BLUR = 11;

/** Space for the blur of a shadow. */
const MARGIN = 16;

export class Sprites {
  readonly picture: HTMLCanvasElement;
  /** In table units, relative to the top left corner of the piece's cell. */
  readonly paths: readonly Path2D[];
  private readonly pieces: readonly HTMLCanvasElement[];
  private readonly shadows: readonly HTMLCanvasElement[];
  private readonly pad: number;
  private readonly size: { readonly w: number; readonly h: number };

  constructor(readonly spec: Spec) {
    const scale = Math.min(Math.max(devicePixelRatio, 1), SCALE_MAX);
    const { w, h } = cellOf(spec);
    this.pad = Math.max(w, h) * OVERHANG + MARGIN;
    this.size = { w: w + 2 * this.pad, h: h + 2 * this.pad };
    this.picture = paintPicture(spec, WIDTH * scale);
    this.paths = cut(spec).map((outline, piece) => toPath(outline, home(spec, piece)));
    this.pieces = this.paths.map((path, piece) => this.sprite(scale, (ctx) => this.paintPiece(ctx, path, piece)));
    this.shadows = this.paths.map((path) => this.sprite(SHADOW_SCALE, (ctx) => paintShadow(ctx, path)));
  }

  /** Both methods draw with the context's origin at the top left corner of the piece's cell. */
  draw(ctx: Paint, piece: number): void {
    this.copy(ctx, this.pieces[piece]);
  }

  drawShadow(ctx: Paint, piece: number): void {
    this.copy(ctx, this.shadows[piece]);
  }

  private copy(ctx: Paint, sprite: HTMLCanvasElement | undefined): void {
    if (sprite) ctx.drawImage(sprite, -this.pad, -this.pad, this.size.w, this.size.h);
  }

  private sprite(scale: number, paint: (ctx: Paint) => void): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(this.size.w * scale);
    canvas.height = Math.ceil(this.size.h * scale);
    const ctx = canvas.getContext("2d");
    if (!ctx) throw new Error("this browser gives no canvas");
    ctx.scale(canvas.width / this.size.w, canvas.height / this.size.h);
    ctx.translate(this.pad, this.pad);
    paint(ctx);
    return canvas;
  }

  private paintPiece(ctx: Paint, path: Path2D, piece: number): void {
    const { x, y } = home(this.spec, piece);
    ctx.save();
    ctx.clip(path);
    ctx.drawImage(this.picture, -x, -y, WIDTH, HEIGHT);
    // The look of pressed cardboard: light on the edges towards the top left, shade on the others.
    ctx.lineWidth = 2.4;
    rim(ctx, path, 1.1, "#ffffff73");
    rim(ctx, path, -1.1, "#00000059");
    ctx.restore();
    ctx.lineWidth = 0.7;
    ctx.strokeStyle = "#00000038";
    ctx.stroke(path);
  }
}

function rim(ctx: Paint, path: Path2D, offset: number, color: string): void {
  ctx.save();
  ctx.translate(offset, offset);
  ctx.strokeStyle = color;
  ctx.stroke(path);
  ctx.restore();
}

function paintShadow(ctx: Paint, path: Path2D): void {
  // Only the shadow falls into the image; the shape itself is drawn far to the left. Shadow offsets
  // are in pixels.
  const away = 4000;
  const { a: scale } = ctx.getTransform();
  ctx.shadowColor = "#0b102099";
  ctx.shadowBlur = SHADOW_BLUR * scale;
  ctx.shadowOffsetX = away * scale;
  ctx.translate(-away, 0);
  ctx.fill(path);
}

function toPath({ from, curves }: Outline, { x, y }: { readonly x: number; readonly y: number }): Path2D {
  const path = new Path2D();
  path.moveTo(from.x - x, from.y - y);
  for (const { c1, c2, to } of curves) path.bezierCurveTo(c1.x - x, c1.y - y, c2.x - x, c2.y - y, to.x - x, to.y - y);
  path.closePath();
  return path;
}
