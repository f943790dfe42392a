/** Shared data in a room: connects a program's copy with the room's channels. */

import { awareness, transaction } from "../qos.js";
import type { ChannelOptions, Channel, Gap, Message, Room } from "../api.js";
import { check, checkOptions, type Rules } from "../arguments.js";
import { failure } from "../errors.js";
import { Emitter } from "../events.js";
import type { Invalid } from "../schema/check.js";
import type { Context, Definition } from "./context.js";
import { History, type Step } from "./history.js";
import type { Action } from "./operation.js";
import { OPENED, type Opened } from "./opened.js";
import { Previews } from "./previews.js";
import { Replica } from "./replica.js";
import { CELLS, type Reducer, type Tables } from "./tables.js";

/** The options of {@link shared}. */
export interface SharedOptions {
  /**
   * The name of the channel and of the part of the snapshot. Previews use the channel with this
   * name and `/preview`. Default: `shared`.
   */
  readonly name?: string;
  /** The QoS of operations, for example their priority. */
  readonly operations?: Omit<ChannelOptions, "kind" | "departures">;
  /**
   * The QoS of previews; false disables them. Default: at most 25 a second for each key, with a
   * deadline of 250 ms.
   */
  readonly previews?: Omit<ChannelOptions, "kind"> | false;
  /** Random numbers for this program's author id. Default: `Math.random`. */
  readonly random?: () => number;
}

/** Why this program does not have all of the shared data. */
export type Lost =
  /** Transactions are missing that the room no longer has: load the page anew. */
  | "history"
  /** The server has lost the room, and this program came back too late to restore its state. */
  | "restart"
  /** A snapshot is malformed. */
  | "snapshot";

/** An operation at its place in the room's order. */
export interface Ordered {
  /** The participant that sent it. */
  readonly sender: number;
  /**
   * What the operation may have changed: names of data, each with the key of a value if the action
   * concerns one.
   */
  readonly changes: readonly { readonly name: string; readonly key: string | undefined }[];
}

/** What all shared data of a room has in common. */
export interface SharedControls {
  readonly room: Room;
  /**
   * The id of this program among the authors of operations. It stays the same when the participant
   * gets another number.
   */
  readonly author: string;
  /** False if something is missing ({@link SharedControls.onLost}). */
  readonly isComplete: boolean;
  /**
   * True after the server has lost the room, until the room has all of this program's state again.
   */
  readonly isRestoring: boolean;
  /** The number of own operations that are not ordered. They are applied already. */
  readonly pending: number;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /**
   * Undoes the last own operation that others have not overwritten. Returns false if there is none,
   * and within a batch, whose changes become an operation when it ends.
   */
  undo(): boolean;
  /** Does again what {@link SharedControls.undo} has undone. Returns false if there is nothing. */
  redo(): boolean;
  /**
   * Makes one operation of all changes in `run`: it counts as a whole or not at all, and is undone
   * as a whole. More than 12,000 characters are sent as several operations, so others may see some
   * changes earlier than the rest.
   */
  batch<Result>(run: () => Result): Result;
  /**
   * Calls `listener` after changes of any data, of the number of pending operations, of
   * `isComplete` and of `isRestoring`. Returns a function that removes the listener. It needs no
   * `this`.
   */
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Calls `listener` with each operation that the room orders, once it is applied. Returns a
   * function that removes the listener.
   */
  onOperation(listener: (operation: Ordered) => void): () => void;
  /** Calls `listener` when something is lost. Returns a function that removes the listener. */
  onLost(listener: (why: Lost) => void): () => void;
}

/** Shared data of these definitions. */
export type Shared<Definitions> = SharedControls & {
  readonly [Name in keyof Definitions]: Definitions[Name] extends Definition<infer View> ? View : never;
};

/** The options of {@link SharedData.open}. */
export interface OpenOptions {
  readonly invalid?: ((invalid: Invalid) => void) | undefined;
  readonly author?: string;
}

/** What {@link shared} returns. */
export interface SharedData<Definitions> {
  /**
   * Opens the data in a room. Do it in the task in which the room was made.
   *
   * @param options.invalid - called for received data that does not fit a schema
   * @param options.author - {@link SharedControls.author}, of at most 128 characters: no other
   *   program in the room may ever have had it. Default: a random one
   */
  open(room: Room, options?: OpenOptions): Shared<Definitions>;
}

