/**
 * The way that a pointer took within the last moments, through all positions that came, in the order in which they were
 * made. One that comes late completes it. All times are milliseconds of one clock.
 */

import { REST, START } from "./track";

/** So old is the end of a trace: long enough to see where a movement came from, too short to be in the way. */
export const TRACE = 600;

/** More than come within the time that is shown: 25 a second, and the delay of playing them out. */
const KEPT = 64;

/** A place on the way; `age` grows from 0, where the pointer is, to 1, where nothing is left of the trace. */
export interface TracePoint {
  readonly x: number;
  readonly y: number;
  readonly age: number;
}

interface Sample {
  readonly x: number;
  readonly y: number;
  readonly time: number;
  /** It left the board here: no way leads on. */
  readonly off: boolean;
}

export class Trace {
  private readonly samples: Sample[] = [];

  /** A position that was made at `time`. `isLate`: before the newest one that came. */
  add({ x, y, off }: Omit<Sample, "time">, time: number, isLate: boolean): void {
    // Times are estimates; it is certain which of two came first.
    const newest = this.samples.at(-1)?.time ?? time;
    const sample = { x, y, off, time: isLate ? Math.min(time, newest) : Math.max(time, newest) };
    const after = isLate ? this.samples.findIndex((other) => other.time >= sample.time) : -1;
    this.samples.splice(after < 0 ? this.samples.length : after, 0, sample);
    if (this.samples.length > KEPT) this.samples.shift();
  }

  clear(): void {
    this.samples.length = 0;
  }

  /** The ways to be seen at `time`, each from its old end. `head`: where the pointer is, if it is on the board. */
  at(time: number, head: readonly number[] | undefined): TracePoint[][] {
    if (this.isGone(time)) return [];
    this.forget(time);
    const ways: TracePoint[][] = [];
    let way: TracePoint[] = [];
    let last: Sample | undefined;
    const go = (to: Sample): void => {
      if (last && !last.off) {
        if (way.length === 0) way.push(tail(last, to, time));
        way.push({ x: to.x, y: to.y, age: faded(to, time) });
      }
      if (to.off && way.length > 0) {
        ways.push(way);
        way = [];
      }
      last = to;
    };
    for (const sample of this.samples) if (sample.time <= time) go(sample);
    // Where it rests the trace ends, and fades.
    const [x, y] = (this.isUnderway(time) ? head : undefined) ?? [];
    if (x !== undefined && y !== undefined) go({ x, y, time, off: false });
    if (way.length > 0) ways.push(way);
    return ways;
  }

  /** Nothing of it is left to be seen. */
  isGone(time: number): boolean {
    return (this.samples.at(-1)?.time ?? -Infinity) <= time - TRACE;
  }

  private isUnderway(time: number): boolean {
    return (this.samples.at(-1)?.time ?? -Infinity) > time;
  }

  /** Keeps one position that is too old: the way from it to the next one is still seen. */
  private forget(time: number): void {
    const old = this.samples.findIndex((sample) => sample.time > time - TRACE);
    this.samples.splice(0, (old < 0 ? this.samples.length : old) - 1);
  }
}

/** Where the trace ends between two positions, the older of which may be too old: so it shrinks smoothly. */
function tail(from: Sample, to: Sample, time: number): TracePoint {
  // After a longer silence the older position was a rest, which ended shortly before the newer one.
  const left = to.time - from.time > REST ? to.time - START : from.time;
  const end = Math.max(left, Math.min(time - TRACE, to.time));
  const part = to.time > left ? (end - left) / (to.time - left) : 1;
  const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part];
  return { x, y, age: faded({ time: end }, time) };
}

function faded({ time: made }: Pick<Sample, "time">, time: number): number {
  return Math.min((time - made) / TRACE, 1);
}
