/**
 * The room of a part of a page: connects when the part is shown, and provides the room's state as
 * stores.
 */

import type { Participant, RoomError, RoomState, SendOptions, Sent } from "../api.js";
import { check, checkOptions, must } from "../arguments.js";
import { failure } from "../errors.js";
import { Emitter } from "../events.js";
import type {
  ChannelsOf,
  PresenceIn,
  PresenceOut,
  RoomDefinition,
  SharedOf,
  TypedMessage,
  TypedRoom,
} from "../schema/define.js";
import type { SharedControls } from "../shared/shared.js";
import { channelOf, type InputOf, type ValueOf } from "./channels.js";
import { Connection, type RoomOptions } from "./connection.js";
import { dormant } from "./dormant.js";
import { shallow } from "./equal.js";
import { peopleOf, personKey, type By } from "./people.js";
import { followPositions, type Positions } from "./positions.js";
import { Selection, type IsEqual, type Select, type Source, type Store } from "./selection.js";
import { SharedSource } from "./shared-source.js";

/** The state of the connection, without `self` and `participants`. */
export interface RoomStatus extends Omit<RoomState, "self" | "participants"> {
  /** True once the room's late-joiner state has arrived. It stays true. */
  readonly isReady: boolean;
  /** The error that has closed the room for good. */
  readonly error: RoomError | undefined;
}

/** This participant. */
export interface Self<Presence> {
  /** Undefined before the first connection. */
  readonly id: number | undefined;
  readonly presence: Presence | undefined;
}

/** The other participants, in the order of their ids. */
export type Others<D extends RoomDefinition> = readonly Participant<PresenceOut<D>>[];

const address = must("an address", (value) => {
  return typeof value === "string" || typeof (value as Partial<URL> | null | undefined)?.href === "string";
});

interface HandleEvents {
  changed: undefined;
  room: undefined;
}

/** The sources of the stores. */
export interface Sources<D extends RoomDefinition> {
  readonly status: Source<RoomStatus>;
  readonly self: Source<Self<PresenceIn<D>>>;
  readonly others: Source<Others<D>>;
  readonly shared: Source<SharedOf<D>>;
}

/**
 * The room of a part of a page. Selectors must be pure. `isEqual` compares selected values; by
 * default arrays, plain objects, maps and sets are compared by their parts.
 *
 * @example
 * ```ts
 * const handle = new RoomHandle({ room: board, url: "wss://example.com", name: "demo", connect });
 * const names = handle.others((others) => others.map(({ presence }) => presence?.name));
 * names.subscribe(() => show(names.get()));
 * const release = handle.retain();
 * ```
 */
export class RoomHandle<D extends RoomDefinition> {
  readonly sources: Sources<D>;
  readonly #shared: SharedSource<SharedOf<D>>;
  readonly #options: RoomOptions<D>;
  readonly #events = new Emitter<HandleEvents>();
  #connection: Connection<D> | undefined;
  #dormant: TypedRoom<D> | undefined;
  #first: View<D> | undefined;
  #view: View<D> | undefined;
  #isOld = false;
  #stopListening = (): void => {};

