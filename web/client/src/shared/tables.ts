/**
 * The state of shared data: a reducer over operations. It ignores schemas and accepts any name, so
 * all programs that saw the same operations have the same state, whatever their version of the
 * application.
 */

import {
  arrayOf,
  authorOf,
  idAt,
  isCell,
  isCount,
  isKept,
  isName,
  isRecord,
  MAX_DEPTH,
  type Action,
  type Cell,
  type Levels,
} from "./operation.js";

/** A reducer of the application. */
export interface Reducer {
  readonly initial: unknown;
  /** Returns the next value, without changing `value`. */
  readonly reduce: (value: unknown, action: unknown, author: string) => unknown;
  /** Returns the action that undoes `action` on `value`; undefined: it cannot be undone. */
  readonly invert: ((action: unknown, value: unknown) => unknown) | undefined;
}

/**
 * How many deleted values are remembered, so that the undo of a deletion brings back a value only
 * if nobody did anything else with it since. They take 100 bytes each of a snapshot.
 */
const MAX_DELETED = 2000;

/** The first letter of a table's name, before the name of the data: its kind. */
export const CELLS = "m";
export const COUNTER = "c";
export const REDUCED = "r";
export const LOCK = "l";
export const TURNS = "t";

/** The journal, the inverse actions and the deletions of an operation. */
export interface Effect {
  /**
   * Functions that revert the changes, run from last to first. Undefined: the changes are final.
   */
  readonly journal?: (() => void)[];
  /**
   * Actions that undo the operation, the last one first, if nobody else has changed the same since.
   */
  readonly inverse: Action[];
  /** Values that it deleted. */
  readonly deleted: Deleted[];
}

type Deleted = readonly [table: string, key: string, stamp: string];

type Table = ReadonlyMap<string, unknown>;

const EMPTY: Table = new Map();

export class Tables {
  readonly #tables = new Map<string, Map<string, unknown>>();
  #deleted: Deleted[] = [];
  /** Of the parts of reducers' values, which mostly stay the same. */
  readonly #levels: Levels = new WeakMap();
  /** True if there were actions for reducers that this program does not have. */
  isPartial = false;

  /** `changed` is called for each change. */
  constructor(
    readonly reducers: ReadonlyMap<string, Reducer>,
    readonly changed: (table: string, key: string) => void,
  ) {}

  table(name: string): Table {
    return this.#tables.get(name) ?? EMPTY;
  }

  cell(name: string, key: unknown): Cell | undefined {
    return this.table(CELLS + name).get(key as string) as Cell | undefined;
  }

  /**
   * Applies the actions of an operation from the index `from` on. Locks and turns go to the
   * participant `sender`; without it, the operation is not ordered yet, and its actions on locks
   * and turns have no effect.
   */
  apply(actions: readonly Action[], stamp: string, sender: number | undefined, effect: Effect, from = 0): void {
    for (let at = from; at < actions.length; at += 1) {
      const action = actions[at] as Action;
      if (sender !== undefined) this.#hold(action, sender, effect);
      this.#act(action, stamp, idAt(stamp, at), effect);
    }
  }

  /** Applies an operation's actions on locks and turns, once it is ordered. */
  hold(actions: readonly Action[], sender: number, effect: Effect): void {
    for (const action of actions) this.#hold(action, sender, effect);
  }

  /** A participant has left the room for good. */
  departed(participant: number, effect: Effect): void {
    for (const [name, table] of this.#tables) {
      if (name[0] === LOCK && table.get("") === participant) this.#write(name, "", undefined, effect);
      if (name[0] === TURNS) this.#leaveTurns(name, participant, effect);
    }
  }

  /** Remembers what an ordered operation deleted. */
  settle(deleted: readonly Deleted[]): void {
    this.#deleted.push(...deleted);
    while (this.#deleted.length > MAX_DELETED) {
      const [table, key, stamp] = this.#deleted.shift() as Deleted;
      const cell = this.table(table).get(key) as Cell | undefined;
      if (cell?.length === 1 && cell[0] === stamp) this.#put(table, key, undefined);
    }
  }

