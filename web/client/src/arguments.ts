/**
 * Checks of arguments, at the edge of the public interface: an error names the argument, what is right, and what it got. Tables of options
 * are in `options.ts` and beside the functions that take them.
 */

import { failure, invalid, shown, type GroupwireError } from "./errors.js";

/** Throws if a value is wrong. `argument` names it as the application wrote it, such as "`room` of `connect`". */
export type Check = (value: unknown, argument: string) => void;

/** The options that a function takes, each with its check. Those that are undefined count as left out. */
export type Checks<Options> = Readonly<Record<keyof Options, Check>>;

export function must(expected: string, isRight: (value: unknown) => boolean): Check {
  return (value, argument) => {
    if (!isRight(value)) throw invalid(argument, expected, value);
  };
}

export function numberFrom(least: number, most: number): Check {
  return must(`a number from ${least} to ${most}`, (value) => isWithin(value, least, most));
}

export function wholeFrom(least: number, most: number): Check {
  return must(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && isWithin(value, least, most),
  );
}

/** A text of so many bytes of UTF-8. */
export function textOf(least: number, most: number): Check {
  return (value, argument) => {
    if (typeof value !== "string" || value.length < least)
      throw invalid(argument, least > 0 ? "a text that is not empty" : "a text", value);
    checkText(value, argument);
    checkSize(value, most, argument);
  };
}

export function oneOf(...names: readonly string[]): Check {
  return must(`one of "${names.join('", "')}"`, (value) => names.includes(value as string));
}

export const boolean: Check = must("true or false", (value) => typeof value === "boolean");
export const callable: Check = must("a function", (value) => typeof value === "function");
export const object: Check = must(
  "an object",
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

/** Checks the options of a function. An unknown one is an error that names the most similar one. */
export function checkOptions(options: unknown, checks: Readonly<Record<string, Check>>, of: string): void {
  object(options, `the options of ${of}`);
  const given = options as Readonly<Record<string, unknown>>;
  for (const name in given) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) throw unknownName(`an option of ${of}`, name, Object.keys(checks));
    const value = given[name];
    if (value !== undefined) check(value, `\`${name}\` of ${of}`);
  }
}

/** The error for a name that is none of `names`. */
export function unknownName(what: string, name: unknown, names: readonly string[]): GroupwireError {
  const given = typeof name === "string" ? name : "";
  const best = names.map((one) => [likeness(given, one), one] as const).sort(([a], [b]) => b - a)[0];
  // With two thirds of the letters it is a slip of the finger, or another spelling.
  const hint = best && best[0] > 2 / 3 ? `: did you mean "${best[1]}"?` : ".";
  return failure(
    "invalid-argument",
    "own",
    `${shown(name)} is not ${what}${hint} There are ${names.map((one) => `"${one}"`).join(", ")}`,
  );
}

/** The share of letters that two names have in common at their beginnings and at their ends. */
function likeness(a: string, b: string): number {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()];
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return (start + end) / Math.max(one.length, other.length);
}

/**
 * Refuses a text that is not well-formed UTF-16: it has half of a surrogate pair, for which UTF-8 has no bytes, so that it would arrive as
 * another text.
 */
export function checkText(text: string, argument: string): void {
  if (!isWellFormed(text))
    throw failure(
      "ill-formed",
      "own",
      `${argument} is ill-formed: ${shown(text)} has half of a surrogate pair, as text has that was cut within a character`,
    );
}

export function isWellFormed(text: string & { readonly isWellFormed?: () => boolean }): boolean {
  // Browsers before 2023 lack the method. With `u`, surrogates that make a pair are one character.
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
}

/** Refuses a text or bytes of more than `most` bytes. */
export function checkSize(data: string | Uint8Array, most: number, argument: string): void {
  // A unit of UTF-16 takes three bytes at most.
  if (data.length * 3 <= most) return;
  const size = typeof data === "string" ? new TextEncoder().encode(data).length : data.length;
  if (size > most)
    throw failure("too-large", "limit", `${argument} has ${size} bytes, and at most ${most} are allowed: shorten it`);
}

/** True for a list of right values. A hole counts as undefined, unlike for `every`. */
export function isListOf(value: unknown, isRight: (item: unknown) => boolean): value is unknown[] {
  if (!Array.isArray(value)) return false;
  for (let at = 0; at < value.length; at += 1) if (!isRight(value[at])) return false;
  return true;
}

export function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}
