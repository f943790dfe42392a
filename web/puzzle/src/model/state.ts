/**
 * The state of the puzzle: what the moves of all windows make of it, in the room's order. It is
 * JSON and has whole numbers only, so that all machines agree.
 */

import { isCount, isId, isRecord } from "../../../common/parse";
import { scatter } from "./cut";
import { isPlace, parseMove, type Move } from "./moves";
import { isSameSpec, neighbours, parseSpec, pieceCount, reach, type Spec } from "./spec";

/**
 * Joined pieces, or a single one. They move together and share one displacement from their homes.
 */
export interface Group {
  readonly x: number;
  readonly y: number;
  /** The stacking order: the group that was dropped later lies above. */
  readonly z: number;
  /** The numbers of its pieces, in ascending order. */
  readonly pieces: readonly number[];
  /** The window that holds the group. */
  readonly holder?: string | undefined;
}

/** The pieces on the table, as snapshots have them. */
export interface Pieces {
  readonly spec: Spec;
  /** The number of the room's puzzle. */
  readonly game: number;
  /** The number of moves that have changed this puzzle. */
  readonly version: number;
  /** The groups, in the order of their first pieces. */
  readonly groups: readonly Group[];
  /** For each window, the number of pieces it has joined; those that joined last are at the end. */
  readonly joined: readonly (readonly [window: string, count: number])[];
}

/** The most windows whose joined pieces are counted. */
const AUTHORS = 500;

/**
 * Where numbers that count stop. Nobody counts so far, but a snapshot of another program may begin
 * there.
 */
const MOST = 2 ** 40;

/** The pieces of a puzzle that nobody has touched. */
export function scattered(spec: Spec, game = 0): Pieces {
  const groups = scatter(spec).map(({ x, y }, piece) => ({ x, y, z: 0, pieces: [piece] }));
  return { spec, game, version: 0, groups, joined: [] };
}

/**
 * The pieces after a move of the window `by`; the same object if it has no effect. Throws if one of
 * them is malformed.
 */
export function play(pieces: Pieces, move: Move, by: string): Pieces {
  const checked = parseMove(move);
  if (!checked || !isId(by)) throw new TypeError("a move is malformed");
  // The move was meant for an earlier puzzle.
  if (checked.game !== pieces.game) return pieces;
  if ("start" in checked) return scattered(checked.start, (pieces.game + 1) % MOST);
  const state = State.of(pieces);
  if ("grab" in checked) return grab(state, checked.grab, by);
  if ("drop" in checked) return drop(state, checked.drop, checked.x, checked.y, by);
  return free(state, checked.free);
}

/** Checks pieces that another program has put into a snapshot. */
export function isSound(value: unknown): value is Pieces {
  const spec = isRecord(value) ? parseSpec(value.spec) : undefined;
  if (!isRecord(value) || !spec || !isSameSpec(spec, value.spec as Spec)) return false;
  if (!isSmall(value.game) || !isSmall(value.version)) return false;
  const { groups, joined } = value;
  if (!Array.isArray(groups) || !groups.every((group) => isGroup(group, pieceCount(spec)))) return false;
  // Each piece is in exactly one group.
  const pieces = (groups as Group[]).flatMap((group) => group.pieces);
  if (pieces.length !== pieceCount(spec) || new Set(pieces).size !== pieces.length) return false;
  return Array.isArray(joined) && joined.every(isJoined);
}

/** {@link Pieces} to look at. */
export class State {
  private static readonly known = new WeakMap<Pieces, State>();
  /** The group of each piece. */
  private readonly groups: readonly Group[];
  /** For each window, the number of pieces it has joined. */
  readonly joins: ReadonlyMap<string, number>;

  private constructor(readonly raw: Pieces) {
    const groups: Group[] = [];
    for (const group of raw.groups) for (const piece of group.pieces) groups[piece] = group;
    this.groups = groups;
    this.joins = new Map(raw.joined);
  }

  static isKnown(pieces: Pieces): boolean {
    return State.known.has(pieces);
  }

  static of(pieces: Pieces): State {
    const state = State.known.get(pieces) ?? new State(pieces);
    State.known.set(pieces, state);
    return state;
  }

  get spec(): Spec {
    return this.raw.spec;
  }

