/**
 * A second implementation of shared data, for tests: a plain reducer over what the room ordered,
 * without anything optimistic. It shares no code with the first one.
 */

/** What the room ordered on the channel of the shared data. */
export interface Ordered {
  readonly sender: number;
  readonly text: string;
  /** Instead of a text: this participant has left for good. */
  readonly departed?: number | undefined;
}

interface Cell {
  value?: unknown;
  stamp: string;
  version: number;
  fields: Map<string, string>;
}

interface State {
  cells: Map<string, Map<string, Cell>>;
  counters: Map<string, number>;
  ledger: string[];
  locks: Map<string, number>;
  turns: Map<string, number[]>;
  marks: Map<string, number>;
}

/** What can be seen of the state, in an order that does not depend on that of the operations. */
export interface Seen {
  readonly cells: Readonly<Record<string, unknown>>;
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
  readonly score: number;
  readonly ledger: readonly string[];
  readonly holder: number | undefined;
  readonly line: readonly number[];
}

type Json = any; // eslint-disable-line

const MAX_TAIL = 1000;
const MAX_STEP = 2 ** 32;
const MAX_DEPTH = 1000;
const LONGEST_PLACE = 1000;
const MOST_ARRIVING = 4;

export function reference(log: readonly Ordered[]): Seen {
  let base: { length: number; text: string } | undefined;
  const tail: Ordered[] = [];
  const pieces = new Map<string, { length: number; texts: string[] }>();
  for (const entry of log) {
    const json = entry.departed === undefined ? read(entry.text) : undefined;
    if (json && json[2] === 1 && tail.length < MAX_TAIL) {
      const [author, , , length, index, count, text] = json;
      if (index === 0) {
        pieces.delete(author);
        pieces.set(author, { length, texts: [] });
        for (const [oldest] of [...pieces].slice(0, -MOST_ARRIVING)) pieces.delete(oldest);
      }
      pieces.get(author)?.texts.push(text);
      const whole = pieces.get(author)?.texts ?? [];
      if (whole.length === count && length > (base?.length ?? 0)) base = { length, text: whole.join("") };
    }
    if (!json || typeof json[2] !== "number") tail.push(entry);
  }
  const state = base ? decode(base.text) : empty();
  for (const entry of tail) apply(state, entry);
  return see(state);
}

function empty(): State {
  return { cells: new Map(), counters: new Map(), ledger: [], locks: new Map(), turns: new Map(), marks: new Map() };
}

function decode(text: string): State {
  const [[tables], marks] = JSON.parse(text) as Json;
  const state = { ...empty(), marks: new Map<string, number>(marks) };
  for (const [id, entries] of tables) {
    const [kind, name] = [id[0], id.slice(1)];
    if (kind === "c") state.counters.set(name, entries[0][1]);
    if (kind === "r") state.ledger = entries[0][1];
    if (kind !== "m") continue;
    const cells = new Map<string, Cell>();
    for (const [key, [stamp, value, version = 1, fields = {}]] of entries)
      cells.set(key, { stamp, value, version, fields: new Map(Object.entries(fields)) });
    state.cells.set(name, cells);
  }
  return state;
}

function read(text: string): Json {
  return JSON.parse(text);
}

function apply(state: State, { sender, text, departed }: Ordered): void {
  if (departed !== undefined) {
    for (const [name, holder] of state.locks) if (holder === departed) state.locks.delete(name);
    for (const [name, line] of state.turns)
      state.turns.set(
        name,
        line.filter((id) => id !== departed),
      );
    return;
  }
  const [author, number, third, ...rest] = read(text);
  const step = number - (state.marks.get(author) ?? 0);
  if (!Number.isSafeInteger(number) || step <= 0 || step > MAX_STEP) return;
  state.marks.set(author, number);
  const actions: Json[] = typeof third === "string" ? [[third, ...rest]] : third;
  actions.forEach((action, at) => act(state, action, `${author}.${number}`, at, sender));
}

