/** Maps and lists: the last operation on a key, in the room's order, wins. */

import { check, checkText, must } from "../arguments.js";
import { failure } from "../errors.js";
import { checkJson } from "../json.js";
import { Checker, type Versions } from "../schema/check.js";
import type { InputOf, OutputOf, StandardSchema } from "../schema/standard.js";
import { between, orderOf } from "./between.js";
import type { Context, Definition, Shown } from "./context.js";
import { isName, isRecord, type Cell } from "./operation.js";
import { CELLS } from "./tables.js";

/** A map from keys to values. The last operation on a key, or on a field of its value, counts. */
export interface SharedMap<Input, Output> extends Shown<ReadonlyMap<string, Output>> {
  /**
   * The value of a key, the same object until it changes; undefined if there is none, or if it does
   * not fit the schema.
   */
  get(key: string): Output | undefined;
  /** Sets the value of a key. */
  set(key: string, value: Input): void;
  /**
   * Sets fields of a value that is an object; `undefined` removes a field. Does nothing if there is
   * no such value.
   */
  patch(key: string, fields: Partial<Input>): void;
  /** Removes a key and its value. */
  delete(key: string): void;
  /**
   * Shows others an unfinished change, such as a drag. The preview ends with this program's next
   * operation on the key; undefined ends it without one. It may be lost, and is sent at most as
   * often as the QoS of previews says.
   */
  preview(key: string, fields: Partial<Input> | undefined): void;
  /** The value with the previews of other participants applied to {@link get}. */
  previewed(key: string): Output | undefined;
}

/** A list. Items keep their id when they are moved or changed. */
export interface SharedList<Input, Output> extends Shown<readonly Output[]> {
  /** The ids of the items, in their order. */
  readonly ids: readonly string[];
  /** The item with this id; undefined if there is none, or if it does not fit the schema. */
  get(id: string): Output | undefined;
  /** Inserts an item before the one at `index`, and returns its id. */
  insert(index: number, value: Input): string;
  /** Adds an item at the end, and returns its id. */
  push(value: Input): string;
  /** Replaces the item with this id. */
  set(id: string, value: Input): void;
  /** Moves an item, so that it has this index afterwards. */
  move(id: string, index: number): void;
  /** Removes the item with this id. */
  delete(id: string): void;
}

type Any = StandardSchema;

/**
 * A map of shared data.
 *
 * @param schema - of the values. A value of another participant that does not fit is hidden from
 *   this program only
 */
export function map<Schema extends Any = Any>(
  schema?: Schema,
  versions: Versions = {},
): Definition<SharedMap<InputOf<Schema>, OutputOf<Schema>>> {
  return {
    open: (context, name) => new MapView(context, name, new Checker(name, schema, versions)) as never,
  };
}

/** A list of shared data, whose items fit a schema. */
export function list<Schema extends Any = Any>(
  schema?: Schema,
  versions: Versions = {},
): Definition<SharedList<InputOf<Schema>, OutputOf<Schema>>> {
  return {
    open: (context, name) => new ListView(context, name, new Checker(name, schema, versions)) as never,
  };
}

/** The values of one name, checked by a schema. */
class Cells {
  readonly subscribe: Shown<unknown>["subscribe"];
  /** The checked value of each cell. Cells are replaced, never changed. */
  readonly #checked = new WeakMap<Cell, { readonly value: unknown; readonly isValid: boolean }>();

  constructor(
    readonly context: Context,
    readonly name: string,
    readonly checker: Checker,
    changed: (key: string) => void,
  ) {
    this.subscribe = (listener) => context.onChange(CELLS + name, listener);
    context.watch(CELLS + name, changed);
  }

  cell(key: string): Cell | undefined {
    const cell = this.context.tables().cell(this.name, key);
    return cell && cell.length > 1 ? cell : undefined;
  }

  *entries(): Iterable<[key: string, cell: Cell]> {
    for (const [key, cell] of this.context.tables().table(CELLS + this.name) as ReadonlyMap<string, Cell>)
      if (cell.length > 1) yield [key, cell];
  }

