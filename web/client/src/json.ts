/**
 * What JSON carries. A value arrives as it was sent, but for what is named at `Payload`. Everything else that `JSON.stringify` would turn
 * into another value without a word is refused.
 */

import { isWellFormed } from "./arguments.js";
import { failure, shown } from "./errors.js";

/** Deeper values are taken for such that contain themselves. Documents have some dozens of levels. */
const DEEPEST = 1000;

/** The most characters of a path that an error repeats. */
const LONGEST_PATH = 80;

/** Where a value is wrong, as the end of a path, and why. */
type Flaw = [path: string, code: "not-json" | "ill-formed", why: string];

/** The JSON of a value, or an error that names the part of it that JSON cannot carry. `argument` names the value in the error. */
export function toJson(value: unknown, argument: string): string {
  refuse(flawOf(value, "", DEEPEST, false), argument);
  const json = JSON.stringify(value);
  // A lone surrogate is escaped. To look at the result once is faster than to look at each text.
  if (json.includes("\\ud")) checkJson(value, argument);
  return json;
}

/** The check of `toJson` alone. */
export function checkJson(value: unknown, argument: string): void {
  refuse(flawOf(value, "", DEEPEST, true), argument);
}

function refuse(flaw: Flaw | undefined, argument: string): void {
  if (!flaw) return;
  const [path, code, why] = flaw;
  const place = path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path;
  throw failure(code, "own", `$${place} of ${argument} ${why}`);
}

/** The first flaw; undefined if there is none. `key` is the value's name in the object that contains it. */
function flawOf(value: unknown, key: string, levels: number, looksAtTexts: boolean): Flaw | undefined {
  switch (typeof value) {
    case "string":
      return looksAtTexts && !isWellFormed(value) ? ["", "ill-formed", HALF] : undefined;
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : notJson(shown(value));
    case "object":
      break;
    case "bigint":
      if (hasJson(value)) break;
      return notJson(shown(value));
    default:
      return notJson(shown(value));
  }
  if (value === null) return undefined;
  if (levels === 0) return ["", "not-json", "contains itself, or has too many levels"];
  if (Array.isArray(value)) return flawOfItems(value, levels - 1, looksAtTexts);
  if (ArrayBuffer.isView(value)) return notJson("a view of bytes");
  if (hasJson(value)) {
    if (value instanceof Date && Number.isNaN(value.getTime())) return notJson("an invalid Date");
    return flawOf(value.toJSON(key), key, levels - 1, looksAtTexts);
  }
  return flawOfMembers(value, levels - 1, looksAtTexts);
}

function flawOfItems(items: readonly unknown[], levels: number, looksAtTexts: boolean): Flaw | undefined {
  for (let at = 0; at < items.length; at += 1) {
    const flaw = flawOf(items[at], String(at), levels, looksAtTexts);
    if (flaw) return within(`[${at}]`, flaw);
  }
  return undefined;
}

function flawOfMembers(value: object, levels: number, looksAtTexts: boolean): Flaw | undefined {
  const prototype = Object.getPrototypeOf(value) as object | null;
  const isUsual = prototype === Object.prototype || prototype === null;
  if (!isUsual && kindOf(value) !== "Object") return notJson(`of the class ${kindOf(value)}`);
  let isEmpty = true;
  for (const key in value) {
    if (!isUsual && !Object.hasOwn(value, key)) continue;
    isEmpty = false;
    if (looksAtTexts && !isWellFormed(key)) return [`.${shown(key)}`, "ill-formed", HALF];
    const member = (value as Readonly<Record<string, unknown>>)[key];
    // A member that is undefined is left out, and reads as undefined again.
    if (member === undefined) continue;
    const flaw = flawOf(member, key, levels, looksAtTexts);
    if (flaw) return within(`.${key}`, flaw);
  }
  // The state of such an object is hidden, unless the class is that of plain objects in another window.
  const isHidden = isEmpty && !isUsual && Object.getPrototypeOf(prototype) !== null;
  return isHidden ? notJson("an object of a class without members") : undefined;
}

const HALF = "is ill-formed text: it has half of a surrogate pair";

function notJson(what: string): Flaw {
  return ["", "not-json", `is ${what}, which JSON cannot carry`];
}

function within(place: string, flaw: Flaw): Flaw {
  flaw[0] = place + flaw[0];
  return flaw;
}

function hasJson(value: unknown): value is { toJSON(key: string): unknown } {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === "function";
}

/** The name of a kind of objects: "Map", "Promise", and "Object" for plain ones and those of most classes. */
function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