/**
 * Describes shared data: values that are the same for all participants of a room, and that change
 * at once.
 *
 * @example
 * ```ts
 * const board = shared({ shapes: map(Shape), score: counter() });
 * const { shapes, score } = board.open(connect("wss://example.com", "demo"));
 * shapes.set("a", { x: 1, y: 2 });
 * shapes.subscribe(() => draw(shapes.value));
 * ```
 */
export function shared<const Definitions extends Readonly<Record<string, Definition<unknown>>>>(
  definitions: Definitions,
  options: SharedOptions = {},
): SharedData<Definitions> {
  check(definitions, "object", "the definitions of `shared`");
  checkOptions(options, OPTIONS, "`shared`");
  for (const [name, definition] of Object.entries<Partial<Definition<unknown>> | null>(definitions)) {
    check(definition?.open, "function", `\`open\` of "${name}" of \`shared\``);
    if (!/^[^/]{1,64}$/.test(name) || TAKEN.includes(name) || name in SharedRoom.prototype)
      throw failure("bad-name", "own", `shared data cannot be named "${name}": take another name`);
  }
  return {
    open: (room, open = {}) => {
      check((room as Partial<Room> | null)?.channel, "function", "`channel` of the room that `shared` opens");
      checkOptions(open, { invalid: "function", author: 384 }, "`open`");
      const opened = new SharedRoom(room, definitions, options, open);
      return Object.assign(opened, opened.views) as unknown as Shared<Definitions>;
    },
  };
}

const OPTIONS: Rules<SharedOptions> = {
  name: 120,
  operations: "object",
  previews: (value, argument) => void (value === false || check(value, "object", argument)),
  random: "function",
};

/** Properties of {@link SharedControls} that the prototype lacks. */
const TAKEN = ["room", "author", "subscribe", "views", "previews"];

/** Changes of a table (`t` and its name), changes of anything, and losses. */
type Events = Record<`t${string}`, ReadonlySet<string>> & {
  readonly any: undefined;
  readonly operation: Ordered;
  readonly lost: Lost;
};

class SharedRoom implements Opened, Context {
  readonly author: string;
  readonly views: Readonly<Record<string, unknown>>;
  readonly #channel: Channel;
  readonly #replica: Replica;
  readonly #history: History;
  readonly previews: Previews | undefined;
  readonly #invalid: ((invalid: Invalid) => void) | undefined;
  readonly #watchers = new Map<string, (key: string) => void>();
  readonly #events = new Emitter<Events>();
  /**
   * The changed keys of each table, for the listeners' call at the end of the task; undefined if no
   * call is scheduled.
   */
  #changed: Map<string, Set<string>> | undefined;
  /** Operations that the client did not take yet. */
  readonly #outbox: string[] = [];
  #isBatch = false;
  /**
   * The greatest claim of each participant since the server lost the room, in the room's order: the
   * length of its remembered state.
   */
  #claims = new Map<number, { readonly isOwn: boolean; readonly length: number }>();
  #hasRestored = false;
  /** `isComplete` and `isRestoring` as listeners were last told. */
  #state = "true false";

  constructor(
    readonly room: Room,
    definitions: Readonly<Record<string, Definition<unknown>>>,
    { name = "shared", operations = {}, previews = {}, random = Math.random }: SharedOptions,
    { invalid, author }: OpenOptions,
  ) {
    const reducers = new Map<string, Reducer>();
    for (const [key, { reducer }] of Object.entries(definitions)) if (reducer) reducers.set(key, reducer);
    this.#channel = room.channel(name, transaction({ ...operations, departures: true }));
    this.author =
      author ??
      Math.floor((1 + random()) * 36 ** 8)
        .toString(36)
        .slice(1);
    const changed = (table: string, key: string): void => this.#note(table, key);
    this.#replica = new Replica(this.author, reducers, changed, () => this.#lose("restart"));
    this.#invalid = invalid;
    this.#history = new History((actions) => this.#make(actions, true));
    this.previews = previews
      ? new Previews(
          room,
          room.channel(`${name}/preview`, awareness({ maxRate: 25, deadline: 250, ...previews })),
          (data, key) => this.#note(CELLS + data, key),
        )
      : undefined;
    const views = Object.entries(definitions).map(([key, definition]) => [key, definition.open(this, key)]);
    this.views = Object.fromEntries(views) as Record<string, unknown>;
    this.#listen();
    OPENED.set(room, { ...OPENED.get(room), [name]: this });
  }

