/**
 * The board as the room's order makes it. Everybody who applies the same operations in the same order holds the
 * same state; a snapshot is this state and nothing else.
 */

import { forgetOldest } from "../../../common/forget";
import { isCount, isId, isRecord, parseList } from "../../../common/parse";
import { isNewer, parseEntry, touched, type Entry, type Operation } from "./operations";
import { patched, type Shape } from "./shapes";

/**
 * Deleted objects are remembered so that a restore does not bring them back. The oldest are forgotten: 4,000 take
 * about 100 KB of a snapshot, and only somebody who was away since then could still hold the object.
 */
const TOMBSTONES = 4000;

/** Windows whose last operation number is remembered; only the ones that wrote lately can still send one again. */
const AUTHORS = 500;

export class State {
  private readonly living = new Map<string, Entry>();
  private readonly tombstones = new Map<string, Entry>();
  private readonly lastOf = new Map<string, number>();

  /** Returns the ids that may look different now. */
  apply(operation: Operation): string[] {
    if (this.has(operation)) return [];
    this.remember(operation.by, operation.n);
    const stamp = `${operation.by}.${operation.n}`;
    const { add = [], revive = [], set = [], del = [], restore = [] } = operation;
    for (const [id, shape] of add) if (this.entry(id) === undefined) this.change(id, stamp, shape);
    for (const [id, shape] of revive) if (!this.living.has(id)) this.change(id, stamp, shape);
    for (const [id, patch] of set) {
      const shape = this.shape(id);
      if (shape) this.change(id, stamp, patched(shape, patch));
    }
    for (const id of del) if (this.living.has(id)) this.change(id, stamp, null);
    for (const entry of restore) if (isNewer(entry, this.entry(entry[0]))) this.put(entry);
    return touched(operation);
  }

  /** This operation, or a later one of its window, has been applied. */
  has(operation: { readonly by: string; readonly n: number }): boolean {
    return operation.n <= (this.lastOf.get(operation.by) ?? -1);
  }

  shape(id: string): Shape | undefined {
    return this.living.get(id)?.[3] ?? undefined;
  }

  entry(id: string): Entry | undefined {
    return this.living.get(id) ?? this.tombstones.get(id);
  }

  ids(): Iterable<string> {
    return this.living.keys();
  }

  *entries(): Iterable<Entry> {
    yield* this.tombstones.values();
    yield* this.living.values();
  }

  get isEmpty(): boolean {
    return this.living.size === 0 && this.tombstones.size === 0;
  }

  /** Takes over what the other has and this one lacks or has in an older version. */
  merge(other: State): void {
    for (const entry of other.entries()) if (isNewer(entry, this.entry(entry[0]))) this.put(entry);
  }

  encode(): string {
    return JSON.stringify({ authors: [...this.lastOf], objects: [...this.entries()] });
  }

  /** Reads a snapshot that another participant made. Throws if it is none: without it the board would be wrong. */
  static decode(text: string): State {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) throw new SyntaxError("the room's snapshot is not a whiteboard");
    const state = new State();
    for (const [by, n] of parseList(value.authors, parseAuthor)) state.remember(by, n);
    for (const entry of parseList(value.objects, parseEntry)) state.put(entry);
    return state;
  }

  private change(id: string, stamp: string, shape: Shape | null): void {
    this.put([id, (this.entry(id)?.[1] ?? 0) + 1, stamp, shape]);
  }

  private put(entry: Entry): void {
    const id = entry[0];
    if (entry[3] !== null) {
      this.tombstones.delete(id);
      this.living.set(id, entry);
      return;
    }
    this.living.delete(id);
    this.tombstones.delete(id);
    this.tombstones.set(id, entry);
    forgetOldest(this.tombstones, TOMBSTONES);
  }

  private remember(by: string, n: number): void {
    // Out and in again: the map's order is the order of last use, alike for everybody.
    this.lastOf.delete(by);
    this.lastOf.set(by, n);
    forgetOldest(this.lastOf, AUTHORS);
  }
}

function parseAuthor(value: unknown): [string, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [by, n]: unknown[] = value;
  return isId(by) && isCount(n) ? [by, n] : undefined;
}
