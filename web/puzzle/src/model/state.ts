/**
 * The confirmed state of the puzzle. All participants who apply the same operations in the same order have the same
 * state. A snapshot is this state. It has whole numbers only, so that all machines agree.
 */

import { forgetOldest } from "../../../common/forget";
import { isCount, isId, isRecord, parseList } from "../../../common/parse";
import { scatter } from "./cut";
import { isPlace, type Operation } from "./operations";
import { neighbours, parseSpec, pieceCount, reach, type Spec } from "./spec";

/** Joined pieces, or a single one. They move together and share one displacement from their homes. */
export interface Group {
  readonly x: number;
  readonly y: number;
  /** The stacking order: the group that was dropped later lies above. */
  readonly z: number;
  /** In ascending order. */
  readonly pieces: readonly number[];
  /** The window that holds the group. */
  readonly holder: string | undefined;
}

/**
 * Limit of windows whose last operation number is remembered; only windows that sent recently can send an operation
 * twice.
 */
const AUTHORS = 500;

export class State {
  private readonly joined = new Map<string, number>();
  private readonly lastOf = new Map<string, number>();
  private version = 0;

  constructor(
    readonly spec: Spec,
    /** The number of the room's puzzle. */
    readonly game = 0,
    /** The group of each piece. */
    private readonly groups = scattered(spec),
  ) {}

  group(piece: number): Group {
    const group = this.groups[piece];
    if (!group) throw new RangeError(`no piece ${piece}`);
    return group;
  }

  /** All groups, in the order of their first pieces. */
  all(): Group[] {
    return this.groups.filter((group, piece) => group.pieces[0] === piece);
  }

  /** For each piece, the number of pieces in its group. */
  get sizes(): number[] {
    return this.groups.map(({ pieces }) => pieces.length);
  }

  /** For each window, the number of pieces it has joined. */
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

  /** True if no operation has changed the puzzle. */
  get isFresh(): boolean {
    return this.game === 0 && this.version === 0;
  }

  /** True if this operation, or a later one of its window, has been applied. */
  has({ by, n }: Pick<Operation, "by" | "n">): boolean {
    return n <= (this.lastOf.get(by) ?? -1);
  }

  /** The state after an operation: this one, modified, or a new one. */
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

  /**
   * Parses the result of `encode` from another participant. Throws if it is invalid, because the puzzle would be wrong
   * without it.
   */
  static decode(value: unknown): State {
    const spec = isRecord(value) ? parseSpec(value.spec) : undefined;
    if (!isRecord(value) || !spec || !isCount(value.game) || !isCount(value.version)) throw foreign();
    const state = new State(spec, value.game);
    state.version = value.version;
    const groups = parseList(value.groups, (item) => parseGroup(item, pieceCount(spec)));
    for (const group of groups) for (const piece of group.pieces) state.groups[piece] = group;
    // Each piece must be in exactly one group.
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
      // The group on the table stays where it is, and the dropped one moves there.
      const pieces = [...group.pieces, ...other.pieces].sort((a, b) => a - b);
      group = { ...group, x: other.x, y: other.y, pieces };
      count++;
    }
    this.put(group);
    if (count > 0) this.joined.set(by, (this.joined.get(by) ?? 0) + count);
    forgetOldest(this.joined, AUTHORS);
    return true;
  }

  /** The nearest neighbour in whose reach a group lies; of equally near ones the one with the lowest piece. */
  private match(group: Group): Group | undefined {
    let best: Group | undefined;
    let nearest = reach(this.spec);
    const around = group.pieces.flatMap((piece) => neighbours(this.spec, piece)).sort((a, b) => a - b);
    for (const piece of around) {
      const other = this.group(piece);
      // A held group is not on the table.
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
    // Deleted and set again, so that the map is in the order of last use in all windows.
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