function act(state: State, [name, verb, ...rest]: Json, stamp: string, at: number, sender: number): void {
  let cells = state.cells.get(name);
  if (!cells) state.cells.set(name, (cells = new Map()));
  const cell = cells.get(rest[0]);
  const isThere = cell?.value !== undefined;
  switch (verb) {
    case "s":
      if (!isStorable(rest[1], MAX_DEPTH)) break;
      cells.set(rest[0], { value: rest[1], stamp, version: rest[2] ?? 1, fields: new Map() });
      break;
    case "i": {
      const id = at === 0 ? stamp : `${stamp}.${at}`;
      if (!isStorable(rest[1], MAX_DEPTH - 1)) break;
      cells.set(id, { value: { k: rest[0], v: rest[1] }, stamp, version: rest[2] ?? 1, fields: new Map() });
      break;
    }
    case "d":
      if (isThere) cells.set(rest[0], { stamp, version: 1, fields: new Map() });
      break;
    case "p": {
      if (!cell || !isThere) break;
      const set = Object.entries(rest[1]).filter(([, content]) => isStorable(content, MAX_DEPTH - 1));
      const value: Json = { ...(cell.value as object), ...Object.fromEntries(set) };
      const fields = new Map(cell.fields);
      for (const field of rest[2] ?? []) delete value[field];
      for (const field of [...set.map(([field]) => field), ...(rest[2] ?? [])]) fields.set(field, stamp);
      cells.set(rest[0], { ...cell, value, fields });
      break;
    }
    case "r": {
      const [key, expected, old] = rest;
      const [wholly, partly] = Array.isArray(expected) ? expected : [expected, {}];
      const now = Object.fromEntries(cell?.fields ?? []);
      if ((cell?.stamp ?? 0) !== wholly || !isEqual(now, partly)) break;
      if (old === 0) cells.delete(key);
      else
        cells.set(key, {
          stamp: old[0],
          value: old[1],
          version: old[2] ?? 1,
          fields: new Map(Object.entries(old[3] ?? {})),
        });
      break;
    }
    case "q": {
      if (!cell || !isThere) break;
      const value: Json = { ...(cell.value as object) };
      const fields = new Map(cell.fields);
      for (const [field, [expected, old, content]] of Object.entries<Json>(rest[1])) {
        if ((cell.fields.get(field) ?? cell.stamp) !== expected) continue;
        if (content === undefined) delete value[field];
        else value[field] = content;
        fields.set(field, old);
        if (old === cell.stamp) fields.delete(field);
      }
      cells.set(rest[0], { ...cell, value, fields });
      break;
    }
    case "+": {
      const sum = (state.counters.get(name) ?? 0) + rest[0];
      if (Number.isSafeInteger(rest[0]) && Number.isSafeInteger(sum)) state.counters.set(name, sum);
      break;
    }
    case "a":
      state.ledger = [...state.ledger, rest[0]];
      break;
    case "l":
      if (!state.locks.has(name)) state.locks.set(name, sender);
      break;
    case "f":
      if (state.locks.get(name) === sender) state.locks.delete(name);
      break;
    case "j":
      if (!state.turns.get(name)?.includes(sender)) state.turns.set(name, [...(state.turns.get(name) ?? []), sender]);
      break;
    case "n": {
      const [first, ...others] = state.turns.get(name) ?? [];
      if (first === sender) state.turns.set(name, [...others, sender]);
    }
  }
}

/** No part of it is deeper than a stack, or a number that JSON lacks. */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === "number") return value - value === 0;
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isStorable(part, levels - 1));
}

/** The digits with which a key of the list begins. */
function placeOf(key: string): string {
  let place = "";
  for (const digit of key) {
    if (!/[0-9A-Za-z]/.test(digit) || place.length === LONGEST_PLACE) break;
    place += digit;
  }
  while (place.endsWith("0")) place = place.slice(0, -1);
  return place === "" ? "V" : place;
}

function isEqual(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}

function see(state: State): Seen {
  const cells: Record<string, unknown> = {};
  const items: { name: string; id: string; k: string; v: unknown }[] = [];
  for (const [name, table] of state.cells)
    for (const [key, { value }] of table) {
      if (value === undefined) continue;
      const { k, v } = value as { k?: string; v?: unknown };
      if (typeof k === "string") items.push({ name, id: key, k: placeOf(k), v });
      else cells[`${name}/${key}`] = value;
    }
  const lists: Record<string, unknown[]> = {};
  items.sort((a, b) => (a.k < b.k ? -1 : a.k > b.k ? 1 : a.id < b.id ? -1 : 1));
  for (const { name, v } of items) (lists[name] ??= []).push(v);
  const score = state.counters.get("score") ?? 0;
  const [holder, line] = [state.locks.get("pen"), state.turns.get("game") ?? []];
  return { cells, lists, score, ledger: state.ledger, holder, line };
}
