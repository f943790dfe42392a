/**
 * The puzzle as the room's order makes it. Everybody who applies the same operations in the same order holds the same
 * state; a snapshot is this state and nothing else. Whole numbers only, so that all machines agree.
 */

import { forgetOldest } from "../../../common/forget";
import { isCount, isId, isRecord, parseList } from "../../../common/parse";
import { scatter } from "./cut";
import { isPlace, type Operation } from "./operations";
import { neighbours, parseSpec, pieceCount, reach, type Spec } from "./spec";

/** Pieces that are joined, or one alone. They move together, so they have one displacement from their home. */
export interface Group {
  readonly x: number;
  readonly y: number;
  /** Of two that overlap, the one that was dropped later lies above. */
  readonly z: number;
  /** Ascending. */
  readonly pieces: readonly number[];
  /** The window that has it in its hand. */
  readonly holder: string | undefined;
}

/** Windows that are remembered; only the ones that wrote lately can still send an operation again. */
const AUTHORS = 500;

export class State {
  private readonly joined = new Map<string, number>();
  private readonly lastOf = new Map<string, number>();
  private version = 0;

  constructor(
    readonly spec: Spec,
    /** Counts the puzzles of the room. */
    readonly game = 0,
    /** The group of each piece. */
    private readonly groups = scattered(spec),
  ) {}

  group(piece: number): Group {
    const group = this.groups[piece];
    if (!group) throw new RangeError(`no piece ${piece}`);
    return group;
  }

  /** Each group once, in the order of their first pieces. */
  all(): Group[] {
    return this.groups.filter((group, piece) => group.pieces[0] === piece);
  }

  /** How many pieces each piece is joined with, itself included. */
  get sizes(): number[] {
    return this.groups.map(({ pieces }) => pieces.length);
  }

  /** How many pieces each window has joined to others. */
  get joins(): ReadonlyMap<string, number> {
    return this.joined;
  }

  get isSolved(): boolean {
    return this.group(0).pieces.length === this.groups.length;
  }

  /** 0 to 1. */
  get progress(): number {
    return (this.groups.length - this.all().length) / (this.groups.length - 1);
  }

  get holders(): Set<string> {
    return new Set(this.groups.map(({ holder }) => holder).filter((holder) => holder !== undefined));
  }

  /** Nobody has done anything yet. */
  get isFresh(): boolean {
    return this.game === 0 && this.version === 0;
  }

  /** This operation, or a later one of its window, has been applied. */
  has({ by, n }: Pick<Operation, "by" | "n">): boolean {
    return n <= (this.lastOf.get(by) ?? -1);
  }

  /** What it is afterwards: this state, changed, or a new one. */
  apply(operation: Operation): State {
    if (this.has(operation)) return this;
    const after = this.changed(operation);
    after.remember(operation.by, operation.n);
    return after;
  }

  isNewerThan(other: State): boolean {
    return this.game > other.game || (this.game === other.game && this.version > other.version);
  }

  clone(): State {
    const copy = new State(this.spec, this.game, [...this.groups]);
    copy.version = this.version;
    for (const [by, count] of this.joined) copy.joined.set(by, count);
    for (const [by, n] of this.lastOf) copy.lastOf.set(by, n);
    return copy;
  }

  encode(): object {
    const { spec, game, version } = this;
    const groups = this.all().map(({ x, y, z, pieces, holder }) => [x, y, z, pieces, holder ?? null]);
    return { spec, game, version, groups, joined: [...this.joined], authors: [...this.lastOf] };
  }

  /** Reads what another participant made of `encode`. Throws if it is none: without it the puzzle would be wrong. */
  static decode(value: unknown): State {
    const spec = isRecord(value) ? parseSpec(value.spec) : undefined;
    if (!isRecord(value) || !spec || !isCount(value.game) || !isCount(value.version)) throw foreign();
    const state = new State(spec, value.game);
    state.version = value.version;
    const groups = parseList(value.groups, (item) => parseGroup(item, pieceCount(spec)));
    for (const group of groups) for (const piece of group.pieces) state.groups[piece] = group;
    // Each piece in one group, which knows it.
    const pieces = groups.reduce((sum, group) => sum + group.pieces.length, 0);
    const isTorn = (group: Group): boolean => group.pieces.some((piece) => state.groups[piece] !== group);
    if (pieces !== pieceCount(spec) || state.groups.some(isTorn)) throw foreign();
    for (const [by, count] of parseList(value.joined, parseCount).slice(-AUTHORS)) state.joined.set(by, count);
    for (const [by, n] of parseList(value.authors, parseCount)) state.remember(by, n);
    return state;
  }

