/**
 * The trace of a pointer: the places where it has just been, in the order in which they were made,
 * as in Gutwin, "Traces: visualizing the immediate past to support group interaction" (2002). A
 * late place is inserted where it belongs. All times are milliseconds of one clock.
 */

import { checkOptions } from "../arguments.js";
import { ageOf, checkTime, clamp, isPlace, type Place } from "./numbers.js";
import { place as placeOf, TRACE } from "./options.js";

/** A point of a trace. */
export interface TracePoint {
  readonly place: Place;
  /** Grows from 0, at the pointer, to 1, where the trace has faded. */
  readonly age: number;
}

/** Options of {@link Trace}. */
export interface TraceOptions {
  /**
   * Milliseconds until a place has faded. Default: 600, which shows where a movement came from and
   * does not hide the drawing.
   */
  readonly length?: number;
}

/** Limit of places: more than arrive within the shown time (25 a second) and the playout delay. */
const KEPT = 64;

/**
 * After a silence longer than `REST` (ms), the pointer is assumed to have rested until `START` (ms)
 * before the next place.
 */
const [REST, START] = [160, 45];

interface Sample {
  readonly place: Place;
  readonly time: number;
  /** True if the pointer went away at this place, so that the trace is interrupted. */
  readonly isEnd: boolean;
}

/** The places where a pointer has just been. */
export class Trace {
  readonly #length: number;
  readonly #samples: Sample[] = [];

  constructor(options: TraceOptions = {}) {
    checkOptions(options, TRACE, "`Trace`");
    this.#length = options.length ?? 600;
  }

  /**
   * Adds a place that was made at `now - age`. `isLate`: a newer one was added before it. `isEnd`:
   * the pointer went away here.
   */
  add(
    place: Place,
    now: number,
    age: number,
    options: { readonly isLate?: boolean; readonly isEnd?: boolean } = {},
  ): void {
    checkOptions(options, { isLate: "boolean", isEnd: "boolean" }, "`add`");
    const { isLate = false, isEnd = false } = options;
    if (!isPlace(place) || !Number.isFinite(now)) return;
    const time = now - ageOf(age);
    // Times are estimates, but the order of two places is certain.
    const newest = this.#samples.at(-1)?.time ?? time;
    const sample = { place, isEnd, time: isLate ? Math.min(time, newest) : Math.max(time, newest) };
    const after = isLate ? this.#samples.findIndex((other) => other.time >= sample.time) : -1;
    this.#samples.splice(after < 0 ? this.#samples.length : after, 0, sample);
    if (this.#samples.length > KEPT) this.#samples.shift();
  }

  clear(): void {
    this.#samples.length = 0;
  }

  /**
   * The lines to draw at `time` ({@link Playout.clock}), each from its oldest point. `head` is the
   * shown place of the pointer.
   */
  at(time: number, head?: Place): TracePoint[][] {
    if (head !== undefined) placeOf(head, "`head`");
    if (this.isGone(time)) return [];
    this.#forget(time);
    const lines: TracePoint[][] = [];
    let line: TracePoint[] = [];
    let last: Sample | undefined;
    const extendTo = (to: Sample): void => {
      if (last && !last.isEnd) {
        if (line.length === 0) line.push(this.#tail(last, to, time));
        line.push(this.#point(to.place, to.time, time));
      }
      if (to.isEnd && line.length > 0) {
        lines.push(line);
        line = [];
      }
      last = to;
    };
    for (const sample of this.#samples) if (sample.time <= time) extendTo(sample);
    // While the pointer rests, `head` is left out: the trace ends at its last place and fades.
    if (head && this.#newest > time) extendTo({ place: head, time, isEnd: false });
    if (line.length > 0) lines.push(line);
    return lines;
  }

  /** True if the whole trace has faded. */
  isGone(time: number): boolean {
    checkTime(time);
    return this.#newest <= time - this.#length;
  }

  get #newest(): number {
    return this.#samples.at(-1)?.time ?? -Infinity;
  }

  /**
   * Forgets old places, except one that is too old: part of the line from it to the next place is
   * still shown.
   */
  #forget(time: number): void {
    const old = this.#samples.findIndex((sample) => sample.time > time - this.#length);
    this.#samples.splice(0, (old < 0 ? this.#samples.length : old) - 1);
  }

  /**
   * The end of the trace between two places, the older of which may be too old. It makes the trace
   * shrink smoothly.
   */
  #tail(from: Sample, to: Sample, time: number): TracePoint {
    // After a longer silence the pointer rested at the older place until shortly before the newer
    // one.
    const left = to.time - from.time > REST ? to.time - START : from.time;
    const end = Math.max(left, Math.min(time - this.#length, to.time));
    const part = to.time > left ? (end - left) / (to.time - left) : 1;
    const place = to.place.map((value, i) => {
      const start = from.place[i] ?? value;
      return start + (value - start) * part;
    });
    return this.#point(place, end, time);
  }

  #point(place: Place, made: number, time: number): TracePoint {
    return { place, age: clamp((time - made) / this.#length, 0, 1) };
  }
}
