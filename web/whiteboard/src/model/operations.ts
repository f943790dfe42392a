/**
 * Operations: the messages of finished actions on the channel `draw`. An operation is JSON of this form, in which every
 * part is optional:
 *
 *     {"by":"k3f9a2c1","n":12,"add":[[id, shape]...],"set":[[id, patch]...],"del":[id...]}
 *     {"by":"k3f9a2c1","n":13,"restore":[[id, version, stamp, shape or null]...]}
 *
 * `by` is the random id of the window, which outlives its sessions, and `n` counts its operations, so that an operation
 * that arrives twice is applied once.
 */

import { isCount, isId, isRecord, parseList } from "../../../common/parse";
import { parsePatch, parseShape, type Patch, type Shape } from "./shapes";

export interface Change {
  /** New objects. An object whose id is known, even as deleted, is not changed. */
  readonly add?: readonly (readonly [id: string, shape: Shape])[];
  /** Objects that are restored: the undo of a deletion. */
  readonly revive?: readonly (readonly [id: string, shape: Shape])[];
  readonly set?: readonly (readonly [id: string, patch: Patch])[];
  readonly del?: readonly string[];
}

export interface Operation extends Change {
  readonly by: string;
  readonly n: number;
  readonly restore?: readonly Entry[];
}

/**
 * The state of an object: its id, the number of its changes, the stamp of the last one, and its shape (null: deleted).
 */
export type Entry = readonly [id: string, version: number, stamp: string, shape: Shape | null];

/** The state with more changes is newer. The stamp decides between equals, so that all participants agree. */
export function isNewer(a: Entry, b: Entry | undefined): boolean {
  return b === undefined || a[1] > b[1] || (a[1] === b[1] && a[2] > b[2]);
}

/** All ids that an operation changes. */
export function touched(operation: Operation): string[] {
  const { add = [], revive = [], set = [], del = [], restore = [] } = operation;
  return [...add.map(first), ...revive.map(first), ...set.map(first), ...del, ...restore.map(first)];
}

function first(item: readonly [string, ...unknown[]]): string {
  return item[0];
}

/**
 * Approximate bytes of JSON per message: a quarter of the largest message, so that other messages are sent in between;
 * about a hundred strokes.
 */
const CHUNK = 16_000;

/** Splits a large change into messages, in order. */
export function split(change: Change): Change[] {
  const { add = [], revive = [], set = [], del = [] } = change;
  return [
    ...chunks(add).map((chunk) => ({ add: chunk })),
    ...chunks(revive).map((chunk) => ({ revive: chunk })),
    ...chunks(set).map((chunk) => ({ set: chunk })),
    ...chunks(del).map((chunk) => ({ del: chunk })),
  ];
}

export function chunks<T>(items: readonly T[]): T[][] {
  const result: T[][] = [];
  let size = CHUNK;
  for (const item of items) {
    const length = JSON.stringify(item).length + 1;
    if (size + length > CHUNK) {
      result.push([]);
      size = 0;
    }
    result.at(-1)?.push(item);
    size += length;
  }
  return result;
}

/** Parses an operation of another participant; undefined if it is invalid. Invalid parts are left out. */
export function parseOperation(value: unknown): Operation | undefined {
  if (!isRecord(value)) return undefined;
  const { by, n, add, revive, set, del, restore } = value;
  if (!isId(by) || !isCount(n)) return undefined;
  return {
    by,
    n,
    ...(add !== undefined && { add: parseList(add, parseAdded) }),
    ...(revive !== undefined && { revive: parseList(revive, parseAdded) }),
    ...(set !== undefined && { set: parseList(set, parseSet) }),
    ...(del !== undefined && { del: parseList(del, (item) => (isId(item) ? item : undefined)) }),
    ...(restore !== undefined && { restore: parseList(restore, parseEntry) }),
  };
}

export function parseEntry(value: unknown): Entry | undefined {
  if (!Array.isArray(value)) return undefined;
  const [id, version, stamp, content]: unknown[] = value;
  if (!isId(id) || !isCount(version) || typeof stamp !== "string" || stamp.length > 60) return undefined;
  if (content === null) return [id, version, stamp, null];
  const shape = parseShape(content);
  return shape && [id, version, stamp, shape];
}

function parseAdded(value: unknown): [string, Shape] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [id, content]: unknown[] = value;
  const shape = parseShape(content);
  return isId(id) && shape ? [id, shape] : undefined;
}

function parseSet(value: unknown): [string, Patch] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [id, patch]: unknown[] = value;
  return isId(id) && isRecord(patch) ? [id, parsePatch(patch)] : undefined;
}
