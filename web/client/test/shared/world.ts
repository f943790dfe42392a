/**
 * Rooms for sessions of shared data that other implementations repeat: no network and no server,
 * only what a program of shared data is told and what it sends. All of it is recorded as JSON.
 */

import type { Room } from "../../src/api.js";
import { counter, list, lock, map, reducer, shared, turns, type Shared } from "../../src/shared.js";

const definitions = {
  shapes: map(),
  notes: map(),
  texts: list(),
  score: counter(),
  pen: lock(),
  game: turns(),
  ledger: reducer([] as readonly unknown[], append),
  total: reducer({ sum: 0, last: 0 }, add, { undo: (by: number) => -by }),
};

/** A hostile program may have made a state with any value. */
function append(entries: readonly unknown[], entry: unknown): readonly unknown[] {
  if (!Array.isArray(entries)) throw new TypeError("a ledger is an array");
  return [...entries, entry];
}

function add({ sum }: { sum: number }, by: number): { sum: number; last: number } {
  if (typeof sum !== "number" || typeof by !== "number") throw new TypeError("a sum is a number");
  return { sum: sum + by, last: by };
}

/** An older version of the application lacks some of the data. */
const older = { shapes: map(), score: counter() };

export type Data = Shared<typeof definitions>;

/** The names of each kind that a program is told about, by the first letter of the kind. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  m: ["shapes", "notes", "texts"],
  c: ["score"],
  r: ["ledger", "total"],
  l: ["pen"],
  t: ["game"],
};

/** What a program is told or does: a name and its arguments. */
export type Step = readonly [what: string, ...args: unknown[]];

/** Whether the room takes operations. */
export type Mode = "yes" | "not-now" | "refuse";

type Listener = (value: never) => unknown;