  /** The number of the room's puzzle. */
  get game(): number {
    return this.raw.game;
  }

  group(piece: number): Group {
    const group = this.groups[piece];
    if (!group) throw new RangeError(`no piece ${piece}`);
    return group;
  }

  /** All groups, in the order of their first pieces. */
  all(): readonly Group[] {
    return this.raw.groups;
  }

  /** For each piece, the number of pieces in its group. */
  get sizes(): number[] {
    return this.groups.map(({ pieces }) => pieces.length);
  }

  get isSolved(): boolean {
    return this.raw.groups.length === 1;
  }

  /** 0 to 1. */
  get progress(): number {
    return (this.groups.length - this.raw.groups.length) / (this.groups.length - 1);
  }

  get holders(): Set<string> {
    return new Set(this.raw.groups.map(({ holder }) => holder).filter((holder) => holder !== undefined));
  }
}

function grab(state: State, piece: number, by: string): Pieces {
  const group = state.group(piece);
  return group.holder === undefined ? changed(state.raw, [group], { ...group, holder: by }) : state.raw;
}

function drop(state: State, piece: number, x: number, y: number, by: string): Pieces {
  const { raw } = state;
  const held = state.group(piece);
  if (held.holder !== by) return raw;
  const { holder: _, ...rest } = held;
  let group: Group = { ...rest, x, y, z: raw.version };
  const joined = [held];
  for (let other = match(state, group); other; other = match(state, group)) {
    // The group on the table stays where it is, and the dropped one moves there.
    const pieces = [...group.pieces, ...other.pieces].sort((a, b) => a - b);
    group = { ...group, x: other.x, y: other.y, pieces };
    joined.push(other);
  }
  const after = changed(raw, joined, group);
  const count = joined.length - 1;
  if (count === 0) return after;
  const others = raw.joined.filter(([window]) => window !== by);
  const all = Math.min((state.joins.get(by) ?? 0) + count, MOST);
  return { ...after, joined: [...others, [by, all] as const].slice(-AUTHORS) };
}

function free({ raw }: State, holder: string): Pieces {
  const held = raw.groups.filter((group) => group.holder === holder);
  if (held.length === 0) return raw;
  const groups = raw.groups.map((group) => (group.holder === holder ? { ...group, holder: undefined } : group));
  return { ...raw, version: next(raw.version), groups };
}

/**
 * The nearest neighbour in whose reach a group lies; of equally near ones the one with the lowest
 * piece.
 */
function match(state: State, group: Group): Group | undefined {
  let best: Group | undefined;
  let nearest = reach(state.spec);
  const around = group.pieces.flatMap((piece) => neighbours(state.spec, piece)).sort((a, b) => a - b);
  for (const piece of around) {
    const other = state.group(piece);
    // A held group is not on the table.
    if (other.holder !== undefined || group.pieces.includes(piece)) continue;
    const distance = Math.max(Math.abs(other.x - group.x), Math.abs(other.y - group.y));
    if (distance > nearest || (best && distance === nearest)) continue;
    best = other;
    nearest = distance;
  }
  return best;
}

/** Replaces groups by one that has all of their pieces. */
function changed(raw: Pieces, before: readonly Group[], after: Group): Pieces {
  const others = raw.groups.filter((group) => !before.includes(group));
  const groups = [...others, after].sort((a, b) => (a.pieces[0] ?? 0) - (b.pieces[0] ?? 0));
  return { ...raw, version: next(raw.version), groups };
}

function next(version: number): number {
  return Math.min(version + 1, MOST);
}

function isSmall(value: unknown): value is number {
  return isCount(value) && value <= MOST;
}

function isGroup(value: unknown, count: number): value is Group {
  if (!isRecord(value)) return false;
  const { x, y, z, pieces, holder } = value;
  if (!isPlace(x) || !isPlace(y) || !isSmall(z) || (holder !== undefined && !isId(holder))) return false;
  const isPiece = (piece: unknown): boolean => isCount(piece) && piece < count;
  return Array.isArray(pieces) && pieces.length > 0 && pieces.every(isPiece) && isAscending(pieces as number[]);
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? number));
}

function isJoined(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [window, count]: unknown[] = value;
  return isId(window) && isSmall(count);
}
