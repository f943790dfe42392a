/**
 * Fractional keys: between any two keys there is another one, so that moving an item of a list
 * changes only the key of this item. A key is the digits of a fraction to base 62, and keys are
 * compared as text.
 */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = DIGITS.length;

/** The number of digits that are computed at a time: 62^8 is below 2^53. */
const WIDTH = 8;
const RANGE = BASE ** WIDTH;

/**
 * The distance of the keys of items that are added one after the other, at an end of the list or at
 * one place in it: 119,000 of them have keys of three digits, or of eleven within a list. Between
 * two neighbours of them, the gap can be halved 29 times before a key is longer.
 */
const STEP = BASE ** 5;

/**
 * The longest key, in characters: 3,800 items, each of them added between the last two, have
 * shorter ones. Longer keys are cut.
 */
const LONGEST = 1000;

/**
 * A key after `low` and before `high`, which are of {@link orderOf}; undefined: from the beginning,
 * to the end. If it would be too long, it is cut, and not between them.
 */
export function between(low: string | undefined, high: string | undefined): string {
  let key = "";
  // False once an earlier digit of the key is smaller than that of `high`.
  let isBelowHigh = high !== undefined;
  for (;;) {
    const at = key.length;
    const from = numberAt(low, at);
    const to = isBelowHigh ? numberAt(high, at) : RANGE;
    if (to - from > 1 || at > LONGEST)
      return orderOf(key + digits(chosen(from, to, at < (low?.length ?? 0), isBelowHigh)));
    isBelowHigh &&= from === to;
    key += digits(from);
  }
}

/** The key of an item as lists are sorted by it. Another program may have written anything. */
export function orderOf(key: string): string {
  const [valid = ""] = /^[\dA-Za-z]*/.exec(key.slice(0, LONGEST)) ?? [];
  let end = valid.length;
  // Nothing fits before a key of zeros, and nothing between a key and the same one with a zero
  // behind it.
  while (valid[end - 1] === "0") end -= 1;
  return valid.slice(0, end) || "V";
}

/**
 * A number between two numbers: one step from the neighbour that was probably added last, otherwise
 * in the middle.
 */
function chosen(from: number, to: number, isAfterLow: boolean, isBelowHigh: boolean): number {
  if (isAfterLow && !isBelowHigh && from + STEP < to) return from + STEP;
  if (!isAfterLow && isBelowHigh && to - STEP > from) return to - STEP;
  return Math.floor((from + to) / 2);
}

/** The number that the digits of a key from `at` on stand for. */
function numberAt(key = "", at: number): number {
  let number = 0;
  for (let end = at + WIDTH; at < end; at += 1) number = number * BASE + DIGITS.indexOf(key.charAt(at));
  return number;
}

function digits(number: number): string {
  let text = "";
  for (; text.length < WIDTH; number = Math.floor(number / BASE)) text = DIGITS.charAt(number % BASE) + text;
  return text;
}
