/** A curve through places at the times when they were made: cubic Hermite pieces that do not overshoot (Fritsch and Carlson, 1980). */

import type { Place } from "./numbers.js";

export interface Sample {
  readonly time: number;
  readonly place: Place;
}

/** The place at `time`, which is between `from` and `to`. `before` and `after` are their neighbours, if there are any. */
export function between(
  before: Sample | undefined,
  from: Sample,
  to: Sample,
  after: Sample | undefined,
  time: number,
): number[] {
  const span = to.time - from.time;
  const t = span > 0 ? (time - from.time) / span : 1;
  const [t2, t3] = [t * t, t * t * t];
  return to.place.map((b, i) => {
    const a = from.place[i] ?? b;
    const secant = b - a;
    const leave = span * slope(before, from, to, i);
    const arrive = span * slope(from, to, after, i);
    return (
      a + (3 * t2 - 2 * t3) * secant + (t3 - 2 * t2 + t) * limited(leave, secant) + (t3 - t2) * limited(arrive, secant)
    );
  });
}

/** The slope at `at`. At a rest or a turn it is 0, and at an end of the curve that of its last piece. */
function slope(before: Sample | undefined, at: Sample, after: Sample | undefined, i: number): number {
  const [a, b] = [before ?? at, after ?? at];
  const here = at.place[i] ?? 0;
  const [x, y] = [a.place[i] ?? here, b.place[i] ?? here];
  if (before && after && (here - x) * (y - here) <= 0) return 0;
  return b.time > a.time ? (y - x) / (b.time - a.time) : 0;
}

/** A tangent of at most three times the secant, in its direction: then the piece stays between its ends. */
function limited(tangent: number, secant: number): number {
  return secant > 0 ? Math.min(Math.max(tangent, 0), 3 * secant) : Math.max(Math.min(tangent, 0), 3 * secant);
}