  /** Forgets who holds locks and turns. */
  dropHolders(): void {
    for (const name of this.#tables.keys()) if (name[0] === LOCK || name[0] === TURNS) this.#put(name, "", undefined);
  }

  encode(): unknown {
    return [[...this.#tables].map(([name, table]) => [name, [...table]]), this.#deleted];
  }

  /** Replaces everything by what another participant encoded. Throws if that is malformed. */
  decode(json: unknown): void {
    const [tables, deleted] = arrayOf(json).map(arrayOf);
    if (!tables || !deleted) throw new TypeError("a state is malformed");
    for (const [name, table] of this.#tables) for (const key of table.keys()) this.changed(name, key);
    this.#tables.clear();
    for (const [name, entries] of tables.map(arrayOf))
      for (const [key, value] of arrayOf(entries).map(arrayOf))
        if (typeof name === "string" && isName(key)) this.#put(name, key, read(name, value));
    this.#deleted = deleted.filter(isDeleted);
    this.isPartial = false;
  }

  #act([name, verb, key, second, third]: Action, stamp: string, id: string, effect: Effect): void {
    switch (verb) {
      case "s":
        return this.#setCell(name, key, versioned(stamp, second, third), effect);
      case "i":
        return this.#setCell(
          name,
          id,
          versioned(stamp, second === undefined ? second : { k: key, v: second }, third),
          effect,
        );
      case "d":
        // Deleting a value that is deleted already has no effect, so that the first deletion's
        // stamp stays.
        return this.#setCell(name, this.cell(name, key)?.length === 1 ? 0 : key, [stamp], effect);
      case "p":
        return this.#setFields(name, key, patched(stamp, second, third), effect);
      case "r":
        // Brings a value back, if the last operations that changed it are still the expected ones.
        if (!isKept(second) || JSON.stringify(signature(this.cell(name, key))) !== JSON.stringify(second)) return;
        return this.#setCell(name, key, third === 0 ? undefined : third, effect);
      case "q":
        return this.#setFields(name, key, isRecord(second) ? Object.entries(second) : [], effect);
      case "+":
        return this.#add(COUNTER + name, name, key as number, effect);
      case "a":
        return this.#reduce(name, key, stamp, effect);
    }
  }

  #setCell(name: string, key: unknown, cell: unknown, effect: Effect): void {
    if (!isName(key) || (cell !== undefined && !isCell(cell))) return;
    const before = this.cell(name, key);
    // There is no value, and none is set.
    if (!before && (cell?.length ?? 1) === 1) return;
    this.#write(CELLS + name, key, cell, effect);
    effect.inverse.unshift([name, "r", key, signature(cell), before ?? 0]);
  }

  /**
   * Sets each field whose last change has the expected stamp. An entry has the expected stamp, the
   * new stamp, and the new value unless the field is removed.
   */
  #setFields(
    name: string,
    key: unknown,
    entries: readonly (readonly [field: string, entry: unknown])[],
    effect: Effect,
  ): void {
    const cell = this.cell(name, key);
    if (!cell || !isRecord(cell[1])) return;
    const value = new Map(Object.entries(cell[1]));
    const fields = new Map(Object.entries(cell[3] ?? {}));
    const before = new Map<string, unknown>();
    for (const [field, entry] of entries) {
      const [expected, stamp, content] = (Array.isArray(entry) ? entry : []) as unknown[];
      const last = fields.get(field) ?? cell[0];
      if ((expected !== 0 && expected !== last) || typeof stamp !== "string") continue;
      if (!isKept(content, MAX_DEPTH - 1)) continue;
      before.set(field, value.has(field) ? [stamp, last, value.get(field)] : [stamp, last]);
      if (stamp === cell[0]) fields.delete(field);
      else fields.set(field, stamp);
      if (content === undefined) value.delete(field);
      else value.set(field, content);
    }
    if (before.size === 0) return;
    const rest = fields.size > 0 ? [cell[2] ?? 1, Object.fromEntries(fields)] : cell.slice(2, 3);
    this.#write(CELLS + name, key as string, [cell[0], Object.fromEntries(value), ...rest], effect);
    effect.inverse.unshift([name, "q", key, Object.fromEntries(before)]);
  }

