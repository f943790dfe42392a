/** A small chart of the last minute. */

import { make } from "../../../common/ui/dom";
import { SECONDS } from "../net/meter";

/** CSS pixels. */
const HEIGHT = 26;

export interface Curve {
  /** Oldest first; undefined where nothing was measured. */
  readonly values: readonly (number | undefined)[];
  /** The CSS custom property with the colour. */
  readonly color: string;
}

export class Sparkline {
  readonly element = make("canvas", "sparkline");

  constructor() {
    this.element.ariaHidden = "true";
  }

  /** `least` is the smallest upper end of the scale, so that noise is not magnified. */
  draw(curves: readonly Curve[], least: number): void {
    const { element } = this;
    const width = element.clientWidth;
    if (width === 0) return;
    const scale = Math.min(devicePixelRatio, 3);
    element.width = Math.round(width * scale);
    element.height = Math.round(HEIGHT * scale);
    const ctx = element.getContext("2d");
    if (!ctx) return;
    ctx.scale(scale, scale);
    const style = getComputedStyle(element);
    const known = curves.flatMap(({ values }) => values.filter((value) => value !== undefined));
    const top = Math.max(...known, least);
    ctx.strokeStyle = style.getPropertyValue("--card-edge");
    line(ctx, [0, width], () => HEIGHT - 0.5);
    curves.forEach(({ values, color }, i) => {
      const paint = style.getPropertyValue(color);
      const first = SECONDS - values.length;
      const x = (k: number): number => ((first + k) / (SECONDS - 1)) * (width - 4) + 1;
      const y = (value: number): number => HEIGHT - 2 - (value / top) * (HEIGHT - 6);
      for (const [from, to] of runs(values)) {
        const at = (k: number): number => y(values[k] ?? 0);
        if (i === 0) fill(ctx, from, to, x, at, paint);
        ctx.strokeStyle = paint;
        ctx.lineWidth = 1.5;
        ctx.lineJoin = "round";
        ctx.beginPath();
        for (let k = from; k <= to; k++) ctx.lineTo(x(k), at(k));
        // A single second is drawn as a dot.
        if (from === to) ctx.lineTo(x(to) + 1, at(to));
        ctx.stroke();
      }
    });
  }
}

function line(ctx: CanvasRenderingContext2D, [from, to]: readonly [number, number], y: () => number): void {
  ctx.beginPath();
  ctx.moveTo(from, y());
  ctx.lineTo(to, y());
  ctx.stroke();
}

function fill(
  ctx: CanvasRenderingContext2D,
  from: number,
  to: number,
  x: (k: number) => number,
  y: (k: number) => number,
  paint: string,
): void {
  ctx.globalAlpha = 0.14;
  ctx.fillStyle = paint;
  ctx.beginPath();
  ctx.moveTo(x(from), HEIGHT - 1);
  for (let k = from; k <= to; k++) ctx.lineTo(x(k), y(k));
  ctx.lineTo(x(to), HEIGHT - 1);
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** The ranges of consecutive values. */
function runs(values: readonly (number | undefined)[]): [from: number, to: number][] {
  const found: [number, number][] = [];
  values.forEach((value, i) => {
    if (value === undefined) return;
    const last = found.at(-1);
    if (last && last[1] === i - 1) last[1] = i;
    else found.push([i, i]);
  });
  return found;
}
