/** Painting functions that all pictures share. */

export type Paint = CanvasRenderingContext2D;

/** A vertical gradient over the whole width. */
export function wash(ctx: Paint, top: number, height: number, width: number, colors: readonly string[]): void {
  const gradient = ctx.createLinearGradient(0, top, 0, top + height);
  colors.forEach((color, i) => gradient.addColorStop(i / Math.max(colors.length - 1, 1), color));
  ctx.fillStyle = gradient;
  ctx.fillRect(0, top, width, height);
}

export function glow(ctx: Paint, x: number, y: number, radius: number, color: string, strength: number): void {
  const gradient = ctx.createRadialGradient(x, y, 0, x, y, radius);
  gradient.addColorStop(0, `rgb(${color} / ${strength})`);
  gradient.addColorStop(0.4, `rgb(${color} / ${strength * 0.35})`);
  gradient.addColorStop(1, `rgb(${color} / 0)`);
  ctx.fillStyle = gradient;
  ctx.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
}

export function disc(ctx: Paint, x: number, y: number, radius: number, fill: string): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fillStyle = fill;
  ctx.fill();
}

/** A line of hills: a sum of waves whose lengths have no common multiple. */
export function ridge(random: () => number, base: number, height: number, width: number): (x: number) => number {
  const waves = [1, 2.3, 4.7, 9.1].map((frequency, i) => ({
    frequency: (frequency * 2 * Math.PI) / width,
    phase: random() * 2 * Math.PI,
    height: (height * (0.7 + 0.6 * random())) / (1.4 + i * 1.6),
  }));
  return (x) => base - waves.reduce((sum, wave) => sum + wave.height * Math.sin(x * wave.frequency + wave.phase), 0);
}

/** Fills the area below a line. */
export function below(ctx: Paint, line: (x: number) => number, width: number, bottom: number): void {
  ctx.beginPath();
  ctx.moveTo(0, bottom);
  for (let x = 0; x <= width; x += 4) ctx.lineTo(x, line(x));
  ctx.lineTo(width, bottom);
  ctx.closePath();
  ctx.fill();
}

export function between(random: () => number, low: number, high: number): number {
  return low + random() * (high - low);
}

/** Adds fine grain, because large areas of one colour are hard to puzzle and look dull. */
export function grain(ctx: Paint, random: () => number, width: number, height: number, count: number): void {
  for (let i = 0; i < count; i++) {
    ctx.fillStyle = random() < 0.5 ? "#ffffff0b" : "#00000007";
    const size = between(random, 2, 16);
    ctx.beginPath();
    ctx.ellipse(random() * width, random() * height, size * 2, size * 0.5, random() * 0.6 - 0.3, 0, 2 * Math.PI);
    ctx.fill();
  }
}

/** Mixes two colours of the form #rrggbb. */
export function mix(a: string, b: string, share: number): string {
  const part = (color: string, i: number): number => Number.parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16);
  const hex = [0, 1, 2].map((i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * share));
  return `#${hex.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
