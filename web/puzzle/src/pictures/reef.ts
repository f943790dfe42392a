/** Under water: rays of light, corals, weeds, shoals of fish, a turtle. */

import { pick, seeded } from "../../../common/random";
import { HEIGHT as H, WIDTH as W } from "../model/spec";
import { below, between, disc, glow, grain, mix, type Paint, ridge, wash } from "./brush";

const WATERS = [
  ["#8fe3e0", "#2aa3bd", "#0f6390", "#0a2f5c"],
  ["#b5ecd0", "#3fb39c", "#14707f", "#0b3550"],
  ["#a6d4f5", "#4a8fd8", "#2a55a6", "#1b2a66"],
] as const;
const CORALS = ["#ff7f6b", "#ffb14e", "#e0559a", "#b06be0", "#ffd86b", "#54c59a", "#f2607a"] as const;
const FISH = [
  ["#ffb43a", "#fff4d6"],
  ["#ff6f59", "#ffe3d6"],
  ["#ffe14d", "#3a4a9a"],
  ["#7ae0ff", "#1d4f91"],
  ["#f58fd0", "#6a2f8f"],
] as const;

export function paintReef(ctx: Paint, seed: number): void {
  const random = seeded(seed);
  const water = pick(WATERS, random);
  wash(ctx, 0, H, W, water);
  rays(ctx, random);
  for (let i = 0; i < 3; i++) {
    const depth = i / 2;
    const line = ridge(random, H * (0.7 + 0.13 * depth), 60, W);
    ctx.fillStyle = mix(water[3], "#e8cf9a", 0.12 + 0.3 * depth);
    below(ctx, line, W, H);
    for (let k = 0; k < 30; k++) plant(ctx, random, line, depth);
  }
  floor(ctx, random);
  for (let i = 0; i < 6; i++) shoal(ctx, random);
  for (let i = 0; i < 12; i++) {
    const [x, y] = [((i + random()) / 12) * W, between(random, 0.16, 0.72) * H];
    fish(ctx, random, x, y, between(random, 24, 62), random() < 0.5 ? 1 : -1);
  }
  turtle(ctx, random);
  bubbles(ctx, random);
  grain(ctx, random, W, H, 400);
}

function rays(ctx: Paint, random: () => number): void {
  glow(ctx, W * 0.5, -80, 760, "255 255 235", 0.55);
  for (let i = 0; i < 14; i++) {
    const [top, spread] = [between(random, -0.1, 1.1) * W, between(random, 20, 90)];
    const lean = (top - W / 2) * 0.5;
    const gradient = ctx.createLinearGradient(0, 0, 0, H * 0.8);
    gradient.addColorStop(0, `rgb(255 255 240 / ${between(random, 0.1, 0.26)})`);
    gradient.addColorStop(1, "rgb(255 255 240 / 0)");
    ctx.fillStyle = gradient;
    ctx.beginPath();
    ctx.moveTo(top, 0);
    ctx.lineTo(top + spread, 0);
    ctx.lineTo(top + spread * 2.2 + lean, H * 0.8);
    ctx.lineTo(top + lean - spread, H * 0.8);
    ctx.fill();
  }
}

function plant(ctx: Paint, random: () => number, line: (x: number) => number, depth: number): void {
  const x = random() * W;
  const y = line(x) + between(random, 0, 60);
  const size = between(random, 40, 110) * (0.5 + 0.6 * depth);
  const color = mix(pick(CORALS, random), "#0d3a66", 0.5 - 0.45 * depth);
  const dice = random();
  if (dice < 0.34) branches(ctx, random, { x, y, angle: -Math.PI / 2, length: size * 0.42, width: size * 0.13 }, color);
  else if (dice < 0.6)
    weed(
      ctx,
      random,
      x,
      y,
      size * 1.6,
      mix(pick(["#3fa36b", "#7fb84a", "#2f8f8a"], random), "#0d3a66", 0.3 - 0.3 * depth),
    );
  else if (dice < 0.8) fan(ctx, x, y, size, color);
  else sponge(ctx, random, x, y, size, color);
}

interface Branch {
  readonly x: number;
  readonly y: number;
  readonly angle: number;
  readonly length: number;
  readonly width: number;
}

function branches(ctx: Paint, random: () => number, { x, y, angle, length, width }: Branch, color: string): void {
  if (width < 2) return;
  const [endX, endY] = [x + Math.cos(angle) * length, y + Math.sin(angle) * length];
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.lineCap = "round";
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(endX, endY);
  ctx.stroke();
  disc(ctx, endX, endY, width * 0.42, mix(color, "#ffffff", 0.35));
  const count = random() < 0.4 ? 3 : 2;
  for (let i = 0; i < count; i++) {
    const turn = (i - (count - 1) / 2) * 0.75 + between(random, -0.2, 0.2);
    const next = { x: endX, y: endY, angle: angle + turn, length: length * 0.76, width: width * 0.68 };
    branches(ctx, random, next, mix(color, "#ffffff", 0.07));
  }
}