  /** Makes no connection yet. */
  constructor(options: RoomOptions<D>) {
    check(options, "object", "the options of a room");
    const { room, url, name, connect, identity } = options;
    check((room as Partial<RoomOptions<D>["room"]> | null)?.join, "function", "`join` of `room`");
    address(url, "`url`");
    check(name, 256, "`name`");
    check(connect, "function", "`connect`");
    if (identity !== undefined) check(identity, 4096, "`identity`");
    this.#options = options;
    const part = <Name extends keyof View<D>>(name: Name): Source<View<D>[Name]> => ({
      root: () => this.#current()[name],
      firstRoot: () => this.#before()[name],
      version: () => this.#current()[name],
      subscribe: (listener) => this.#events.on("changed", () => listener()),
    });
    this.#shared = new SharedSource(() => this.#sleeping().shared);
    this.sources = { status: part("status"), self: part("self"), others: part("others"), shared: this.#shared };
  }

  /**
   * The room; undefined before the first connection. After the room was closed because it was
   * unused, the next connection replaces it.
   */
  get room(): TypedRoom<D> | undefined {
    return this.#connection?.typed;
  }

  /** The state of the connection, or what a selector makes of it. */
  status<Value = RoomStatus>(select: Select<RoomStatus, Value> = whole, isEqual?: IsEqual<Value>): Store<Value> {
    return new Selection(this.sources.status, select, isEqual);
  }

  /** This participant, or what a selector makes of it. */
  self<Value = Self<PresenceIn<D>>>(
    select: Select<Self<PresenceIn<D>>, Value> = whole,
    isEqual?: IsEqual<Value>,
  ): Store<Value> {
    return new Selection(this.sources.self, select, isEqual);
  }

  /** The other participants, or what a selector makes of them. */
  others<Value = Others<D>>(select: Select<Others<D>, Value> = whole, isEqual?: IsEqual<Value>): Store<Value> {
    return new Selection(this.sources.others, select, isEqual);
  }

  /** The ids of the others. With `by`, one id for each person, who may have several pages open. */
  otherIds(options: { readonly by?: By<PresenceOut<D>> } = {}): Store<readonly number[]> {
    checkOptions(options, { by: personKey }, "`otherIds`");
    const { by } = options;
    return this.others((others) => peopleOf(others, this.sources.self.root().presence as PresenceOut<D>, by));
  }

  /**
   * The value that a selector computes from the shared data. It runs again only after changes of
   * what it has read.
   */
  shared<Value>(select: Select<SharedOf<D>, Value>, isEqual?: IsEqual<Value>): Store<Value> {
    return new Selection(this.sources.shared, select, isEqual);
  }

  /** Whether there are own operations to undo or to do again. */
  undoing(): Store<Undoing> {
    return this.shared(undoingOf);
  }

  /** Connects if there is no connection, and keeps it until the returned function is called. */
  retain(): () => void {
    return this.#connected().retain();
  }

  /**
   * The room, for events and effects. Connects if there is no connection, because the effects of a
   * component's children run before the effect that retains the connection.
   */
  open(): TypedRoom<D> {
    return this.#connected().typed;
  }

  setPresence(presence: PresenceIn<D>): void {
    this.#connected().setPresence(presence);
  }

  /**
   * Calls `attach` with the room once there is one, and with each room that replaces it. `attach`
   * returns a function that detaches it.
   */
  each(attach: (room: TypedRoom<D>) => () => void): () => void {
    check(attach, "function", "`attach` of `each`");
    let detach = (): void => {};
    const change = (): void => {
      detach();
      detach = this.room ? attach(this.room) : () => {};
    };
    const stop = this.#events.on("room", change);
    change();
    return () => {
      stop();
      detach();
    };
  }

  /** Changes the shared data, as one operation. */
  mutate<Result>(change: (shared: SharedOf<D>) => Result): Result {
    check(change, "function", "`change` of `mutate`");
    const shared = this.#controls();
    return shared.batch(() => change(shared as SharedOf<D>));
  }

  undo(): boolean {
    return this.#controls().undo();
  }

  redo(): boolean {
    return this.#controls().redo();
  }

  /** Sends on a channel. */
  send<Name extends keyof ChannelsOf<D> & string>(name: Name, value: InputOf<D, Name>, options?: SendOptions): Sent {
    return channelOf(this.open(), name).send(value, options);
  }

  /**
   * Calls `listener` for each message of a channel. Returns a function that removes the listener.
   */
  on<Name extends keyof ChannelsOf<D> & string>(
    name: Name,
    listener: (message: TypedMessage<ValueOf<D, Name>>) => void,
  ): () => void {
    this.#check(name, listener);
    return this.each((room) => channelOf(room, name).on("message", listener));
  }

  /**
   * Calls `draw` in an animation frame whenever a participant has sent a new value on an awareness
   * channel, such as a cursor, came or went, with the newest values of present participants.
   * Returns a function that ends it.
   */
  positions<Name extends keyof ChannelsOf<D> & string>(
    name: Name,
    draw: (positions: Positions<ValueOf<D, Name>>) => void,
  ): () => void {
    this.#check(name, draw);
    return this.each((room) => followPositions(room, name, draw));
  }

  /**
   * Calls `listener` for errors of the room, which are otherwise written to the console. Returns a
   * function that removes the listener.
   */
  onError(listener: (error: RoomError) => void): () => void {
    check(listener, "function", "the listener");
    return this.each(() => (this.#connection as Connection<D>).onError(listener));
  }

  /** Resolves when the room is ready or closed for good. */
  whenReady(): Promise<void> {
    return new Promise((resolve) => {
      const isOver = (): boolean => this.#current().status.isReady || this.#current().status.status === "closed";
      if (isOver()) return resolve();
      const stop = this.#events.on("changed", () => {
        if (!isOver()) return;
        stop();
        resolve();
      });
    });
  }

  /** The connected room takes them later, and could tell nobody. */
  #check(name: string, listener: unknown): void {
    channelOf(this.#sleeping(), name as never);
    check(listener, "function", `the listener for "${name}"`);
  }

  /** The shared data of the connected room. */
  #controls(): SharedControls {
    const { shared } = this.open();
    if (!shared) throw failure("not-open", "own", "the room has no shared data: name them in defineRoom");
    return shared as unknown as SharedControls;
  }

