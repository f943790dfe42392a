/**
 * A curve through places at the times when they were made: cubic Hermite pieces that do not
 * overshoot (Fritsch and Carlson, 1980).
 */

import type { Place } from "./numbers.js";

export interface Sample {
  readonly time: number;
  readonly place: Place;
}

/**
 * The place at `time`, which is between `from` and `to`. `before` and `after` are their neighbours,
 * if there are any.
 */
export function between(
  before: Sample | undefined,
  from: Sample,
  to: Sample,
  after: Sample | undefined,
  time: number,
): number[] {
  const span = to.time - from.time;
  const t = span > 0 ? (time - from.time) / span : 1;
  const t2 = t * t;
  const t3 = t2 * t;
  const place = [];
  for (let i = 0; i < to.place.length; i++) {
    const start = from.place[i] ?? 0;
    const secant = (to.place[i] ?? start) - start;
    const leave = limited(span * slope(before, from, to, i), secant);
    const arrive = limited(span * slope(from, to, after, i), secant);
    place.push(start + (3 * t2 - 2 * t3) * secant + (t3 - 2 * t2 + t) * leave + (t3 - t2) * arrive);
  }
  return place;
}

/**
 * The slope of the curve at `at`: 0 at a rest or a turn; at an end of the curve, the slope of its
 * first or last piece.
 */
function slope(before: Sample | undefined, at: Sample, after: Sample | undefined, i: number): number {
  const a = before ?? at;
  const b = after ?? at;
  const here = at.place[i] ?? 0;
  const x = a.place[i] ?? here;
  const y = b.place[i] ?? here;
  if (before && after && (here - x) * (y - here) <= 0) return 0;
  return b.time > a.time ? (y - x) / (b.time - a.time) : 0;
}

/**
 * A tangent of at most three times the secant, in its direction: then the piece stays between its
 * ends.
 */
function limited(tangent: number, secant: number): number {
  return secant > 0 ? Math.min(Math.max(tangent, 0), 3 * secant) : Math.max(Math.min(tangent, 0), 3 * secant);
}