function weed(ctx: Paint, random: () => number, x: number, y: number, size: number, color: string): void {
  for (let i = 0; i < 5; i++) {
    const [sway, height] = [between(random, -0.4, 0.4) * size, size * between(random, 0.6, 1.1)];
    const root = x + (i - 2) * size * 0.07;
    ctx.strokeStyle = mix(color, "#d7f29a", 0.12 * i * random());
    ctx.lineWidth = size * 0.045;
    ctx.lineCap = "round";
    ctx.beginPath();
    ctx.moveTo(root, y);
    ctx.bezierCurveTo(root + sway, y - height * 0.35, root - sway, y - height * 0.7, root + sway * 0.7, y - height);
    ctx.stroke();
  }
}

function fan(ctx: Paint, x: number, y: number, size: number, color: string): void {
  for (let i = -8; i <= 8; i++) {
    const angle = -Math.PI / 2 + i * 0.15;
    const reach = size * (1 - Math.abs(i) * 0.028);
    ctx.strokeStyle = i % 2 === 0 ? color : mix(color, "#ffffff", 0.3);
    ctx.lineWidth = size * 0.05;
    ctx.lineCap = "round";
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.quadraticCurveTo(
      x + Math.cos(angle) * reach * 0.4,
      y - reach * 0.6,
      x + Math.cos(angle) * reach,
      y + Math.sin(angle) * reach,
    );
    ctx.stroke();
  }
  ctx.strokeStyle = mix(color, "#4a1240", 0.4);
  ctx.lineWidth = 1.5;
  for (const radius of [0.5, 0.72, 0.9]) {
    ctx.beginPath();
    ctx.arc(x, y, size * radius, -Math.PI / 2 - 1.1, -Math.PI / 2 + 1.1);
    ctx.stroke();
  }
}

function sponge(ctx: Paint, random: () => number, x: number, y: number, size: number, color: string): void {
  for (let i = 0; i < 4; i++) {
    const [left, height] = [x + (i - 1.5) * size * 0.26, size * between(random, 0.5, 1)];
    ctx.fillStyle = mix(color, "#2a1450", 0.1 * i);
    ctx.beginPath();
    ctx.roundRect(left - size * 0.14, y - height, size * 0.28, height + 10, size * 0.13);
    ctx.fill();
    ctx.beginPath();
    ctx.ellipse(left, y - height + size * 0.06, size * 0.1, size * 0.05, 0, 0, 2 * Math.PI);
    ctx.fillStyle = mix(color, "#2a1450", 0.6);
    ctx.fill();
    for (let k = 0; k < 6; k++) {
      const [dx, dy] = [between(random, -0.09, 0.09), between(random, 0.15, 0.9)];
      disc(ctx, left + dx * size, y - height + dy * height, size * 0.018, mix(color, "#ffffff", 0.5));
    }
  }
}

/** Stones, shells and starfish, so that no two pieces of sand look alike. */
function floor(ctx: Paint, random: () => number): void {
  for (let i = 0; i < 150; i++) {
    const y = H * 0.88 + random() * H * 0.12;
    const [x, size] = [random() * W, between(random, 4, 17) * (0.5 + (y - H * 0.85) / 120)];
    const color = mix(pick(CORALS, random), "#e9d9b4", between(random, 0.3, 0.85));
    const dice = random();
    if (dice < 0.16) starfish(ctx, x, y, size * 1.5, random() * 2, color);
    else if (dice < 0.4) shell(ctx, x, y, size, color);
    else {
      ellipse(ctx, x, y, size * 1.1, size * 0.6);
      ctx.fillStyle = mix(color, "#3a4a66", 0.45);
      ctx.fill();
      ellipse(ctx, x - size * 0.2, y - size * 0.16, size * 0.6, size * 0.24);
      ctx.fillStyle = "#ffffff30";
      ctx.fill();
    }
  }
}

function starfish(ctx: Paint, x: number, y: number, size: number, turn: number, color: string): void {
  ctx.beginPath();
  for (let i = 0; i < 10; i++) {
    const [angle, radius] = [turn + (i * Math.PI) / 5, i % 2 === 0 ? size : size * 0.42];
    ctx.lineTo(x + Math.cos(angle) * radius, y + Math.sin(angle) * radius * 0.7);
  }
  ctx.closePath();
  ctx.fillStyle = color;
  ctx.fill();
  ctx.strokeStyle = mix(color, "#5a1f2f", 0.4);
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

function shell(ctx: Paint, x: number, y: number, size: number, color: string): void {
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.arc(x, y, size, Math.PI, 2 * Math.PI);
  ctx.lineTo(x, y + size * 0.5);
  ctx.fill();
  ctx.strokeStyle = mix(color, "#4a2a3a", 0.4);
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let i = 1; i < 6; i++) {
    ctx.moveTo(x, y + size * 0.5);
    ctx.lineTo(x + Math.cos(Math.PI + (i * Math.PI) / 6) * size, y + Math.sin(Math.PI + (i * Math.PI) / 6) * size);
  }
  ctx.stroke();
}

