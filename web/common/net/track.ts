/**
 * Plays positions that arrive at intervals as one smooth movement: with a small delay, along a curve through the
 * positions at the times when they were made. All times are milliseconds of one clock.
 */

interface Sample {
  readonly time: number;
  readonly values: readonly number[];
}

/** Limits of the playout delay (ms): below one frame it has no effect, above 300 ms the movement feels disconnected. */
const DELAY_MIN = 30;
const DELAY_MAX = 300;

/** After a silence longer than this (ms) the last position was a rest, not the start of a slow movement. */
export const REST = 160;

/** Duration (ms) of the movement that ends a rest: about one tick of the room. */
export const START = 45;

/** Limit of positions: more than arrive within the longest delay. */
const KEPT = 32;

export class Track {
  private readonly samples: Sample[] = [];
  private delay = 60;

  /** Adds a position that was made `age` milliseconds before it arrived at `now`. */
  push(values: readonly number[], now: number, age: number): void {
    const last = this.samples.at(-1);
    // Aggregated or delayed positions may have equal times; their order is kept.
    const time = Math.max(now - age, (last?.time ?? -Infinity) + 1);
    if (last && time - last.time > REST) this.samples.push({ time: time - START, values: last.values });
    this.adapt(age + Math.min(time - (last?.time ?? time), REST));
    this.samples.push({ time, values });
    // A hidden page does not call `at`, while positions go on arriving.
    if (this.samples.length > KEPT) this.samples.splice(0, this.samples.length - KEPT);
  }

  /** The position to show at `now`; undefined before the first position. */
  at(now: number): readonly number[] | undefined {
    const time = this.played(now);
    while (this.samples.length > 3 && (this.samples[2]?.time ?? time) <= time) this.samples.shift();
    const next = this.samples.findIndex((sample) => sample.time > time);
    if (next < 0) return this.samples.at(-1)?.values;
    const to = this.samples[next];
    const from = this.samples[next - 1];
    if (!to || !from) return to?.values;
    const before = this.samples[next - 2] ?? from;
    const after = this.samples[next + 1] ?? to;
    return to.values.map((_, i) => hermite(before, from, to, after, i, time));
  }

  /** The time at which the position shown at `now` was made. */
  played(now: number): number {
    return now - this.delay;
  }

  /** True if the last position has been reached. */
  isSettled(now: number): boolean {
    return (this.samples.at(-1)?.time ?? -Infinity) <= this.played(now);
  }

  /** Increases the delay quickly, so that the movement does not stop and start, and reduces it slowly. */
  private adapt(needed: number): void {
    const target = Math.min(Math.max(needed, DELAY_MIN), DELAY_MAX);
    this.delay += (target - this.delay) * (target > this.delay ? 0.3 : 0.03);
  }
}

function hermite(before: Sample, from: Sample, to: Sample, after: Sample, i: number, time: number): number {
  const span = to.time - from.time;
  const t = (time - from.time) / span;
  const [a, b] = [from.values[i] ?? 0, to.values[i] ?? 0];
  // At a rest or a turn the slope is 0; otherwise the curve would overshoot the position.
  const m0 = isTurn(before, from, to, i) ? 0 : slope(before, to, i) * span;
  const m1 = isTurn(from, to, after, i) ? 0 : slope(from, after, i) * span;
  const [t2, t3] = [t * t, t * t * t];
  return (2 * t3 - 3 * t2 + 1) * a + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * b + (t3 - t2) * m1;
}

/**
 * True if the movement rests or turns at `b`. At an end of the track, where two positions are the same, it does not.
 */
function isTurn(a: Sample, b: Sample, c: Sample, i: number): boolean {
  if (a === b || b === c) return (a.values[i] ?? 0) === (c.values[i] ?? 0);
  const [x, y, z] = [a.values[i] ?? 0, b.values[i] ?? 0, c.values[i] ?? 0];
  return (y - x) * (z - y) <= 0;
}

function slope(a: Sample, b: Sample, i: number): number {
  const span = b.time - a.time;
  return span > 0 ? ((b.values[i] ?? 0) - (a.values[i] ?? 0)) / span : 0;
}