  get isComplete(): boolean {
    return this.#replica.isComplete;
  }

  get isRestoring(): boolean {
    return this.#replica.remembered > 0;
  }

  get pending(): number {
    return this.#replica.pending;
  }

  get canUndo(): boolean {
    return this.#history.canUndo;
  }

  get canRedo(): boolean {
    return this.#history.canRedo;
  }

  undo(): boolean {
    if (this.#isBatch) return false;
    // What undoes pending operations depends on the operations that were ordered before them.
    this.#replica.refresh();
    return this.#history.undo();
  }

  redo(): boolean {
    if (this.#isBatch) return false;
    this.#replica.refresh();
    return this.#history.redo();
  }

  batch<Result>(run: () => Result): Result {
    check(run, "function", "`run` of `batch`");
    // A batch within another one is a part of it.
    if (this.#isBatch) return run();
    this.#replica.begin();
    this.#isBatch = true;
    let result: Result;
    try {
      result = run();
    } catch (error) {
      this.#replica.abort();
      throw error;
    } finally {
      this.#isBatch = false;
    }
    this.#remember(this.#commit());
    return result;
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#events.on("any", listener);

  onOperation(listener: (operation: Ordered) => void): () => void {
    return this.#events.on("operation", listener);
  }

  onLost(listener: (why: Lost) => void): () => void {
    return this.#events.on("lost", listener);
  }

  tables(): Tables {
    if (!this.#isBatch) this.#replica.refresh();
    return this.#replica.tables;
  }

  perform(action: Action): void {
    const [name, , key] = action;
    if (typeof key === "string") this.previews?.performed(name, key);
    if (this.#isBatch) this.#replica.act(action);
    else this.#remember(this.#make([action], false));
  }

  nextId(): string {
    return this.#replica.nextId;
  }

  watch(table: string, changed: (key: string) => void): void {
    this.#watchers.set(table, changed);
  }

  onChange(table: string, listener: (keys: ReadonlySet<string>) => void): () => void {
    return this.#events.on(`t${table}`, listener);
  }

  dropped(invalid: Omit<Invalid, "sender">): void {
    this.#invalid?.({ ...invalid, sender: undefined });
  }

  self(): number | undefined {
    return this.room.self?.id;
  }

  #listen(): void {
    const { name } = this.#channel;
    this.#channel.on("message", (message) => {
      this.#deliver(message);
      this.#tellState();
    });
    this.room.provideSnapshot(() => this.#replica.snapshot(), { part: name, channels: [this.#channel] });
    this.room.on("snapshot", ({ part, data }) => {
      if (part === name && !this.#replica.load(new TextDecoder().decode(data))) this.#lose("snapshot");
      this.#tellState();
    });
    this.room.on("gap", (gap) => {
      this.#gap(gap);
      this.#tellState();
    });
    this.room.on("synced", () => {
      if (!this.isRestoring) return;
      try {
        this.#send(this.#replica.claim());
      } catch {
        // This participant may not publish: others can restore the state.
      }
    });
    this.room.on("participants", () => this.#restore());
    this.room.on("drain", () => this.#flush());
    this.room.on("pending", (count) => {
      this.#sendAgain();
      // A listener may have sent an operation since the room had ordered all.
      const unordered = count + this.room.pending + this.#outbox.length;
      if (unordered > 0 || this.pending === 0 || this.room.status === "closed") return;
      // The room does not take the others, for example because this participant may not publish.
      this.#replica.refuse();
      this.#tellSoon();
    });
  }

  #deliver({ sender, data, departed }: Message): void {
    if (departed !== undefined) return this.#replica.departed(departed);
    const operation = typeof data === "string" ? this.#replica.deliver(sender, data) : undefined;
    if (!operation) return;
    const { content, author } = operation;
    if (author === this.author) this.#tellSoon();
    if ("claim" in content && content.claim > (this.#claims.get(sender)?.length ?? -1)) {
      this.#claims.delete(sender);
      this.#claims.set(sender, { isOwn: author === this.author, length: content.claim });
      this.#restore();
    }
    if (!("actions" in content)) return;
    const changes = content.actions.map(([name, , key]) => ({ name, key: typeof key === "string" ? key : undefined }));
    for (const { name, key } of changes) if (key !== undefined) this.previews?.ordered(sender, name, key);
    this.#events.emit("operation", { sender, changes });
  }

  #gap({ reason, channel }: Gap): void {
    if (reason === "incarnation") {
      this.#replica.restart();
      this.#claims.clear();
      this.#hasRestored = false;
    }
    if (channel !== this.#channel.name) return;
    if (reason === "reset") this.#replica.clear();
    if (reason !== "history") return;
    this.#replica.isComplete = false;
    this.#lose("history");
  }

  /**
   * Sends the remembered state if it is the longest one: each program has claimed the length of its
   * state, and the first claim of the greatest length in the room's order decides.
   */
  #restore(): void {
    const { self, participants } = this.room;
    const isHere = (id: number): boolean => id === self?.id || participants.get(id)?.away === false;
    const claims = [...this.#claims].flatMap(([id, claim]) => (isHere(id) ? [claim] : []));
    const longest = Math.max(...claims.map(({ length }) => length));
    const isFirst = claims.find(({ length }) => length === longest)?.isOwn;
    const remembered = this.#replica.remembered;
    if (!isFirst || remembered === 0 || longest !== remembered || this.#hasRestored) return;
    this.#hasRestored = true;
    try {
      for (const text of this.#replica.restore()) this.#send(text);
    } catch {
      // This participant may not publish any more: others can restore the state.
    }
  }

  /**
   * Makes an operation of actions. With `vain`, an operation that would change nothing is not made,
   * and nothing is returned.
   */
  #make(actions: readonly Action[], vain: boolean): Step {
    this.#replica.begin();
    for (const action of actions) this.#replica.act(action);
    if (!vain || this.#replica.hasChanged) return this.#commit();
    this.#replica.abort();
    return [];
  }

  #commit(): Step {
    this.#tellSoon();
    return this.#replica.commit((text) => this.#send(text));
  }

  #remember(step: Step): void {
    if (step.some(({ inverse }) => inverse.length > 0)) this.#history.add(step);
  }

  #send(text: string): void {
    if (this.#outbox.length > 0 || this.#channel.send(text) === "not-now") this.#outbox.push(text);
  }

  /** Sends own operations again whose numbers somebody else has used. */
  #sendAgain(): void {
    try {
      for (const text of this.#replica.renumbered()) this.#send(text);
    } catch {
      // This participant may not publish any more: the operations are taken back.
    }
  }

  #flush(): void {
    while (this.#outbox[0] !== undefined && this.#channel.send(this.#outbox[0]) !== "not-now") this.#outbox.shift();
  }

  #lose(why: Lost): void {
    this.#events.emit("lost", why);
  }

  /** Schedules a call of the listeners if `isComplete` or `isRestoring` has changed. */
  #tellState(): void {
    const state = `${this.isComplete} ${this.isRestoring}`;
    if (state !== this.#state) this.#tellSoon();
    this.#state = state;
  }

  #note(table: string, key: string): void {
    this.#watchers.get(table)?.(key);
    const changed = this.#tellSoon();
    const keys = changed.get(table) ?? new Set();
    changed.set(table, keys.add(key));
  }

  /**
   * Schedules a call of the listeners at the end of the task. Returns the changes that they will be
   * told.
   */
  #tellSoon(): Map<string, Set<string>> {
    if (!this.#changed) void Promise.resolve().then(() => this.#notify());
    return (this.#changed ??= new Map<string, Set<string>>());
  }

  /** Tells the changes of a task. */
  #notify(): void {
    this.#sendAgain();
    this.#replica.refresh();
    const changed = this.#changed ?? [];
    this.#changed = undefined;
    for (const [table, keys] of changed) this.#events.emit(`t${table}`, keys);
    this.#events.emit("any", undefined);
  }
}
