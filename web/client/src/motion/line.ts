/**
 * A line that another participant is drawing, from pieces that arrive late or not at all: a missing
 * piece is bridged, and inserted when it arrives. The line grows smoothly at its end.
 */

import { checkOptions, must } from "../arguments.js";
import { isPlace } from "./numbers.js";
import { LINE } from "./options.js";

const coordinates = must("a list of numbers", Array.isArray);

/** Options of {@link Line}. */
export interface LineOptions {
  /** The numbers of a point. Default: 2. */
  readonly dimensions?: number;
  /**
   * Time constant (ms) in which arrived points are revealed, so that the line grows smoothly.
   * Default: 60.
   */
  readonly reveal?: number;
  /** The largest number of points. Later ones are left out. Default: 10,000. */
  readonly limit?: number;
}

/** A line that another participant is drawing, from pieces that arrive late or not at all. */
export class Line {
  readonly #dimensions: number;
  readonly #reveal: number;
  readonly #limit: number;
  /**
   * The numbers of the points in the line, ascending, and their coordinates one after the other, as
   * canvases and messages have them.
   */
  readonly #numbers: number[] = [];
  readonly #values: number[] = [];
  /**
   * The number of drawn points; its fraction is the drawn part of the segment to the next point.
   */
  #shown = 0;
  #shownAt: number | undefined;

  constructor(options: LineOptions = {}) {
    checkOptions(options, LINE, "`Line`");
    const { dimensions = 2, reveal = 60, limit = 10_000 } = options;
    this.#dimensions = dimensions;
    this.#reveal = Math.max(reveal, 1);
    this.#limit = limit;
  }

  /**
   * Takes the coordinates of points, one after the other; `from` is the number of the first point
   * in the line.
   */
  push(values: readonly number[], from: number): void {
    coordinates(values, "`values`");
    if (!Number.isSafeInteger(from) || from < 0) return;
    for (let i = 0; (i + 1) * this.#dimensions <= values.length; i++) {
      const point = values.slice(i * this.#dimensions, (i + 1) * this.#dimensions);
      if (isPlace(point)) this.#put(from + i, point);
    }
  }

  /** Lets the line grow until `now`. `at`, `end` and `isSettled` call it, too. */
  advance(now: number): void {
    if (!Number.isFinite(now)) return;
    const since = this.#shownAt ?? now;
    this.#shownAt = Math.max(now, since);
    const passed = Math.max(now - since, 0) / this.#reveal;
    // The first point is drawn at once.
    this.#shown = Math.max(this.#shown, Math.min(this.length, 1));
    const left = this.length - this.#shown;
    // The speed has a lower bound, so that the last point is reached.
    this.#shown += Math.min(Math.max(left * (1 - Math.exp(-passed)), passed), left) || 0;
  }

  /**
   * The coordinates of the line as it is shown at `now`, one after the other. Without `now`: all of
   * it.
   */
  at(now?: number): number[] {
    if (now === undefined) return [...this.#values];
    this.advance(now);
    return [...this.#values.slice(0, Math.floor(this.#shown) * this.#dimensions), ...this.#growing()];
  }

  /** The end of the line as it is shown at `now`; undefined if nothing is shown. */
  end(now: number): number[] | undefined {
    this.advance(now);
    const growing = this.#growing();
    return growing.length > 0 ? growing : this.#point(Math.floor(this.#shown) - 1);
  }

  /** The number of points that have arrived. */
  get length(): number {
    return this.#numbers.length;
  }

  /** True if all points that have arrived are shown. */
  isSettled(now: number): boolean {
    this.advance(now);
    return this.#shown >= this.length;
  }

  /** The end of the segment that is partly drawn; empty if there is none. */
  #growing(): number[] {
    const whole = Math.floor(this.#shown);
    const [last, next] = [this.#point(whole - 1), this.#point(whole)];
    const part = this.#shown - whole;
    if (!last || !next || part === 0) return [];
    return last.map((value, i) => value + ((next[i] ?? value) - value) * part);
  }

  #point(at: number): number[] | undefined {
    if (at < 0 || at >= this.length) return undefined;
    return this.#values.slice(at * this.#dimensions, (at + 1) * this.#dimensions);
  }

  #put(number: number, point: readonly number[]): void {
    let at = this.length;
    while (at > 0 && (this.#numbers[at - 1] ?? 0) >= number) at--;
    if (this.#numbers[at] === number || this.length >= this.#limit) return;
    this.#numbers.splice(at, 0, number);
    this.#values.splice(at * this.#dimensions, 0, ...point);
    // A point within the drawn part of the line is drawn at once.
    if (at < this.#shown) this.#shown++;
  }
}
