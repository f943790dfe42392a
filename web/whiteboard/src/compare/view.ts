/** Draws one board: the true position, the shown one, and the trail of received positions. */

import { HEIGHT, WIDTH, type Position } from "./source";
import type { PointerMessage } from "./sessions";

/** How long (ms) a received position is drawn. */
const TRAIL = 1400;

/**
 * Duration (ms) in which the shown pointer glides to a new position: shorter than the interval
 * between two positions.
 */
const GLIDE = 22;

/**
 * From this distance on, in board units, a line between the true and the shown position is drawn.
 */
const GAP = 14;

interface Arrival extends Position {
  readonly at: number;
}

export class BoardView {
  readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d");
  private readonly arrivals: Arrival[] = [];
  private seen: Position | undefined;
  private lastFrame = 0;
  private colors: Record<"line" | "ghost" | "grid", string> = { line: "", ghost: "", grid: "" };

  constructor(moved: (x: number, y: number) => void) {
    this.canvas.className = "compare-canvas";
    this.canvas.addEventListener("pointermove", (event) => {
      const { left, top, width, height } = this.canvas.getBoundingClientRect();
      moved(((event.clientX - left) / width) * WIDTH, ((event.clientY - top) / height) * HEIGHT);
    });
  }

  /** The position that is shown at this moment. */
  get shown(): Position | undefined {
    return this.arrivals.at(-1);
  }

  arrive({ x, y }: PointerMessage, now: number): void {
    this.arrivals.push({ x, y, at: now });
    this.seen ??= { x, y };
  }

  /** Draws again after a change of colours. */
  repaint(): void {
    const style = getComputedStyle(this.canvas);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    this.colors = { line: color("--line"), ghost: color("--quiet"), grid: color("--dot") };
  }

  draw(now: number, truth: Position, isStalled: boolean): void {
    const { context, canvas } = this;
    if (!context) return;
    const scale = this.fit();
    const newest = this.shown;
    if (newest && this.seen) {
      const share = 1 - Math.exp(-(now - this.lastFrame) / GLIDE);
      this.seen = {
        x: this.seen.x + (newest.x - this.seen.x) * share,
        y: this.seen.y + (newest.y - this.seen.y) * share,
      };
    }
    this.lastFrame = now;
    while (this.arrivals.length > 1 && (this.arrivals[0]?.at ?? now) < now - TRAIL) this.arrivals.shift();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const unit = (devicePixelRatio || 1) / scale;
    this.drawGrid(context, unit);
    this.drawTrail(context, now, unit);
    if (this.seen) this.drawGap(context, this.seen, truth, unit);
    drawGhost(context, truth, this.colors.ghost, unit);
    if (this.seen) drawPointer(context, this.seen, this.colors.line, isStalled ? 0.5 : 1, unit);
  }

  /** Scales the canvas. Returns the pixels per unit of the board. */
  private fit(): number {
    const { canvas } = this;
    const width = Math.round(canvas.clientWidth * (devicePixelRatio || 1));
    const height = Math.round((width * HEIGHT) / WIDTH);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    return width / WIDTH;
  }

  private drawGrid(context: CanvasRenderingContext2D, unit: number): void {
    context.fillStyle = this.colors.grid;
    const step = WIDTH / 20;
    for (let x = step / 2; x < WIDTH; x += step)
      for (let y = step / 2; y < HEIGHT; y += step) context.fillRect(x - unit, y - unit, 2 * unit, 2 * unit);
  }

  /** Draws a dot for each received position, so that losses are visible as gaps. */
  private drawTrail(context: CanvasRenderingContext2D, now: number, unit: number): void {
    context.strokeStyle = context.fillStyle = this.colors.line;
    context.lineCap = "round";
    this.arrivals.forEach((arrival, i) => {
      const fresh = Math.max(1 - (now - arrival.at) / TRAIL, 0);
      const before = this.arrivals[i - 1];
      if (before) {
        context.globalAlpha = 0.45 * fresh;
        context.lineWidth = (1 + 2.5 * fresh) * unit;
        context.beginPath();
        context.moveTo(before.x, before.y);
        context.lineTo(arrival.x, arrival.y);
        context.stroke();
      }
      context.globalAlpha = 0.9 * fresh;
      context.beginPath();
      context.arc(arrival.x, arrival.y, 2.6 * unit, 0, 2 * Math.PI);
      context.fill();
    });
    context.globalAlpha = 1;
  }

  private drawGap(context: CanvasRenderingContext2D, seen: Position, truth: Position, unit: number): void {
    const distance = Math.hypot(seen.x - truth.x, seen.y - truth.y);
    if (distance < GAP) return;
    context.globalAlpha = Math.min((distance - GAP) / 60, 0.7);
    context.strokeStyle = this.colors.ghost;
    context.lineWidth = 1.25 * unit;
    context.setLineDash([4 * unit, 4 * unit]);
    context.beginPath();
    context.moveTo(seen.x, seen.y);
    context.lineTo(truth.x, truth.y);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
}

function drawGhost(context: CanvasRenderingContext2D, { x, y }: Position, color: string, unit: number): void {
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.75 * unit;
  context.beginPath();
  context.arc(x, y, 9 * unit, 0, 2 * Math.PI);
  context.stroke();
  context.beginPath();
  context.arc(x, y, 1.75 * unit, 0, 2 * Math.PI);
  context.fill();
}

/** The arrow of a cursor. */
const ARROW = new Path2D("M0 0 L0.9 15.4 L5.2 11.4 L11.2 11.3 Z");

function drawPointer(
  context: CanvasRenderingContext2D,
  { x, y }: Position,
  color: string,
  opacity: number,
  unit: number,
): void {
  context.save();
  context.translate(x, y);
  context.scale(1.45 * unit, 1.45 * unit);
  context.globalAlpha = opacity;
  context.lineJoin = "round";
  context.fillStyle = color;
  context.strokeStyle = "#fff";
  context.lineWidth = 1.4;
  context.fill(ARROW);
  context.stroke(ARROW);
  context.restore();
}