function shoal(ctx: Paint, random: () => number): void {
  const [x, y, direction] = [random() * W, between(random, 0.12, 0.6) * H, random() < 0.5 ? 1 : -1];
  const colors = pick(FISH, random);
  for (let i = 0; i < 15; i++) {
    const [dx, dy] = [between(random, -100, 100), between(random, -46, 46)];
    body(ctx, x + dx, y + dy, between(random, 8, 13), direction, colors);
  }
}

function fish(ctx: Paint, random: () => number, x: number, y: number, size: number, direction: number): void {
  const colors = pick(FISH, random);
  body(ctx, x, y, size, direction, colors);
  ctx.save();
  ellipse(ctx, x, y, size, size * 0.6);
  ctx.clip();
  ctx.fillStyle = colors[1];
  const stripes = 1 + Math.floor(random() * 3);
  for (let i = 0; i < stripes; i++)
    ctx.fillRect(x + direction * size * (0.35 - i * 0.5) - size * 0.09, y - size, size * 0.18, 2 * size);
  const light = ctx.createLinearGradient(0, y - size * 0.6, 0, y + size * 0.6);
  light.addColorStop(0, "#ffffff55");
  light.addColorStop(1, "#00000044");
  ctx.fillStyle = light;
  ctx.fillRect(x - size, y - size, 2 * size, 2 * size);
  ctx.restore();
  disc(ctx, x + direction * size * 0.62, y - size * 0.12, size * 0.13, "#fff");
  disc(ctx, x + direction * size * 0.65, y - size * 0.12, size * 0.07, "#15202b");
}

function body(
  ctx: Paint,
  x: number,
  y: number,
  size: number,
  direction: number,
  [main, fin]: readonly [string, string],
): void {
  ctx.fillStyle = fin;
  ctx.beginPath();
  ctx.moveTo(x - direction * size * 0.8, y);
  ctx.lineTo(x - direction * size * 1.5, y - size * 0.5);
  ctx.lineTo(x - direction * size * 1.32, y);
  ctx.lineTo(x - direction * size * 1.5, y + size * 0.5);
  ctx.fill();
  ctx.fillStyle = mix(main, "#5a2a10", 0.25);
  ctx.beginPath();
  ctx.moveTo(x - direction * size * 0.5, y - size * 0.4);
  ctx.quadraticCurveTo(x, y - size * 1.1, x + direction * size * 0.4, y - size * 0.4);
  ctx.fill();
  ellipse(ctx, x, y, size, size * 0.6);
  ctx.fillStyle = main;
  ctx.fill();
}

function turtle(ctx: Paint, random: () => number): void {
  const [x, y] = [between(random, 0.25, 0.75) * W, between(random, 0.2, 0.34) * H];
  ctx.save();
  ctx.translate(x, y);
  ctx.scale(random() < 0.5 ? 1 : -1, 1);
  ctx.rotate(-0.22);
  ctx.fillStyle = "#6f9a5a";
  for (const [dx, dy, length, angle] of [
    [46, 20, 66, 0.9],
    [-52, 24, 40, 2.3],
    [34, -22, 50, -0.7],
  ] as const) {
    ctx.save();
    ctx.translate(dx, dy);
    ctx.rotate(angle);
    ellipse(ctx, length * 0.5, 0, length * 0.6, 13);
    ctx.fill();
    ctx.restore();
  }
  ellipse(ctx, 96, -6, 25, 19);
  ctx.fill();
  disc(ctx, 106, -12, 3.4, "#13231a");
  ellipse(ctx, 0, 0, 80, 48);
  ctx.fillStyle = "#5b4a2c";
  ctx.fill();
  ctx.clip();
  for (let i = -3; i <= 3; i++)
    for (let k = -2; k <= 2; k++) {
      ellipse(ctx, i * 30 + (k % 2) * 15, k * 24, 13, 10);
      ctx.fillStyle = mix("#a5824a", "#d9b96a", random());
      ctx.fill();
    }
  ctx.restore();
}

function bubbles(ctx: Paint, random: () => number): void {
  for (let i = 0; i < 90; i++) {
    const [x, y, size] = [random() * W, random() * H * 0.9, between(random, 2, 11)];
    ctx.strokeStyle = "#ffffff99";
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    ctx.arc(x, y, size, 0, 2 * Math.PI);
    ctx.stroke();
    disc(ctx, x - size * 0.35, y - size * 0.35, size * 0.22, "#ffffffcc");
  }
}

function ellipse(ctx: Paint, x: number, y: number, rx: number, ry: number): void {
  ctx.beginPath();
  ctx.ellipse(x, y, rx, ry, 0, 0, 2 * Math.PI);
}