  /** Checks a value once, and tells if it does not fit. */
  check(cell: Cell, raw: unknown): { readonly value: unknown; readonly isValid: boolean } {
    const known = this.#checked.get(cell);
    if (known) return known;
    const { value, fault } = { value: undefined, ...this.checker.read(raw, cell[2]) };
    if (fault) this.context.dropped({ where: this.name, ...fault });
    const checked = { value, isValid: !fault };
    this.#checked.set(cell, checked);
    return checked;
  }

  act(verb: string, ...rest: unknown[]): void {
    if (verb !== "i") checkKey(rest[0]);
    this.context.perform([this.name, verb, ...rest]);
  }

  /** The last element of an action: the version of this program's schema, left out if it is 1. */
  get version(): readonly number[] {
    return this.checker.version > 1 ? [this.checker.version] : [];
  }
}

class MapView implements SharedMap<unknown, unknown> {
  readonly #cells: Cells;
  readonly subscribe: Shown<unknown>["subscribe"];
  #value: ReadonlyMap<string, unknown> = new Map();
  /** The keys whose values in `#value` are old. */
  #changed = new Set<string>();

  constructor(context: Context, name: string, checker: Checker) {
    this.#cells = new Cells(context, name, checker, (key) => this.#changed.add(key));
    this.subscribe = this.#cells.subscribe;
  }

