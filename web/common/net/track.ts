/**
 * Plays out positions that arrive now and then as one smooth movement: a little late, and along a curve through
 * the positions at the times when they were made. All times are milliseconds of one clock.
 */

interface Sample {
  readonly time: number;
  readonly values: readonly number[];
}

/** Playing further behind than this feels disconnected; nearer than a frame makes no sense. */
const DELAY_MIN = 30;
const DELAY_MAX = 300;

/** After a longer silence the last position was a rest, not the start of a slow movement. */
export const REST = 160;

/** How long the movement out of a rest takes: about one tick of the room. */
export const START = 45;

/** More positions than arrive within the longest delay. */
const KEPT = 32;

export class Track {
  private readonly samples: Sample[] = [];
  private delay = 60;

  /** A position that was made `age` before it arrived at `now`. */
  push(values: readonly number[], now: number, age: number): void {
    const last = this.samples.at(-1);
    // Aggregated or delayed positions may claim the same moment: order is what counts.
    const time = Math.max(now - age, (last?.time ?? -Infinity) + 1);
    if (last && time - last.time > REST) this.samples.push({ time: time - START, values: last.values });
    this.adapt(age + Math.min(time - (last?.time ?? time), REST));
    this.samples.push({ time, values });
    // A hidden page plays nothing out, but positions go on coming.
    if (this.samples.length > KEPT) this.samples.splice(0, this.samples.length - KEPT);
  }

  /** Where it is to be seen at `now`; undefined before the first position. */
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

  /** When that was made which is to be seen at `now`. */
  played(now: number): number {
    return now - this.delay;
  }

  /** The last position has been reached. */
  isSettled(now: number): boolean {
    return (this.samples.at(-1)?.time ?? -Infinity) <= this.played(now);
  }

  /** Quick to grow, so that the movement does not stop and start; slow to shrink. */
  private adapt(needed: number): void {
    const target = Math.min(Math.max(needed, DELAY_MIN), DELAY_MAX);
    this.delay += (target - this.delay) * (target > this.delay ? 0.3 : 0.03);
  }
}

function hermite(before: Sample, from: Sample, to: Sample, after: Sample, i: number, time: number): number {
  const span = to.time - from.time;
  const t = (time - from.time) / span;
  const [a, b] = [from.values[i] ?? 0, to.values[i] ?? 0];
  // A rest on either side, or a turn, has no slope; without this the curve would swing past it.
  const m0 = isTurn(before, from, to, i) ? 0 : slope(before, to, i) * span;
  const m1 = isTurn(from, to, after, i) ? 0 : slope(from, after, i) * span;
  const [t2, t3] = [t * t, t * t * t];
  return (2 * t3 - 3 * t2 + 1) * a + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * b + (t3 - t2) * m1;
}

/** At the middle one of three it rests or turns round. At an end, where two of them are the same, it goes on. */
function isTurn(a: Sample, b: Sample, c: Sample, i: number): boolean {
  if (a === b || b === c) return (a.values[i] ?? 0) === (c.values[i] ?? 0);
  const [x, y, z] = [a.values[i] ?? 0, b.values[i] ?? 0, c.values[i] ?? 0];
  return (y - x) * (z - y) <= 0;
}

function slope(a: Sample, b: Sample, i: number): number {
  const span = b.time - a.time;
  return span > 0 ? ((b.values[i] ?? 0) - (a.values[i] ?? 0)) / span : 0;
}
