/**
 * The encoding of operations on shared data: JSON arrays whose parts have a fixed order, so that
 * messages resemble each other and are compressed well. Each has its author, the id of one program
 * in one room, and a number that grows with each operation of the author.
 *
 * ```
 * [author, number, name, verb, …]                  one action on the data of this name
 * [author, number, [[name, verb, …], …]]           several actions, which count together or not at all
 * [author, number, 0, length]                      the author remembers a longer state than the room has
 * [author, number, 1, length, index, count, text]  a piece of such a state
 * ```
 */

/** What an operation does with the data of one name. */
export type Action = readonly [name: string, verb: string, ...rest: unknown[]];

/**
 * A value with the stamp of the operation that set it, and the stamps of later operations that set
 * single fields.
 */
export type Cell = readonly [
  stamp: string,
  value?: unknown,
  version?: number,
  fields?: Readonly<Record<string, string>>,
];

export interface Operation {
  readonly author: string;
  readonly number: number;
  readonly content:
    | { readonly actions: readonly Action[] }
    | { readonly claim: number }
    | { readonly restore: number; readonly index: number; readonly count: number; readonly text: string };
}

/**
 * The longest author id, name and key, in characters. A preview's key contains name and key, and is
 * limited to 256 bytes.
 */
const MAX_NAME = 128;

/**
 * The characters of one piece of a state, at most. Each takes three bytes at most, and a message
 * has 60,000.
 */
export const PIECE = 18_000;

/** The most pieces of a state: as large as the largest snapshot of a stored room. */
const MAX_PIECES = 1024;

/**
 * The deepest nesting of a value. Deeper ones, which `JSON.parse` may still read, overflow the
 * stack of `JSON.stringify` at 5,000 or so.
 */
export const MAX_DEPTH = 1000;

/** Identifies an operation. */
export function stampOf(author: string, number: number): string {
  return `${author}.${number}`;
}

/** The author of the operation with this stamp. */
export function authorOf(stamp: string): string {
  return stamp.slice(0, stamp.lastIndexOf("."));
}

/** The id of an item that an action inserts: each action of an operation may insert one. */
export function idAt(stamp: string, at: number): string {
  return at > 0 ? `${stamp}.${at}` : stamp;
}

export function encodeActions(author: string, number: number, actions: readonly Action[]): string {
  const [only, ...more] = actions;
  return JSON.stringify(only && more.length === 0 ? [author, number, ...only] : [author, number, actions]);
}

/** Reads an operation that another program wrote. Returns undefined if it is none. */
export function parseOperation(text: string): Operation | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(json)) return undefined;
  const [author, number, third, ...rest] = json as unknown[];
  if (!isName(author) || !isCount(number)) return undefined;
  const content = parseContent(third, rest);
  return content && { author, number, content };
}

function parseContent(third: unknown, rest: readonly unknown[]): Operation["content"] | undefined {
  if (typeof third === "string") {
    const action = [third, ...rest];
    return isAction(action) ? { actions: [action] } : undefined;
  }
  if (Array.isArray(third)) return third.every(isAction) ? { actions: third } : undefined;
  const [length, index, count, text] = rest;
  if (!isLength(length)) return undefined;
  if (third === 0) return { claim: length };
  const isPiece = third === 1 && isCount(index) && isCount(count) && index < count && count <= MAX_PIECES;
  if (!isPiece || typeof text !== "string" || text.length > PIECE) return undefined;
  return { restore: length, index, count, text };
}

function isAction(value: unknown): value is Action {
  return Array.isArray(value) && isName(value[0]) && typeof value[1] === "string";
}

export function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_NAME;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The length of a state: a number of operations, or a fraction of it. */
export function isLength(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value);
}

export function isCell(value: unknown): value is Cell {
  if (!Array.isArray(value) || typeof value[0] !== "string" || value.length > 4) return false;
  const [, , version = 1, fields = {}] = value as unknown[];
  const isSigned = isRecord(fields) && Object.values(fields).every((stamp) => typeof stamp === "string");
  return isCount(version) && isSigned && isKept(value, MAX_DEPTH + 1);
}

/**
 * An array in what another program wrote. Throws if it is none: texts can be iterated over, too.
 */
export function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError("a state is malformed");
  return value;
}

/**
 * True if a snapshot can carry a value. `1e400` is read as Infinity, which is written as null: late
 * joiners would have another value than everybody else. `levels` remembers the levels of objects,
 * for values that share parts with earlier ones.
 */
export function isKept(value: unknown, most = MAX_DEPTH, levels?: Levels): boolean {
  return levelsOf(value, most, levels) <= most;
}

/** The levels of objects that can be carried. */
export type Levels = WeakMap<object, number>;

/** How deep a value is; Infinity if it is deeper than `most`, or cannot be carried. */
function levelsOf(value: unknown, most: number, levels: Levels | undefined): number {
  if (!isObject(value))
    return typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)) ? Infinity : 0;
  const known = levels?.get(value);
  if (known !== undefined || most === 0) return known ?? Infinity;
  let count = 1;
  for (const part of Array.isArray(value) ? (value as unknown[]) : Object.values(value))
    count = Math.max(count, 1 + levelsOf(part, most - 1, levels));
  if (count <= most) levels?.set(value, count);
  return count;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
