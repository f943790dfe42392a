/**
 * An old town by the water in the evening: gables, lit windows, a church, boats, and their
 * reflections.
 */

import { pick, seeded } from "../../../common/random";
import { HEIGHT as H, WIDTH as W } from "../model/spec";
import { below, between, disc, glow, grain, mix, type Paint, ridge, wash } from "./brush";

const EVENINGS = [
  { sky: ["#141a44", "#3b3a7a", "#a0568a", "#f2a07b"], moon: "255 244 214" },
  { sky: ["#10324f", "#2c6a86", "#8fb9a8", "#f5dfa8"], moon: "255 250 225" },
  { sky: ["#2a1440", "#6a2b6e", "#d95f6a", "#ffc17a"], moon: "255 236 200" },
] as const;
const WALLS = [
  "#c8553d",
  "#e09f3e",
  "#5c8d89",
  "#efe0c2",
  "#8a5a83",
  "#4f6d9a",
  "#d98a6a",
  "#7a9e5f",
  "#b3404a",
] as const;
const ROOFS = ["#7a3b2e", "#5b4a4a", "#8f4b38", "#3f4a5c"] as const;

/** The line between the quay and the water. */
const QUAY = H * 0.7;

export function paintTown(ctx: Paint, seed: number): void {
  const random = seeded(seed);
  const { sky, moon } = pick(EVENINGS, random);
  wash(ctx, 0, QUAY, W, sky);
  stars(ctx, random);
  const [x, y] = [between(random, 0.12, 0.88) * W, between(random, 0.1, 0.2) * H];
  glow(ctx, x, y, 300, moon, 0.6);
  disc(ctx, x, y, 38, `rgb(${moon})`);
  disc(ctx, x - 10, y - 8, 7, "#0000000f");
  disc(ctx, x + 12, y + 9, 10, "#0000000f");
  ctx.fillStyle = mix(sky[1], sky[2], 0.4);
  below(ctx, ridge(random, H * 0.46, 60, W), W, QUAY);
  church(ctx, random, between(random, 0.3, 0.7) * W, sky);
  row(ctx, random, QUAY - 90, 0.72, 0.45, sky);
  row(ctx, random, QUAY, 1, 0, sky);
  water(ctx, random);
  for (let i = 0; i < 5; i++)
    boat(ctx, random, ((i + between(random, 0.2, 0.8)) / 5) * W, between(random, 0.8, 0.95) * H);
  grain(ctx, random, W, H, 420);
}

function stars(ctx: Paint, random: () => number): void {
  for (let i = 0; i < 170; i++) {
    const y = random() ** 1.7 * H * 0.42;
    disc(
      ctx,
      random() * W,
      y,
      between(random, 0.6, 2),
      `rgb(255 255 240 / ${between(random, 0.3, 0.9) * (1 - y / (H * 0.5))})`,
    );
  }
}

function church(ctx: Paint, random: () => number, x: number, sky: readonly string[]): void {
  const wall = mix("#b9a58a", sky[1] ?? "#334455", 0.45);
  ctx.fillStyle = wall;
  ctx.fillRect(x - 34, H * 0.26, 68, H * 0.4);
  ctx.fillRect(x + 20, H * 0.42, 170, H * 0.2);
  ctx.fillStyle = mix("#3f6a63", sky[0] ?? "#223344", 0.3);
  ctx.beginPath();
  ctx.moveTo(x - 42, H * 0.26);
  ctx.lineTo(x, H * 0.06);
  ctx.lineTo(x + 42, H * 0.26);
  ctx.moveTo(x + 10, H * 0.43);
  ctx.lineTo(x + 60, H * 0.34);
  ctx.lineTo(x + 160, H * 0.34);
  ctx.lineTo(x + 204, H * 0.43);
  ctx.fill();
  disc(ctx, x, H * 0.31, 17, "#f7ecd0");
  ctx.strokeStyle = "#3a2f28";
  ctx.lineWidth = 2.5;
  ctx.beginPath();
  const hour = random() * 2 * Math.PI;
  ctx.moveTo(x + Math.cos(hour) * 8, H * 0.31 + Math.sin(hour) * 8);
  ctx.lineTo(x, H * 0.31);
  ctx.lineTo(x, H * 0.31 - 13);
  ctx.stroke();
  ctx.fillStyle = "#ffd98a";
  for (let i = 0; i < 5; i++) {
    ctx.beginPath();
    ctx.roundRect(x + 44 + i * 28, H * 0.47, 12, 44, [6, 6, 0, 0]);
    ctx.fill();
  }
}

