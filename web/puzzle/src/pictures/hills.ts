/** A valley in the morning: sun, layers of hills, a river, trees, and a few balloons. */

import { pick, seeded } from "../../../common/random";
import { HEIGHT as H, WIDTH as W } from "../model/spec";
import { below, between, disc, glow, grain, mix, type Paint, ridge, wash } from "./brush";

const DAWNS = [
  { sky: ["#2c4a8c", "#7d7fc0", "#f0a58f", "#ffd9a0"], sun: "255 226 170", far: "#8d86b8", near: "#1f5a4c" },
  { sky: ["#1d6fa8", "#5fb4d9", "#bfe3df", "#fff0c9"], sun: "255 246 205", far: "#7fb0c0", near: "#2c6b34" },
  { sky: ["#4b2a63", "#a9476f", "#f07f5b", "#ffc46b"], sun: "255 210 140", far: "#a05a77", near: "#27424f" },
] as const;

const BALLOONS = ["#e0533d", "#f2b134", "#3d7dca", "#5fae62", "#c04f8f", "#f4f0e6"] as const;

export function paintHills(ctx: Paint, seed: number): void {
  const random = seeded(seed);
  const dawn = pick(DAWNS, random);
  wash(ctx, 0, H * 0.62, W, dawn.sky);
  const sun = { x: between(random, 0.2, 0.8) * W, y: between(random, 0.3, 0.42) * H };
  glow(ctx, sun.x, sun.y, 620, dawn.sun, 0.9);
  disc(ctx, sun.x, sun.y, 58, `rgb(${dawn.sun})`);
  clouds(ctx, random);
  const layers = 6;
  for (let i = 0; i < layers; i++) {
    const depth = i / (layers - 1);
    const base = H * (0.5 + 0.36 * depth);
    const line = ridge(random, base, 80 - 30 * depth, W);
    ctx.fillStyle = mix(dawn.far, dawn.near, depth);
    below(ctx, line, W, H);
    // Mist in the valleys.
    ctx.save();
    ctx.clip();
    wash(ctx, base - 20, 130, W, ["#ffffff00", `rgb(${dawn.sun} / ${0.26 * (1 - depth)})`, "#ffffff00"]);
    fields(ctx, random, line, depth, mix(dawn.far, dawn.near, depth));
    ctx.restore();
    if (i === 3) river(ctx, random, dawn.sky);
    forest(ctx, random, line, depth, mix(dawn.far, dawn.near, Math.min(depth + 0.15, 1)));
  }
  flowers(ctx, random);
  for (let i = 0; i < 6; i++) balloon(ctx, random, i);
  grain(ctx, random, W, H, 500);
}

function clouds(ctx: Paint, random: () => number): void {
  for (let i = 0; i < 9; i++) {
    const [x, y] = [random() * W, between(random, 0.03, 0.36) * H];
    const size = between(random, 30, 70);
    for (let k = 0; k < 9; k++) {
      ctx.beginPath();
      ctx.ellipse(
        x + between(random, -2.6, 2.6) * size,
        y + between(random, -0.25, 0.25) * size,
        size * between(random, 0.6, 1.5),
        size * between(random, 0.14, 0.34),
        0,
        0,
        2 * Math.PI,
      );
      ctx.fillStyle = `rgb(255 250 240 / ${between(random, 0.08, 0.24)})`;
      ctx.fill();
    }
  }
}

/** Strips and hedges, so that no hill has only one colour. */
function fields(ctx: Paint, random: () => number, line: (x: number) => number, depth: number, color: string): void {
  if (depth < 0.3) return;
  for (let i = 0; i < 26; i++) {
    const x = random() * W;
    const y = line(x) + between(random, 10, 200);
    const length = between(random, 60, 190);
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.quadraticCurveTo(x + length * 0.5, y - 22, x + length, y + between(random, -14, 22));
    ctx.lineTo(x + length * 0.8, y + 34);
    ctx.quadraticCurveTo(x + length * 0.3, y + 14, x - 20, y + 30);
    ctx.closePath();
    ctx.fillStyle = mix(color, pick(["#e8cf6a", "#9ccb5c", "#c58e4a", "#5f9a4f", "#dfe08a"], random), 0.4);
    ctx.fill();
  }
}