  /**
   * Adds to a counter, if the sum is a whole number that is exact. Beyond 2^53, adding 1 would
   * change nothing, for ever, and what was taken away again would not leave what was there before.
   */
  #add(table: string, name: string, difference: number, effect: Effect): void {
    // The sum with an object may throw.
    if (typeof difference !== "number") return;
    const sum = ((this.table(table).get("") as number) ?? 0) + difference;
    if (!Number.isSafeInteger(difference) || !Number.isSafeInteger(sum)) return;
    this.#write(table, "", sum, effect);
    effect.inverse.unshift([name, "+", -difference]);
  }

  #reduce(name: string, action: unknown, stamp: string, effect: Effect): void {
    const reducer = this.reducers.get(name);
    this.isPartial ||= !reducer;
    try {
      const before = this.table(REDUCED + name).get("") ?? reducer?.initial;
      const inverse = reducer?.invert?.(action, before);
      const after = reducer?.reduce(before, action, authorOf(stamp));
      if (!isKept(after, MAX_DEPTH, this.#levels)) return;
      this.#write(REDUCED + name, "", after, effect);
      if (inverse !== undefined) effect.inverse.unshift([name, "a", inverse]);
    } catch {
      // The action is malformed. It has no effect for anybody, because all run the same reducer.
    }
  }

  #hold([name, verb]: Action, sender: number, effect: Effect): void {
    const lock = LOCK + name;
    const holder = this.table(lock).get("");
    if (verb === "l" && holder === undefined) this.#write(lock, "", sender, effect);
    if (verb === "f" && holder === sender) this.#write(lock, "", undefined, effect);
    const turns = TURNS + name;
    const line = this.#line(turns);
    if (verb === "j" && !line.includes(sender)) this.#write(turns, "", [...line, sender], effect);
    if (verb === "k") this.#leaveTurns(turns, sender, effect);
    if (verb === "n" && line[0] === sender) this.#write(turns, "", [...line.slice(1), sender], effect);
  }

  #line(table: string): readonly number[] {
    return (this.table(table).get("") as readonly number[] | undefined) ?? [];
  }

  #leaveTurns(table: string, participant: number, effect: Effect): void {
    const rest = this.#line(table).filter((other) => other !== participant);
    this.#write(table, "", rest.length > 0 ? rest : undefined, effect);
  }

  #write(name: string, key: string, value: unknown, effect: Effect): void {
    const before = this.table(name).get(key);
    if (before === value) return;
    effect.journal?.push(() => this.#put(name, key, before));
    if (name.startsWith(CELLS) && (value as Cell | undefined)?.length === 1)
      effect.deleted.push([name, key, (value as Cell)[0]]);
    this.#put(name, key, value);
  }

  #put(name: string, key: string, value: unknown): void {
    const table = this.#tables.get(name) ?? new Map<string, unknown>();
    if (value === undefined) table.delete(key);
    else table.set(key, value);
    if (table.size > 0) this.#tables.set(name, table);
    else this.#tables.delete(name);
    this.changed(name, key);
  }
}

/** True for a deletion that another program remembers. */
function isDeleted(value: unknown): value is Deleted {
  if (!Array.isArray(value) || value.length !== 3) return false;
  return value.every((part) => typeof part === "string") && (value[0] as string).startsWith(CELLS);
}

/** What another program wrote into a table of its state; undefined if it is malformed. */
function read(table: string, value: unknown): unknown {
  switch (table[0]) {
    case COUNTER:
      return whole(value);
    case CELLS:
      return isCell(value) ? value : undefined;
    case LOCK:
      return isCount(value) ? value : undefined;
    case TURNS:
      return Array.isArray(value) && value.every(isCount) ? value : undefined;
    default:
      return value;
  }
}

/**
 * The value of a counter. Earlier versions of this package allowed fractions, and numbers beyond
 * the range in which they are exact.
 */
function whole(value: unknown): number | undefined {
  const number = typeof value === "number" ? Math.trunc(value) || 0 : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** A cell; 0 if there is no value. */
function versioned(stamp: string, value: unknown, version: unknown): unknown {
  return value === undefined ? 0 : isCount(version) && version > 1 ? [stamp, value, version] : [stamp, value];
}

/** The fields of a patch, which expect no stamp (0). */
function patched(stamp: string, set: unknown, removed: unknown): [field: string, entry: unknown][] {
  const fields = isRecord(set) ? Object.entries(set).map(([field, value]) => [field, [0, stamp, value]]) : [];
  const gone = Array.isArray(removed) ? removed.filter(isName).map((field) => [field, [0, stamp]]) : [];
  return [...fields, ...gone] as [string, unknown][];
}

/**
 * The stamps of the last changes of a value. Equal signatures mean equal values. The fields are
 * sorted, because undo and redo of a field move it to the end.
 */
function signature(cell: Cell | undefined): unknown {
  if (!cell) return 0;
  return cell[3] ? [cell[0], Object.fromEntries(Object.entries(cell[3]).sort())] : cell[0];
}
