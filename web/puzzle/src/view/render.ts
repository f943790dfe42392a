/**
 * Draws the table on two canvases. The lower one holds resting pieces and is redrawn only when they
 * change. The upper one holds moving pieces and is redrawn in every frame in which they move.
 */

import type { Camera } from "../../../common/view/camera";
import { HEIGHT, home, WIDTH } from "../model/spec";
import type { Sprites } from "./sprites";

/** A piece at a displacement from its home. */
export interface PieceView {
  readonly piece: number;
  readonly x: number;
  readonly y: number;
}

export interface GroupView {
  readonly pieces: readonly PieceView[];
  /** The colour of the holder. */
  readonly color?: string | undefined;
  /** The highlight after a join, from 1 to 0. */
  readonly flash?: number;
}

/**
 * The animation of the finished picture: `share` goes from 0, with visible cuts, to 1, the whole
 * picture.
 */
export interface Finish {
  readonly x: number;
  readonly y: number;
  readonly share: number;
}

type Paint = CanvasRenderingContext2D;

/** A higher resolution is not visible and too slow on phones. */
const MAX_SCALE = 2.5;

/** The length of shadows, in units: of resting pieces and of held ones. */
const REST = 3;
const HELD = 12;

export class Renderer {
  private readonly lower: Paint;
  private readonly upper: Paint;
  private isDirty = true;
  private scale = 1;

  constructor(
    private readonly stage: HTMLElement,
    private readonly camera: Camera,
  ) {
    this.lower = addCanvas(stage);
    this.upper = addCanvas(stage);
  }

  get width(): number {
    return this.stage.clientWidth;
  }

  get height(): number {
    return this.stage.clientHeight;
  }

  resize(): void {
    this.scale = Math.min(devicePixelRatio, MAX_SCALE);
    for (const { canvas } of [this.lower, this.upper]) {
      canvas.width = Math.max(Math.round(this.width * this.scale), 1);
      canvas.height = Math.max(Math.round(this.height * this.scale), 1);
    }
    this.isDirty = true;
  }

  /** Redraws the resting pieces. */
  redraw(): void {
    this.isDirty = true;
  }

  /** Both lists are from the lowest to the topmost. */
  draw(
    sprites: Sprites,
    resting: readonly GroupView[],
    moving: readonly GroupView[],
    finish: Finish | undefined,
  ): void {
    if (this.isDirty) {
      this.clear(this.lower);
      for (const group of resting) this.drawGroup(this.lower, sprites, group, REST);
      this.isDirty = false;
    }
    this.clear(this.upper);
    for (const group of moving) this.drawGroup(this.upper, sprites, group, group.color ? HELD : REST);
    if (finish) this.drawFinish(this.upper, sprites, finish);
  }

  private clear(ctx: Paint): void {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  }

  private drawGroup(ctx: Paint, sprites: Sprites, { pieces, color, flash }: GroupView, height: number): void {
    const seen = pieces.filter((view) => this.isSeen(sprites, view));
    this.each(ctx, sprites, seen, height * 0.5, height, (piece) => sprites.drawShadow(ctx, piece));
    if (color) {
      // Below the pieces, so that only the border of the whole group is visible.
      ctx.strokeStyle = color;
      ctx.lineWidth = 5 / this.camera.zoom;
      ctx.lineJoin = "round";
      this.each(ctx, sprites, seen, 0, 0, (piece) => ctx.stroke(sprites.paths[piece] ?? new Path2D()));
    }
    this.each(ctx, sprites, seen, 0, 0, (piece) => sprites.draw(ctx, piece));
    if (flash) {
      ctx.fillStyle = `rgb(255 255 255 / ${0.55 * flash})`;
      this.each(ctx, sprites, seen, 0, 0, (piece) => ctx.fill(sprites.paths[piece] ?? new Path2D()));
    }
  }

  private each(
    ctx: Paint,
    { spec }: Sprites,
    views: readonly PieceView[],
    dx: number,
    dy: number,
    draw: (piece: number) => void,
  ): void {
    for (const { piece, x, y } of views) {
      const at = home(spec, piece);
      this.look(ctx, at.x + x + dx, at.y + y + dy);
      draw(piece);
    }
  }

  /** Moves the context's origin to a point of the table. */
  private look(ctx: Paint, x: number, y: number): void {
    const scale = this.camera.zoom * this.scale;
    const at = this.camera.toScreen({ x, y });
    ctx.setTransform(scale, 0, 0, scale, at.x * this.scale, at.y * this.scale);
  }

  private isSeen({ spec }: Sprites, { piece, x, y }: PieceView): boolean {
    const at = home(spec, piece);
    const { x: left, y: top } = this.camera.toScreen({ x: at.x + x, y: at.y + y });
    const [w, h] = [(WIDTH / spec.columns) * this.camera.zoom, (HEIGHT / spec.rows) * this.camera.zoom];
    return left + 1.6 * w > 0 && top + 1.6 * h > 0 && left - 0.6 * w < this.width && top - 0.6 * h < this.height;
  }

  private drawFinish(ctx: Paint, { picture }: Sprites, { x, y, share }: Finish): void {
    this.look(ctx, x, y);
    ctx.globalAlpha = Math.min(share * 1.6, 1);
    ctx.drawImage(picture, 0, 0, WIDTH, HEIGHT);
    ctx.globalAlpha = 1;
    if (share >= 1) return;
    // A gleam moves across the picture once.
    const at = (share * 2 - 0.5) * WIDTH;
    const gleam = ctx.createLinearGradient(at, 0, at + 420, 260);
    gleam.addColorStop(0, "#ffffff00");
    gleam.addColorStop(0.5, `rgb(255 255 255 / ${0.5 * Math.sin(Math.PI * share)})`);
    gleam.addColorStop(1, "#ffffff00");
    ctx.fillStyle = gleam;
    ctx.fillRect(0, 0, WIDTH, HEIGHT);
  }
}

function addCanvas(stage: HTMLElement): Paint {
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("this browser gives no canvas");
  stage.append(canvas);
  return ctx;
}
