/**
 * The confirmed state of the board. All participants who apply the same operations in the same order have the same
 * state. A snapshot is this state.
 */

import { forgetOldest } from "../../../common/forget";
import { isCount, isId, isRecord, parseList } from "../../../common/parse";
import { isNewer, parseEntry, touched, type Entry, type Operation } from "./operations";
import { patched, type Shape } from "./shapes";

/**
 * Limit of deleted objects that are remembered, so that a restore does not bring them back. The oldest are forgotten:
 * 4,000 take about 100 KB of a snapshot, and only a participant who was away since then could still have the object.
 */
const TOMBSTONES = 4000;

/**
 * Limit of windows whose last operation number is remembered; only windows that sent recently can send an operation
 * twice.
 */
const AUTHORS = 500;

export class State {
  private readonly living = new Map<string, Entry>();
  private readonly tombstones = new Map<string, Entry>();
  private readonly lastOf = new Map<string, number>();

  /** Applies an operation. Returns the ids of objects that may have changed. */
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

  /** True if this operation, or a later one of its window, has been applied. */
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

  /** Takes over the objects that are missing here or older here. */
  merge(other: State): void {
    for (const entry of other.entries()) if (isNewer(entry, this.entry(entry[0]))) this.put(entry);
  }

  encode(): string {
    return JSON.stringify({ authors: [...this.lastOf], objects: [...this.entries()] });
  }

  /** Parses a snapshot of another participant. Throws if it is invalid, because the board would be wrong without it. */
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
    // Deleted and set again, so that the map is in the order of last use in all windows.
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