/** A row of houses on a line. `haze` is the share of sky colour in front of it. */
function row(
  ctx: Paint,
  random: () => number,
  ground: number,
  size: number,
  haze: number,
  sky: readonly string[],
): void {
  let before = "";
  for (let x = -30; x < W;) {
    const width = between(random, 62, 118) * size;
    const height = between(random, 130, 250) * size;
    let wall: string = pick(WALLS, random);
    while (wall === before) wall = pick(WALLS, random);
    before = wall;
    const fade = (color: string): string => mix(mix(color, "#20204a", 0.18), sky[2] ?? "#888888", haze);
    house(ctx, random, { x, ground, width, height, size }, fade(wall), fade(pick(ROOFS, random)));
    x += width + 1;
  }
}

interface House {
  readonly x: number;
  readonly ground: number;
  readonly width: number;
  readonly height: number;
  readonly size: number;
}

function house(
  ctx: Paint,
  random: () => number,
  { x, ground, width, height, size }: House,
  wall: string,
  roof: string,
): void {
  const top = ground - height;
  ctx.fillStyle = wall;
  ctx.fillRect(x, top, width, height);
  const peak = between(random, 0.4, 0.75) * width;
  const kind = random();
  ctx.fillStyle = kind < 0.35 ? wall : roof;
  ctx.beginPath();
  if (kind < 0.35) {
    // A stepped gable.
    for (let i = 0; i < 4; i++)
      ctx.rect(x + (i * width) / 8, top - ((i + 1) * peak) / 4, width - (i * width) / 4, peak / 4 + 1);
  } else if (kind < 0.75) {
    ctx.moveTo(x - 5, top);
    ctx.lineTo(x + width / 2, top - peak);
    ctx.lineTo(x + width + 5, top);
  } else {
    ctx.moveTo(x - 4, top);
    ctx.lineTo(x + width * 0.14, top - peak * 0.7);
    ctx.lineTo(x + width * 0.86, top - peak * 0.7);
    ctx.lineTo(x + width + 4, top);
  }
  ctx.fill();
  if (kind >= 0.35) {
    ctx.fillStyle = mix(roof, "#000000", 0.25);
    ctx.fillRect(x + width * 0.68, top - peak * 0.62, 11 * size, 34 * size);
  }
  ctx.fillStyle = "#00000022";
  ctx.fillRect(x + width * 0.9, top, width * 0.1, height);
  windows(ctx, random, { x, ground, width, height, size }, wall);
}

function windows(ctx: Paint, random: () => number, { x, ground, width, height, size }: House, wall: string): void {
  const columns = Math.max(2, Math.floor(width / (29 * size)));
  const floors = Math.floor((height - 44 * size) / (42 * size));
  const [w, h] = [13 * size, 22 * size];
  for (let floor = 0; floor < floors; floor++)
    for (let column = 0; column < columns; column++) {
      const left = x + ((column + 0.5) * width) / columns - w / 2;
      const top = ground - height + 14 * size + floor * 42 * size;
      const isLit = random() < 0.55;
      if (isLit) glow(ctx, left + w / 2, top + h / 2, 30 * size, "255 205 120", 0.35);
      ctx.fillStyle = mix(wall, "#fff4dd", 0.6);
      ctx.fillRect(left - 2, top - 2, w + 4, h + 4);
      ctx.fillStyle = isLit ? pick(["#ffd98a", "#ffe9b0", "#ffc45e"], random) : "#26304f";
      ctx.fillRect(left, top, w, h);
      ctx.fillStyle = mix(wall, "#2b2030", 0.35);
      ctx.fillRect(left + w / 2 - 0.8, top, 1.6, h);
      ctx.fillRect(left, top + h * 0.45, w, 1.6);
    }
  const door = x + width * between(random, 0.2, 0.6);
  ctx.fillStyle = mix(wall, "#2a1a14", 0.7);
  ctx.beginPath();
  ctx.roundRect(door, ground - 36 * size, 19 * size, 36 * size, [9 * size, 9 * size, 0, 0]);
  ctx.fill();
}