  private changed(operation: Operation): State {
    if ("restore" in operation) return this.restored(operation.restore);
    if (operation.game !== this.game) return this;
    if ("start" in operation) return this.started(operation.start);
    const isDone =
      "grab" in operation
        ? this.grab(operation.grab, operation.by)
        : "drop" in operation
          ? this.drop(operation.drop, operation.x, operation.y, operation.by)
          : this.free(operation.free);
    if (isDone) this.version++;
    return this;
  }

  private started(spec: Spec): State {
    const state = new State(spec, this.game + 1);
    for (const [by, n] of this.lastOf) state.remember(by, n);
    return state;
  }

  private restored(value: unknown): State {
    let state: State;
    try {
      state = State.decode(value);
    } catch {
      return this;
    }
    if (!state.isNewerThan(this)) return this;
    for (const [by, n] of this.lastOf) if (!state.has({ by, n })) state.remember(by, n);
    return state;
  }

  private grab(piece: number, by: string): boolean {
    const group = this.groups[piece];
    if (!group || group.holder !== undefined) return false;
    this.put({ ...group, holder: by });
    return true;
  }

  private drop(piece: number, x: number, y: number, by: string): boolean {
    const held = this.groups[piece];
    if (!held || held.holder !== by) return false;
    let group: Group = { ...held, x, y, z: this.version, holder: undefined };
    let count = 0;
    for (let other = this.match(group); other; other = this.match(group)) {
      // What lies on the table stays where it is; what was dropped goes there.
      const pieces = [...group.pieces, ...other.pieces].sort((a, b) => a - b);
      group = { ...group, x: other.x, y: other.y, pieces };
      count++;
    }
    this.put(group);
    if (count > 0) this.joined.set(by, (this.joined.get(by) ?? 0) + count);
    forgetOldest(this.joined, AUTHORS);
    return true;
  }

  /** The nearest neighbour that a group lies right beside; of equally near ones the one with the lowest number. */
  private match(group: Group): Group | undefined {
    let best: Group | undefined;
    let nearest = reach(this.spec);
    const around = group.pieces.flatMap((piece) => neighbours(this.spec, piece)).sort((a, b) => a - b);
    for (const piece of around) {
      const other = this.group(piece);
      // What somebody has in hand lies nowhere yet.
      if (other.holder !== undefined || group.pieces.includes(piece)) continue;
      const distance = Math.max(Math.abs(other.x - group.x), Math.abs(other.y - group.y));
      if (distance > nearest || (best && distance === nearest)) continue;
      best = other;
      nearest = distance;
    }
    return best;
  }

  private free(holder: string): boolean {
    const held = this.all().filter((group) => group.holder === holder);
    for (const group of held) this.put({ ...group, holder: undefined });
    return held.length > 0;
  }

  private put(group: Group): void {
    for (const piece of group.pieces) this.groups[piece] = group;
  }

  private remember(by: string, n: number): void {
    // Out and in again: the map's order is the order of last use, alike for everybody.
    this.lastOf.delete(by);
    this.lastOf.set(by, n);
    forgetOldest(this.lastOf, AUTHORS);
  }
}

function scattered(spec: Spec): Group[] {
  return scatter(spec).map(({ x, y }, piece) => ({ x, y, z: 0, pieces: [piece], holder: undefined }));
}

function foreign(): SyntaxError {
  return new SyntaxError("the room's snapshot is not a puzzle");
}

function parseGroup(value: unknown, count: number): Group | undefined {
  if (!Array.isArray(value)) return undefined;
  const [x, y, z, list, holder]: unknown[] = value;
  if (!isPlace(x) || !isPlace(y) || !isCount(z) || (holder !== null && !isId(holder))) return undefined;
  const pieces = parseList(list, (piece) => (isCount(piece) && piece < count ? piece : undefined));
  if (pieces.length === 0 || pieces.some((piece, i) => i > 0 && piece <= (pieces[i - 1] ?? piece))) return undefined;
  return { x, y, z, pieces, holder: holder ?? undefined };
}

function parseCount(value: unknown): [string, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [by, n]: unknown[] = value;
  return isId(by) && isCount(n) ? [by, n] : undefined;
}
