/** Draws the meadow and its people. */

import type { Person } from "./people";
import { WORLD, type Point } from "./walker";

/** A person in the picture. */
export interface Figure extends Omit<Person, "says"> {
  readonly place: Point;
  /** The distance that the person has walked, in units; it moves the legs. */
  readonly walked: number;
  /** The text in the speech bubble; undefined if this user is too far away to hear it. */
  readonly says: string | undefined;
  readonly isMe: boolean;
}

export interface Camera {
  /** The point of the world at the upper left corner, and pixels per unit. */
  readonly corner: Point;
  readonly scale: number;
}

export interface Palette {
  readonly outside: string;
  readonly grass: string;
  readonly tuft: string;
  readonly path: string;
  readonly tree: string;
  readonly pond: string;
  readonly text: string;
  readonly bubble: string;
}

/** A view of the world around `centre`, with as little as possible of the outside. */
export function cameraAt(centre: Point, width: number, height: number): Camera {
  const scale = Math.min(Math.max(width / WORLD.width, height / WORLD.height, 0.7), 1.5);
  const start = (middle: number, size: number, world: number): number =>
    size / scale >= world
      ? (world - size / scale) / 2
      : Math.min(Math.max(middle - size / scale / 2, 0), world - size / scale);
  return { corner: [start(centre[0], width, WORLD.width), start(centre[1], height, WORLD.height)], scale };
}

/** The point of the world under a pixel. */
export function worldAt(x: number, y: number, { corner, scale }: Camera): Point {
  return [corner[0] + x / scale, corner[1] + y / scale];
}

/** Draws all of it; `canvas` has `ratio` pixels of the device for each of the page. */
export function draw(
  canvas: HTMLCanvasElement,
  ratio: number,
  { corner, scale }: Camera,
  figures: readonly Figure[],
  palette: Palette,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette.outside;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(scale, scale);
  context.translate(-corner[0], -corner[1]);
  drawMeadow(context, palette);
  const fromBack = [...figures].sort((a, b) => a.place[1] - b.place[1]);
  for (const figure of fromBack) drawFigure(context, figure, palette);
  for (const figure of fromBack) drawBubble(context, figure, palette);
}

/** Trees: x, y and radius. */
const TREES = [
  [140, 130, 46],
  [240, 90, 34],
  [1080, 120, 52],
  [990, 690, 40],
  [1100, 640, 54],
  [90, 660, 40],
  [430, 720, 30],
] as const;

function drawMeadow(context: CanvasRenderingContext2D, palette: Palette): void {
  const disc = (x: number, y: number, rx: number, ry: number, color: string): void => {
    context.fillStyle = color;
    context.beginPath();
    context.ellipse(x, y, rx, ry, 0, 0, 2 * Math.PI);
    context.fill();
  };
  context.fillStyle = palette.grass;
  context.beginPath();
  context.roundRect(0, 0, WORLD.width, WORLD.height, 28);
  context.fill();
  context.strokeStyle = palette.path;
  context.lineWidth = 54;
  context.lineCap = "round";
  context.beginPath();
  context.moveTo(40, 420);
  context.bezierCurveTo(400, 250, 640, 620, 1160, 380);
  context.stroke();
  disc(330, 560, 120, 66, palette.pond);
  // Tufts of grass, scattered evenly by multiples of two irrational numbers.
  for (let at = 0; at < 140; at += 1) {
    disc(((at * 0.7549) % 1) * WORLD.width, ((at * 0.5698) % 1) * WORLD.height, 3, 1.6, palette.tuft);
  }
  for (const [x, y, radius] of TREES) disc(x, y, radius, radius, palette.tree);
}

function drawFigure(
  context: CanvasRenderingContext2D,
  { name, color, place, walked, isMe }: Figure,
  palette: Palette,
): void {
  const [x, y] = place;
  const disc = (dx: number, dy: number, rx: number, ry: number, fill: string): void => {
    context.fillStyle = fill;
    context.beginPath();
    context.ellipse(x + dx, y + dy, rx, ry, 0, 0, 2 * Math.PI);
    context.fill();
  };
  const swing = 4 * Math.sin(walked / 9);
  disc(0, 3, 15, 6, "#0003");
  disc(-5, swing / 2, 4, 6, "#2b2f3a");
  disc(5, -swing / 2, 4, 6, "#2b2f3a");
  context.fillStyle = color;
  context.beginPath();
  context.roundRect(x - 12, y - 30, 24, 28, 10);
  context.fill();
  disc(0, -38, 10, 10, "#f2c9a1");
  if (isMe) {
    context.strokeStyle = palette.text;
    context.lineWidth = 2;
    context.beginPath();
    context.ellipse(x, y + 3, 20, 9, 0, 0, 2 * Math.PI);
    context.stroke();
  }
  context.font = "600 14px system-ui, sans-serif";
  context.textAlign = "center";
  context.fillStyle = palette.text;
  context.fillText(name, x, y + 28);
}

const LINE = 18;

function drawBubble(context: CanvasRenderingContext2D, { place: [x, y], says }: Figure, palette: Palette): void {
  if (!says) return;
  context.font = "14px system-ui, sans-serif";
  context.textAlign = "center";
  const lines = wrapped(says, (text) => context.measureText(text).width <= 190);
  const width = Math.max(...lines.map((line) => context.measureText(line).width)) + 24;
  const height = lines.length * LINE + 14;
  const top = y - 62 - height;
  context.fillStyle = palette.bubble;
  context.beginPath();
  context.roundRect(x - width / 2, top, width, height, 12);
  context.moveTo(x - 7, top + height);
  context.lineTo(x, top + height + 9);
  context.lineTo(x + 7, top + height);
  context.fill();
  context.fillStyle = palette.text;
  lines.forEach((line, at) => context.fillText(line, x, top + 21 + at * LINE));
}

/** Breaks a text into lines that fit. */
export function wrapped(text: string, fits: (line: string) => boolean): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && fits(longer)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
