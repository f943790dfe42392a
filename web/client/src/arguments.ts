/**
 * Checks of arguments, at the edge of the public interface: an error names the argument, what is
 * right, and what it got. Rules are data rather than code, because every page loads them. Tables of
 * options are in `options.ts` and beside the functions that take them.
 */

import { failure, invalid, shown, type GroupwireError } from "./errors.js";

/** What an argument must be. */
export type Rule =
  /** Its type. Null and lists are no objects. */
  | "boolean"
  | "function"
  | "object"
  /** A text of at most this number of bytes. */
  | number
  /** A number, or a whole number. */
  | readonly [least: number, most: number, isWhole?: 1]
  /** One of some names. */
  | readonly string[]
  /** A list, and what each item of it must be. */
  | { readonly each: Rule }
  /**
   * A check of its own. `argument` names the argument as the application wrote it, such as "`room`
   * of `connect`".
   */
  | OwnRule;

type OwnRule = (value: unknown, argument: string) => unknown;

/** The options that a function takes. Those that are undefined count as left out. */
export type Rules<Options> = Readonly<Record<keyof Options, Rule>>;

/** Throws if a value is wrong. */
export function check(value: unknown, rule: Rule, argument: string): void {
  if (typeof rule === "function") return void rule(value, argument);
  if (typeof rule === "string") {
    if (typeof value !== rule || value === null || Array.isArray(value))
      throw invalid(argument, `of type ${rule}`, value);
  } else if (typeof rule === "number") {
    if (typeof value !== "string") throw invalid(argument, "a text", value);
    checkText(value, argument);
    checkSize(value, rule, argument);
  } else if ("each" in rule) {
    if (!Array.isArray(value)) throw invalid(argument, "a list", value);
    // Unlike `forEach`, it does not leave out holes.
    for (const item of value) check(item, rule.each, argument);
  } else if (typeof rule[0] === "string") {
    if (!rule.includes(value as never)) throw unknownName(argument, value, rule as readonly string[]);
  } else {
    const [least, most, isWhole] = rule as readonly [number, number, 1?];
    if (typeof value !== "number" || !(value >= least && value <= most) || (isWhole && value % 1 !== 0))
      throw invalid(argument, `a ${isWhole ? "whole " : ""}number from ${least} to ${most}`, value);
  }
}

/** A rule that only a function can tell. */
export function must(expected: string, isRight: (value: unknown) => boolean): OwnRule {
  return (value, argument) => {
    if (!isRight(value)) throw invalid(argument, expected, value);
  };
}

/** Checks the options of a function. An unknown one is an error that names the most similar one. */
export function checkOptions(options: unknown, rules: Readonly<Record<string, Rule>>, of: string): void {
  check(options, "object", `the options of ${of}`);
  const given = options as Readonly<Record<string, unknown>>;
  for (const name in given) {
    if (!Object.hasOwn(rules, name)) throw unknownName(`an option of ${of}`, name, Object.keys(rules));
    const value = given[name];
    if (value !== undefined) check(value, rules[name] as Rule, `\`${name}\` of ${of}`);
  }
}

/** The error for a name that is none of `names`. */
export function unknownName(what: string, name: unknown, names: readonly string[]): GroupwireError {
  const given = typeof name === "string" ? name.toLowerCase() : "";
  const best = names.reduce((best, one) => (alike(one, given) > alike(best, given) ? one : best), "");
  // With half of the letters it is a slip of the finger, or another spelling.
  const hint = best && alike(best, given) * 2 >= given.length ? `: did you mean "${best}"?` : ".";
  return failure("invalid-argument", "own", `${shown(name)} is not ${what}${hint} There are ${names.join(", ")}`);
}

/** The number of letters with which two names begin alike. */
function alike(one: string, other: string): number {
  let at = 0;
  while (at < other.length && one[at]?.toLowerCase() === other[at]) at += 1;
  return at;
}

/**
 * Refuses a text that is not well-formed UTF-16: it has half of a surrogate pair, for which UTF-8
 * has no bytes, so that it would arrive as another text.
 */
export function checkText(text: string, argument: string): void {
  if (!isWellFormed(text)) throw failure("ill-formed", "own", argument + HALF);
}

/** As text has that was cut within a character. */
export const HALF = " is ill-formed: it has half of a surrogate pair";

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
    throw failure("too-large", "limit", `${argument} has ${size} bytes, and at most ${most} are allowed`);
}