/** The reflection of the town, broken by waves. */
function water(ctx: Paint, random: () => number): void {
  const depth = H - QUAY;
  ctx.fillStyle = "#2a2438";
  ctx.fillRect(0, QUAY, W, depth);
  ctx.save();
  ctx.globalAlpha = 0.72;
  // The picture may be painted at another scale than its units.
  const scale = ctx.canvas.width / W;
  for (let y = 0; y < depth; y += 3) {
    const shift = Math.sin(y * 0.21) * (2 + y * 0.035) + between(random, -1.5, 1.5);
    const source = QUAY - y * 1.55 - 4;
    ctx.drawImage(ctx.canvas, 0, source * scale, W * scale, 3 * scale, shift, QUAY + y, W, 3.2);
  }
  ctx.restore();
  wash(ctx, QUAY, depth, W, ["#0d163a22", "#0d163a99"]);
  for (let i = 0; i < 300; i++) {
    const y = QUAY + 10 + random() * depth;
    ctx.fillStyle = random() < 0.35 ? "#ffd98a66" : "#ffffff22";
    ctx.fillRect(random() * W, y, between(random, 8, 46), 1.6);
  }
  ctx.fillStyle = "#4a4038";
  ctx.fillRect(0, QUAY - 4, W, 12);
  for (let x = 8; x < W; x += 26) {
    ctx.fillStyle = x % 52 < 26 ? "#6a5a4c" : "#594b40";
    ctx.fillRect(x, QUAY - 4, 22, 9);
  }
}

function boat(ctx: Paint, random: () => number, x: number, y: number): void {
  const size = between(random, 34, 60);
  const hull = pick(WALLS, random);
  ctx.fillStyle = "#00000044";
  ctx.beginPath();
  ctx.ellipse(x, y + size * 0.36, size * 1.1, size * 0.13, 0, 0, 2 * Math.PI);
  ctx.fill();
  ctx.fillStyle = "#f6ead2";
  ctx.beginPath();
  ctx.moveTo(x + 3, y - size * 1.7);
  ctx.lineTo(x + 3, y - size * 0.12);
  ctx.lineTo(x + size * 0.85, y - size * 0.12);
  ctx.fill();
  ctx.fillStyle = mix(hull, "#fff4dd", 0.5);
  ctx.beginPath();
  ctx.moveTo(x - 3, y - size * 1.5);
  ctx.lineTo(x - 3, y - size * 0.12);
  ctx.lineTo(x - size * 0.6, y - size * 0.12);
  ctx.fill();
  ctx.fillStyle = "#4a3527";
  ctx.fillRect(x - 2, y - size * 1.8, 4, size * 1.8);
  ctx.fillStyle = hull;
  ctx.beginPath();
  ctx.moveTo(x - size, y);
  ctx.lineTo(x + size * 1.05, y);
  ctx.quadraticCurveTo(x + size * 0.8, y + size * 0.36, x + size * 0.5, y + size * 0.36);
  ctx.lineTo(x - size * 0.6, y + size * 0.36);
  ctx.quadraticCurveTo(x - size * 0.9, y + size * 0.3, x - size, y);
  ctx.fill();
  ctx.fillStyle = "#ffffffaa";
  ctx.fillRect(x - size * 0.96, y + size * 0.06, size * 1.9, size * 0.05);
}