/** One program, and what it has sent. */
export class Player {
  readonly data: Data;
  /** Operations on the way to the server. */
  readonly uplink: string[] = [];
  mode: Mode = "yes";
  id: number;
  /** The ids of the list's items when they were last asked for. */
  ids: readonly string[] = [];
  readonly #author: string;
  readonly #isWhole: boolean;
  readonly #tell: (step: Step, outcome: unknown) => void;
  readonly #listeners = new Map<string, Listener[]>();
  readonly #room: {
    self?: { id: number };
    status: string;
    pending: number;
    participants: Map<number, { away: boolean }>;
  };
  #snapshot: () => string | undefined = () => undefined;
  #out: unknown[] = [];
  #events: unknown[] = [];

  /** `tell` is called with each step and its outcome. */
  constructor(author: string, id: number, isWhole: boolean, tell: (step: Step, outcome: unknown) => void) {
    [this.#author, this.id, this.#isWhole, this.#tell] = [author, id, isWhole, tell];
    this.#room = { status: "connecting", pending: 0, participants: new Map() };
    const room = Object.assign(this.#room, {
      channel: (name: string) => this.#channel(name),
      on: (event: string, listener: Listener) => this.#on(event, listener),
      provideSnapshot: (make: () => string | undefined) => (this.#snapshot = make),
    });
    this.data = shared(isWhole ? definitions : older).open(room as unknown as Room, { author }) as Data;
    this.#listen();
    this.#record(["open", author, isWhole]);
  }

  /** The tables, with own operations applied, which applications do not see. */
  get #hidden(): { tables(): { encode(): unknown } } {
    return this.data as unknown as { tables(): { encode(): unknown } };
  }

  get author(): string {
    return this.#author;
  }

  /** Does a step, and records it. */
  run(step: Step): unknown {
    let result: unknown;
    try {
      result = this.#do(step);
    } catch (error) {
      // A message throws nothing. A call of the application may be refused.
      if (!isCall(step) && this.mode !== "refuse") throw error;
      result = isCall(step) ? "error" : null;
    }
    this.#record(step, result);
    return result;
  }

  /** Records what the listeners were told since the last time. */
  told(): void {
    this.#record(["tell"], this.#events.splice(0));
  }

  /** The state for late joiners. */
  snapshot(): string | undefined {
    const text = this.#snapshot();
    // The snapshot travels as bytes, which have no lone surrogates.
    const sent = text === undefined ? undefined : new TextDecoder().decode(new TextEncoder().encode(text));
    this.#record(["make"], sent ?? null);
    return sent;
  }

  #record(step: Step, result: unknown = null): void {
    this.#tell(step, [result ?? null, this.#out]);
    this.#out = [];
  }

  #do([what, ...args]: Step): unknown {
    const [one, two, three] = args as [never, never, never];
    switch (what) {
      case "message":
        return this.#emit("shared", { sender: one, data: two });
      case "departed":
        return this.#emit("shared", { sender: 0, data: "", departed: one });
      case "preview-in":
        return this.#emit("shared/preview", { sender: one, key: two, data: three, stale: args[3] });
      case "snapshot":
        return this.#emit("snapshot", { part: "shared", data: new TextEncoder().encode(one) });
      case "gap":
        return this.#emit("gap", { reason: one, channel: one === "incarnation" ? undefined : "shared" });
      case "synced":
        return this.#emit("synced", undefined);
      case "drain":
        return this.#emit("drain", undefined);
      case "participants":
        this.#room.self = { id: one };
        this.#room.participants = new Map((two as [number, boolean][]).map(([id, here]) => [id, { away: !here }]));
        this.#room.status = three ? "connected" : "reconnecting";
        return this.#emit("participants", this.#room.participants);
      case "unconfirmed":
        this.#room.pending = one;
        return this.#emit("pending", one);
      case "mode":
        this.mode = one;
        return undefined;
      case "look":
        return this.#look();
      case "ids":
        // A list that is cached is read without applying own operations again.
        this.#hidden.tables();
        return (this.ids = this.data.texts.ids);
      default:
        return this.#call([what, ...args]);
    }
  }

  /** A call of the application. */
  #call([what, name, ...args]: Step): unknown {
    const { data } = this;
    const view = data[name as "shapes"] as never as Record<string, (...args: unknown[]) => unknown>;
    switch (what) {
      case "undo":
      case "redo":
        return data[what]();
      case "batch":
        return data.batch(() => {
          const results = (name as readonly Step[]).map((step) => this.#call(step) ?? null);
          if (args[0]) throw new Error("taken back");
          return results;
        });
      case "patch": {
        const [key, fields, removed] = args as [string, object, readonly string[]];
        return view["patch"]?.(key, { ...fields, ...Object.fromEntries(removed.map((field) => [field, undefined])) });
      }
      case "preview":
        return view["preview"]?.(args[0], args[1] ?? undefined);
      default:
        return view[what]?.(...args);
    }
  }

  /** Everything that can be seen, and the state as a snapshot has it. */
  #look(): unknown {
    const { data } = this;
    const state = JSON.stringify(this.#hidden.tables().encode());
    const flags = [data.pending, data.isComplete, data.isRestoring, data.canUndo, data.canRedo];
    const keys = [...data.shapes.value.keys()].sort();
    const shapes = keys.map((key) => [key, data.shapes.get(key), data.shapes.previewed(key)]);
    if (!this.#isWhole) return hash(JSON.stringify([state, flags, shapes, data.score.value]));
    const { texts, score, pen, game, ledger, total } = data;
    const holders = [pen.holder ?? null, pen.isMine, game.value, game.isMine];
    return hash(
      JSON.stringify([state, flags, shapes, score.value, texts.ids, texts.value, holders, ledger.value, total.value]),
    );
  }

  #channel(name: string): object {
    return {
      name,
      on: (_: string, listener: Listener) => this.#on(name, listener),
      send: (text: string, options?: { key: string }) => {
        if (options) return void this.#out.push(["preview", options.key, text]);
        if (this.mode === "refuse") throw new Error("this participant may not publish");
        if (this.mode === "not-now") return "not-now";
        this.#out.push(text);
        this.uplink.push(text);
        return "accepted";
      },
    };
  }

  #listen(): void {
    const { data } = this;
    let changed: unknown[] = [];
    for (const [kind, names] of Object.entries(NAMES))
      for (const name of names) {
        const view = data[name as "shapes"] as Data["shapes"] | undefined;
        view?.subscribe((keys) => changed.push([kind, name, [...keys]]));
      }
    data.subscribe(() => {
      this.#events.push(["changed", changed]);
      changed = [];
    });
    data.onOperation(({ sender, changes }) =>
      this.#events.push(["operation", sender, changes.map(({ name, key }) => [name, key ?? null])]),
    );
    data.onLost((why) => this.#events.push(["lost", why]));
  }

  #on(event: string, listener: Listener): () => void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    return () => {};
  }

  #emit(event: string, value: unknown): undefined {
    for (const listener of this.#listeners.get(event) ?? []) listener(value as never);
  }
}

const INPUTS = [
  "message",
  "departed",
  "preview-in",
  "snapshot",
  "gap",
  "synced",
  "drain",
  "participants",
  "unconfirmed",
  "mode",
  "look",
  "ids",
];

function isCall([what]: Step): boolean {
  return !INPUTS.includes(what);
}

/** 53 bits of a text, of its UTF-16 units (cyrb53). */
export function hash(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
}