  /**
   * The connection, which is replaced if it was closed as unused. The presence that was set last
   * stays.
   */
  #connected(): Connection<D> {
    const known = this.#connection;
    if (known && !known.isLeft) return known;
    const made = Connection.of(known ? { ...this.#options, presence: known.presence as PresenceIn<D> } : this.#options);
    this.#attach(made);
    return made;
  }

  #attach(connection: Connection<D>): void {
    this.#stopListening();
    this.#connection = connection;
    this.#shared.use(connection.typed.shared);
    this.#isOld = true;
    let id = connection.typed.room.self?.id;
    this.#stopListening = connection.onChange(() => {
      const now = connection.typed.room.self?.id;
      // The result of `isMine` depends on the own id.
      if (now !== id) this.#shared.changeAll();
      id = now;
      this.#isOld = true;
      this.#events.emit("changed", undefined);
    });
    this.#events.emit("room", undefined);
    this.#events.emit("changed", undefined);
  }

  #current(): View<D> {
    const connection = this.#connection;
    if (!connection) return this.#before();
    if (!this.#view || this.#isOld) this.#view = viewOf(connection.typed, connection, this.#view);
    this.#isOld = false;
    return this.#view;
  }

  #before(): View<D> {
    const { presence } = this.#options;
    return (this.#first ??= viewOf(this.#sleeping(), { presence, isReady: false, error: undefined }, undefined));
  }

  #sleeping(): TypedRoom<D> {
    const { room, url, name, presence } = this.#options;
    return (this.#dormant ??= room.join(dormant, url, name, presence === undefined ? {} : { presence }));
  }
}

/** Whether `undo` and `redo` would do something. */
export interface Undoing {
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

/** Whether these shared data can undo and redo; false for none. */
export function undoingOf(shared: unknown): Undoing {
  const { canUndo = false, canRedo = false } = (shared ?? {}) as Partial<Undoing>;
  return { canUndo, canRedo };
}

/** The selector that takes everything. */
export function whole(root: unknown): never {
  return root as never;
}

interface View<D extends RoomDefinition> {
  readonly participants: TypedRoom<D>["participants"];
  readonly status: RoomStatus;
  readonly self: Self<PresenceIn<D>>;
  readonly others: Others<D>;
}

type Known<D extends RoomDefinition> = Pick<Connection<D>, "presence" | "isReady" | "error">;

/** The parts of a view. A part that equals that of the view before stays the same object. */
function viewOf<D extends RoomDefinition>(
  { room, participants }: TypedRoom<D>,
  { presence, isReady, error }: Known<D>,
  before: View<D> | undefined,
): View<D> {
  const { self: own, participants: _, ...state } = room.state;
  const status: RoomStatus = { ...state, isReady, error };
  const self = { id: own?.id, presence };
  return {
    participants,
    status: before && shallow(before.status, status) ? before.status : status,
    self: before && shallow(before.self, self) ? before.self : self,
    others:
      before?.participants === participants ? before.others : [...participants.values()].sort((a, b) => a.id - b.id),
  };
}