function river(ctx: Paint, random: () => number, sky: readonly string[]): void {
  const bend = between(random, 0.25, 0.7) * W;
  ctx.beginPath();
  ctx.moveTo(bend, H * 0.7);
  ctx.bezierCurveTo(bend + 240, H * 0.76, bend - 260, H * 0.82, bend + 60, H);
  ctx.lineTo(bend + 420, H);
  ctx.bezierCurveTo(bend + 20, H * 0.84, bend + 330, H * 0.77, bend + 26, H * 0.7);
  const gradient = ctx.createLinearGradient(0, H * 0.7, 0, H);
  gradient.addColorStop(0, sky[3] ?? "#fff");
  gradient.addColorStop(1, sky[1] ?? "#88a");
  ctx.fillStyle = gradient;
  ctx.fill();
}

function forest(ctx: Paint, random: () => number, line: (x: number) => number, depth: number, color: string): void {
  const count = Math.round(46 - 22 * depth);
  for (let i = 0; i < count; i++) {
    const x = random() * W;
    const size = (12 + 62 * depth) * between(random, 0.7, 1.3);
    const y = line(x) + between(random, 2, 30 + 50 * depth);
    const shade = mix(color, random() < 0.5 ? "#0d2b2a" : "#6c9a3d", between(random, 0.1, 0.35));
    if (random() < 0.6) spruce(ctx, x, y, size, shade);
    else leafTree(ctx, random, x, y, size, shade);
  }
}

function spruce(ctx: Paint, x: number, y: number, size: number, color: string): void {
  ctx.fillStyle = color;
  for (let i = 0; i < 3; i++) {
    const top = y - size * (1.5 - i * 0.42);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x + size * (0.2 + i * 0.09), top + size * 0.66);
    ctx.lineTo(x - size * (0.2 + i * 0.09), top + size * 0.66);
    ctx.fill();
  }
}

function leafTree(ctx: Paint, random: () => number, x: number, y: number, size: number, color: string): void {
  ctx.fillStyle = "#4a3527";
  ctx.fillRect(x - size * 0.04, y - size * 0.5, size * 0.08, size * 0.5);
  for (let i = 0; i < 7; i++) {
    const [dx, dy] = [between(random, -0.3, 0.3), between(random, -0.26, 0.22)];
    disc(
      ctx,
      x + dx * size,
      y - size * (0.72 - dy),
      size * between(random, 0.16, 0.28),
      mix(color, "#d7e07a", 0.1 * i * random()),
    );
  }
}

function flowers(ctx: Paint, random: () => number): void {
  for (let i = 0; i < 420; i++) {
    const y = H - 95 * random() ** 1.6;
    const size = between(random, 2, 6) * (0.5 + (y - H + 95) / 95);
    disc(ctx, random() * W, y, size, pick(["#f4d35e", "#ee6c4d", "#f7f3e3", "#d77fb3", "#8fbf5a", "#3f7f4b"], random));
  }
}

function balloon(ctx: Paint, random: () => number, i: number): void {
  const [x, y] = [((i + between(random, 0.15, 0.85)) / 6) * W, between(random, 0.09, 0.4) * H];
  const size = between(random, 26, 58);
  const [first, second] = [pick(BALLOONS, random), pick(BALLOONS, random)];
  ctx.save();
  ctx.beginPath();
  ctx.moveTo(x - size * 0.22, y + size * 1.12);
  ctx.bezierCurveTo(x - size * 1.5, y + size * 0.1, x - size, y - size, x, y - size);
  ctx.bezierCurveTo(x + size, y - size, x + size * 1.5, y + size * 0.1, x + size * 0.22, y + size * 1.12);
  ctx.closePath();
  ctx.clip();
  for (let k = 0; k < 7; k++) {
    ctx.fillStyle = k % 2 === 0 ? first : second === first ? "#fff6e0" : second;
    ctx.fillRect(x - size * 1.2 + k * size * 0.345, y - size, size * 0.35, size * 2.2);
  }
  const light = ctx.createRadialGradient(x - size * 0.4, y - size * 0.4, 0, x, y, size * 1.4);
  light.addColorStop(0, "#ffffff66");
  light.addColorStop(1, "#00000055");
  ctx.fillStyle = light;
  ctx.fillRect(x - 2 * size, y - 2 * size, 4 * size, 4 * size);
  ctx.restore();
  ctx.strokeStyle = "#4b3a2c";
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  ctx.moveTo(x - size * 0.2, y + size * 1.1);
  ctx.lineTo(x - size * 0.12, y + size * 1.42);
  ctx.moveTo(x + size * 0.2, y + size * 1.1);
  ctx.lineTo(x + size * 0.12, y + size * 1.42);
  ctx.stroke();
  ctx.fillStyle = "#6b4a2e";
  ctx.fillRect(x - size * 0.15, y + size * 1.4, size * 0.3, size * 0.22);
}