  get value(): ReadonlyMap<string, unknown> {
    // `tables()` first applies pending own operations again, which may change values, too.
    this.#cells.context.tables();
    if (this.#changed.size === 0) return this.#value;
    const value = new Map(this.#value);
    for (const key of this.#changed) {
      const cell = this.#cells.cell(key);
      const checked = cell && this.#cells.check(cell, cell[1]);
      if (checked?.isValid) value.set(key, checked.value);
      else value.delete(key);
    }
    this.#changed.clear();
    return (this.#value = value);
  }

  get(key: string): unknown {
    const cell = this.#cells.cell(key);
    return cell && this.#cells.check(cell, cell[1]).value;
  }

  set(key: string, value: unknown): void {
    this.#cells.checker.write(value);
    this.#cells.act("s", key, value, ...this.#cells.version);
  }

  patch(key: string, fields: object): void {
    checkKey(key);
    check(fields, "object", "`fields` of `patch`");
    const cell = this.#cells.cell(key);
    if (!cell || !isRecord(cell[1])) return;
    const { checker } = this.#cells;
    const isOld = (cell[2] ?? 1) < checker.version;
    const { value: upgraded } = { value: undefined, ...(isOld && checker.read(cell[1], cell[2])) };
    const before = isRecord(upgraded) ? upgraded : cell[1];
    const after = Object.fromEntries(
      Object.entries({ ...before, ...fields }).filter(([, value]) => value !== undefined),
    );
    checker.write(after, fields);
    // A patch of a value of an older version writes the whole value in this version.
    if (before !== cell[1]) return this.#cells.act("s", key, after, ...this.#cells.version);
    const removed = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [field] : []));
    this.#cells.act("p", key, fields, ...(removed.length > 0 ? [removed] : []));
  }

  delete(key: string): void {
    if (this.#cells.cell(key)) this.#cells.act("d", key);
  }

  preview(key: string, fields: object | undefined): void {
    checkKey(key);
    if (fields !== undefined) check(fields, "object", "`fields` of `preview`");
    checkJson(fields ?? null, "`fields` of `preview`");
    this.#cells.context.previews?.send(this.#cells.name, key, fields as Record<string, unknown> | undefined);
  }

  previewed(key: string): unknown {
    const cell = this.#cells.cell(key);
    const { context, name, checker } = this.#cells;
    const shown = cell && context.previews?.apply(name, key, cell[1]);
    if (!cell || shown === undefined || shown === cell[1]) return this.get(key);
    const { value, fault } = { value: undefined, ...checker.read(shown, cell[2]) };
    return fault ? this.get(key) : value;
  }
}

function checkKey(key: unknown): void {
  if (!isName(key)) throw failure("bad-key", "own", "a key is a text of at most 128 characters");
  checkText(key, "a key");
}

interface Item {
  readonly id: string;
  readonly order: string;
  readonly value: unknown;
}

class ListView implements SharedList<unknown, unknown> {
  readonly #cells: Cells;
  readonly subscribe: Shown<unknown>["subscribe"];
  #sorted: readonly Item[] | undefined;
  #value: readonly unknown[] | undefined;
  #ids: readonly string[] | undefined;

  constructor(context: Context, name: string, checker: Checker) {
    this.#cells = new Cells(context, name, checker, () => (this.#sorted = this.#value = this.#ids = undefined));
    this.subscribe = this.#cells.subscribe;
  }

  get value(): readonly unknown[] {
    return (this.#value ??= this.#items.map(({ value }) => value));
  }

  get ids(): readonly string[] {
    return (this.#ids ??= this.#items.map(({ id }) => id));
  }

  get(id: string): unknown {
    const cell = this.#cells.cell(id);
    return cell && isItem(cell[1]) ? this.#cells.check(cell, cell[1].v).value : undefined;
  }

  insert(index: number, value: unknown): string {
    place(index, "`index` of `insert`");
    this.#cells.checker.write(value);
    return this.#cells.context.batch(() => {
      const order = this.#orderAt(this.#items, index);
      const id = this.#cells.context.nextId();
      this.#cells.act("i", order, value, ...this.#cells.version);
      return id;
    });
  }

  push(value: unknown): string {
    return this.insert(this.#items.length, value);
  }

  set(id: string, value: unknown): void {
    const cell = this.#cells.cell(id);
    if (!cell || !isItem(cell[1])) return;
    this.#cells.checker.write(value);
    if ((cell[2] ?? 1) === this.#cells.checker.version) return this.#cells.act("p", id, { v: value });
    this.#cells.act("s", id, { k: orderOf(cell[1].k), v: value }, ...this.#cells.version);
  }

  move(id: string, index: number): void {
    place(index, "`index` of `move`");
    if (!this.#items.some((item) => item.id === id)) return;
    const others = this.#items.filter((item) => item.id !== id);
    this.#cells.context.batch(() => this.#cells.act("p", id, { k: this.#orderAt(others, index) }));
  }

  delete(id: string): void {
    if (this.#cells.cell(id)) this.#cells.act("d", id);
  }

  get #items(): readonly Item[] {
    // Within a batch, the items include what the batch has written.
    this.#cells.context.tables();
    if (this.#sorted) return this.#sorted;
    const items: Item[] = [];
    for (const [id, cell] of this.#cells.entries()) {
      if (!isItem(cell[1])) continue;
      const { value, isValid } = this.#cells.check(cell, cell[1].v);
      if (isValid) items.push({ id, order: orderOf(cell[1].k), value });
    }
    const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
    return (this.#sorted = items.sort((a, b) => compare(a.order, b.order) || compare(a.id, b.id)));
  }

  /**
   * The order of an item before the one at an index. If the orders around this place leave no room,
   * which others may have made up, the items there get other ones.
   */
  #orderAt(items: readonly Item[], index: number): string {
    const at = Math.max(0, Math.min(index, items.length));
    for (let around = 0; ; around = around * 2 || 1) {
      const [first, last] = [Math.max(at - around, 0), Math.min(at + around, items.length)];
      const low = items[first - 1]?.order;
      // Two participants that insert at one place at the same time may choose the same order: then
      // the item comes after both.
      const high = items.slice(last).find(({ order }) => low === undefined || order > low)?.order;
      const orders = ordersBetween(low, high, last - first + 1, around > 0 ? ROOMY : LONG);
      if (!orders) continue;
      const [order = ""] = orders.splice(at - first, 1);
      items.slice(first, last).forEach(({ id }, place) => this.#cells.act("p", id, { k: orders[place] }));
      return order;
    }
  }
}

const place = must("a whole number", (value) => value === Infinity || Number.isInteger(value));

/**
 * A longer order (characters) counts as no room: 360 items, each of them added between the last
 * two, have shorter ones.
 */
const LONG = 100;

/**
 * The longest new order of items that left no room: as many further items fit between them until
 * there is none again.
 */
const ROOMY = 50;

/** Ascending orders of items; undefined if there is no room for them. */
function ordersBetween(
  low: string | undefined,
  high: string | undefined,
  count: number,
  most: number,
): string[] | undefined {
  const orders: string[] = [];
  for (let order = low; orders.length < count; orders.push(order)) {
    order = between(order, high);
    if (order.length > most) return undefined;
  }
  return orders;
}

function isItem(value: unknown): value is { readonly k: string; readonly v: unknown } {
  return isRecord(value) && typeof value.k === "string";
}
