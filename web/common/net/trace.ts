/**
 * The trace of a pointer: its recent positions in the order in which they were made. A late position is inserted at its
 * place. All times are milliseconds of one clock.
 */

import { REST, START } from "./track";

/** The length of a trace (ms): long enough to show where a movement came from, short enough not to hide the drawing. */
export const TRACE = 600;

/** Limit of positions: more than arrive within the shown time (25 a second) and the playout delay. */
const KEPT = 64;

/** A point of a trace. `age` grows from 0, at the pointer, to 1, where the trace has faded. */
export interface TracePoint {
  readonly x: number;
  readonly y: number;
  readonly age: number;
}

interface Sample {
  readonly x: number;
  readonly y: number;
  readonly time: number;
  /** True if the pointer left the board at this position, so that the trace is interrupted. */
  readonly off: boolean;
}

export class Trace {
  private readonly samples: Sample[] = [];

  /** Adds a position that was made at `time`. `isLate`: a newer position has arrived before it. */
  add({ x, y, off }: Omit<Sample, "time">, time: number, isLate: boolean): void {
    // Times are estimates, but the order of two positions is certain.
    const newest = this.samples.at(-1)?.time ?? time;
    const sample = { x, y, off, time: isLate ? Math.min(time, newest) : Math.max(time, newest) };
    const after = isLate ? this.samples.findIndex((other) => other.time >= sample.time) : -1;
    this.samples.splice(after < 0 ? this.samples.length : after, 0, sample);
    if (this.samples.length > KEPT) this.samples.shift();
  }

  clear(): void {
    this.samples.length = 0;
  }

  /**
   * The lines to draw at `time`, each from its oldest point. `head` is the pointer's position, if it is on the board.
   */
  at(time: number, head: readonly number[] | undefined): TracePoint[][] {
    if (this.isGone(time)) return [];
    this.forget(time);
    const lines: TracePoint[][] = [];
    let line: TracePoint[] = [];
    let last: Sample | undefined;
    const extendTo = (to: Sample): void => {
      if (last && !last.off) {
        if (line.length === 0) line.push(tail(last, to, time));
        line.push({ x: to.x, y: to.y, age: faded(to, time) });
      }
      if (to.off && line.length > 0) {
        lines.push(line);
        line = [];
      }
      last = to;
    };
    for (const sample of this.samples) if (sample.time <= time) extendTo(sample);
    // While the pointer rests, the trace ends at its last position and fades.
    const [x, y] = (this.isUnderway(time) ? head : undefined) ?? [];
    if (x !== undefined && y !== undefined) extendTo({ x, y, time, off: false });
    if (line.length > 0) lines.push(line);
    return lines;
  }

  /** True if the whole trace has faded. */
  isGone(time: number): boolean {
    return (this.samples.at(-1)?.time ?? -Infinity) <= time - TRACE;
  }

  private isUnderway(time: number): boolean {
    return (this.samples.at(-1)?.time ?? -Infinity) > time;
  }

  /** Keeps one position that is too old, because part of the line from it to the next one is still shown. */
  private forget(time: number): void {
    const old = this.samples.findIndex((sample) => sample.time > time - TRACE);
    this.samples.splice(0, (old < 0 ? this.samples.length : old) - 1);
  }
}

/**
 * The end of the trace, between two positions of which the older one may be too old. It makes the trace shrink
 * smoothly.
 */
function tail(from: Sample, to: Sample, time: number): TracePoint {
  // After a longer silence the pointer rested at the older position until shortly before the newer one.
  const left = to.time - from.time > REST ? to.time - START : from.time;
  const end = Math.max(left, Math.min(time - TRACE, to.time));
  const part = to.time > left ? (end - left) / (to.time - left) : 1;
  const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part];
  return { x, y, age: faded({ time: end }, time) };
}

function faded({ time: made }: Pick<Sample, "time">, time: number): number {
  return Math.min((time - made) / TRACE, 1);
}
