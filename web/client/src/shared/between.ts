/** Fractional keys: between any two keys there is another one, so that moving an item of a list changes only the key of this item. */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = DIGITS.length;

/**
 * The length of the keys that count up or down, from the middle, when items are added at an end: the keys of a list that is only appended
 * to do not become longer.
 */
const WIDTH = 5;
const RANGE = BASE ** WIDTH;
const FIRST = "V0001";

/** A key after `low` and before `high`; undefined: from the beginning, to the end. Keys do not end in the lowest digit. */
export function between(low: string | undefined, high: string | undefined): string {
  const step =
    low === undefined ? (high === undefined ? FIRST : count(high, -1)) : high === undefined ? count(low, 1) : "";
  return step || middle(low ?? "", high);
}

/** The next number up or down; empty if there is none. */
function count(key: string, by: 1 | -1): string {
  let number = 0;
  for (let at = 0; at < WIDTH; at += 1) number = number * BASE + digit(key, at, 0);
  number += by;
  if (number % BASE === 0) number += by;
  if (number <= 0 || number >= RANGE) return "";
  let text = "";
  for (let at = 0; at < WIDTH; at += 1, number = Math.floor(number / BASE)) text = DIGITS.charAt(number % BASE) + text;
  return text;
}

function middle(low: string, high: string | undefined): string {
  let key = "";
  for (let at = 0; ; at += 1) {
    const from = digit(low, at, 0);
    // Once an earlier digit of the key is smaller than that of `high`, `high` is no limit any more.
    const to = high?.startsWith(key) ? digit(high, at, BASE) : BASE;
    const half = Math.floor((from + to) / 2);
    if (half > from) return key + DIGITS.charAt(half);
    key += DIGITS.charAt(from);
  }
}

function digit(key: string, at: number, otherwise: number): number {
  const found = at < key.length ? DIGITS.indexOf(key.charAt(at)) : -1;
  return found < 0 ? otherwise : found;
}
