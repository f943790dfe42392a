/**
 * What a finished action sends on the `draw` channel. An operation is JSON of this form, every part optional:
 *
 *     {"by":"k3f9a2c1","n":12,"add":[[id, shape]...],"set":[[id, patch]...],"del":[id...]}
 *     {"by":"k3f9a2c1","n":13,"restore":[[id, version, stamp, shape or null]...]}
 *
 * `by` names the window that made it (random, so that it outlives a session), `n` counts its operations: an
 * operation that arrives twice is recognised and does nothing the second time.
 */

import { isCount, isId, isRecord, parseList } from "../../../common/parse";
import { parsePatch, parseShape, type Patch, type Shape } from "./shapes";

export interface Change {
  /** New objects. One that is known already, even as deleted, stays as it is. */
  readonly add?: readonly (readonly [id: string, shape: Shape])[];
  /** Objects that come back as they were: undo of a deletion. */
  readonly revive?: readonly (readonly [id: string, shape: Shape])[];
  readonly set?: readonly (readonly [id: string, patch: Patch])[];
  readonly del?: readonly string[];
}

export interface Operation extends Change {
  readonly by: string;
  readonly n: number;
  readonly restore?: readonly Entry[];
}

/** What is known of an object: how often it was changed, by which operation last, and what it is (null: deleted). */
export type Entry = readonly [id: string, version: number, stamp: string, shape: Shape | null];

/** Of two states of an object the one with more changes is newer; the stamp decides between equals, for everybody alike. */
export function isNewer(a: Entry, b: Entry | undefined): boolean {
  return b === undefined || a[1] > b[1] || (a[1] === b[1] && a[2] > b[2]);
}

/** All ids that an operation touches. */
export function touched(operation: Operation): string[] {
  const { add = [], revive = [], set = [], del = [], restore = [] } = operation;
  return [...add.map(first), ...revive.map(first), ...set.map(first), ...del, ...restore.map(first)];
}

function first(item: readonly [string, ...unknown[]]): string {
  return item[0];
}

/**
 * Bytes of JSON in one message, about: a quarter of what the server takes at most, so that other messages get
 * their turn in between, and still a hundred strokes.
 */
const CHUNK = 16_000;

/** A change of a whole board in pieces that fit into messages, in order. */
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

/** Reads what another participant sent; undefined if it is no operation. Parts that make no sense are left out. */
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
