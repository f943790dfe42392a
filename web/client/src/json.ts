/**
 * What JSON carries. A value arrives as it was sent, but for what is named at `Payload`. Everything
 * else that `JSON.stringify` would turn into another value without a word is refused.
 */

import { HALF, isWellFormed } from "./arguments.js";
import { failure, shown } from "./errors.js";

/**
 * Deeper values are taken for such that contain themselves. Documents have some dozens of levels.
 */
const DEEPEST = 1000;

/** The most characters of a path and what is wrong there that an error repeats: the end of it. */
const LONGEST = 150;

/**
 * The JSON of a value, or an error that names the part of it that JSON cannot carry. `argument`
 * names the value in the error.
 */
export function toJson(value: unknown, argument: string): string {
  refuse(flawOf(value, false, DEEPEST), argument);
  const json = JSON.stringify(value);
  // A lone surrogate is escaped. To look at the result once is faster than to look at each text.
  if (json.includes("\\ud")) checkJson(value, argument);
  return json;
}

/** The check of `toJson` alone. */
export function checkJson(value: unknown, argument: string): void {
  refuse(flawOf(value, true, DEEPEST), argument);
}

function refuse(flaw: string | undefined, argument: string): void {
  if (flaw === undefined) return;
  const code = flaw.endsWith(HALF) ? "ill-formed" : "not-json";
  throw failure(code, "own", `${argument}: $${flaw.length > LONGEST ? `…${flaw.slice(-LONGEST)}` : flaw}`);
}

/** The first flaw: the end of its path, and what is wrong; undefined if there is none. */
function flawOf(value: unknown, looksAtTexts: boolean, levels: number): string | undefined {
  if (typeof value === "string") return looksAtTexts && !isWellFormed(value) ? HALF : undefined;
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return undefined;
  if (levels === 0) return " contains itself, or has too many levels";
  const { toJSON } = (value ?? {}) as { readonly toJSON?: unknown };
  const json: unknown = typeof toJSON === "function" ? toJSON.call(value) : null;
  // An invalid date has the JSON null.
  if (json !== null) return flawOf(json, looksAtTexts, levels - 1);
  if (!Array.isArray(value)) return flawOfMembers(value, looksAtTexts, levels);
  for (let at = 0; at < value.length; at += 1) {
    const flaw = flawOf(value[at], looksAtTexts, levels - 1);
    if (flaw !== undefined) return `[${at}]${flaw}`;
  }
  return undefined;
}

function flawOfMembers(value: unknown, looksAtTexts: boolean, levels: number): string | undefined {
  if (typeof value !== "object" || value === null) return notJson(shown(value));
  const prototype = Object.getPrototypeOf(value) as object | null;
  const isUsual = prototype === Object.prototype || prototype === null;
  // "Map", "Promise", and "Object" for plain objects and those of most classes.
  const kind = isUsual ? "Object" : Object.prototype.toString.call(value).slice(8, -1);
  let isEmpty = !isUsual;
  if (kind === "Object")
    for (const key in value) {
      if (!isUsual && !Object.hasOwn(value, key)) continue;
      isEmpty = false;
      const member = (value as Readonly<Record<string, unknown>>)[key];
      // A member that is undefined is left out, and reads as undefined again.
      const isLeftOut = member === undefined;
      const flaw =
        looksAtTexts && !isWellFormed(key) ? HALF : isLeftOut ? undefined : flawOf(member, looksAtTexts, levels - 1);
      if (flaw !== undefined) return `.${key}${flaw}`;
    }
  // The contents of such an object are hidden, unless the class is that of plain objects in another
  // window.
  return isEmpty && Object.getPrototypeOf(prototype) !== null ? notJson(`of the class ${kind}`) : undefined;
}

function notJson(what: string): string {
  return ` is ${what}, which JSON cannot carry`;
}
