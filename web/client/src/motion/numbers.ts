/**
 * Checks and computes places and velocities, which are lists of numbers. All times are milliseconds
 * of one clock.
 */

import { must } from "../arguments.js";

/**
 * Where something is, in as many dimensions as it has: x and y of a pointer, or position and size
 * of an object.
 */
export type Place = readonly number[];

/** The largest number of dimensions: a place is copied in each frame. */
const DIMENSIONS = 64;

/**
 * Places, velocities and ages are not further from 0. Up to here, doubles are 0.004 apart, so that
 * sums and products keep a tenth of a unit, and easing arrives.
 */
export const FAR = 2 ** 44;

/** True for a place that can be shown: not empty, not too long, finite numbers. */
export function isPlace(value: unknown): value is Place {
  if (!Array.isArray(value) || value.length === 0 || value.length > DIMENSIONS) return false;
  // Unlike `every`, it does not leave out holes.
  for (const one of value) if (!isNear(one)) return false;
  return true;
}

function isNear(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) <= FAR;
}

const number = must("a number", (value) => typeof value === "number");

/** Refuses a time that is no number. NaN is one, and nothing is shown at it. */
export function checkTime(time: number): void {
  number(time, "a time");
}

/** Refuses an index that is no number. */
export function checkIndex(index: number | undefined): void {
  if (index !== undefined) number(index, "an index");
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** The age of a message in milliseconds; 0 if `age` is not a valid duration. */
export function ageOf(age: number): number {
  return typeof age === "number" && age > 0 && age <= FAR ? age : 0;
}

/**
 * How many messages `index` comes after `other`; negative: before. Indices are counted modulo 2^32,
 * and so are their differences.
 */
export function distance(index: number, other: number): number {
  return (index - other) | 0;
}

export function add(a: Place, b: Place, factor = 1): number[] {
  return a.map((value, i) => value + (b[i] ?? 0) * factor);
}

/** The length of a difference. */
export function apart(a: Place, b: Place): number {
  return Math.hypot(...a.map((value, i) => value - (b[i] ?? 0)));
}
