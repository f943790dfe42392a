/**
 * The connections of a page: one for each room, reference-counted, and closed some time after the
 * last release.
 */

import type { ConnectOptions, RoomError } from "../api.js";
import { Emitter } from "../events.js";
import type { Connect, DefinedRoom, PresenceIn, RoomDefinition, TypedRoom } from "../schema/define.js";

/** The room that a part of a page shows. */
export interface RoomOptions<D extends RoomDefinition> extends Omit<ConnectOptions<PresenceIn<D>>, "channels"> {
  /** What `defineRoom` has returned. */
  readonly room: DefinedRoom<D>;
  /** The server, such as `wss://example.com`. */
  readonly url: string | URL;
  /** The room's name. */
  readonly name: string;
  /** The `connect` of `groupwire`, or of a simulation. */
  readonly connect: Connect;
  /**
   * Parts of a page that show one room share a connection if their `token` is the same text, or a
   * function, and their `identity` is the same. Give it if `token` is a function and the user may
   * change while the page is open.
   */
  readonly identity?: string;
}

/**
 * Milliseconds until an unused connection is closed: a part of a page that replaces another one
 * (navigation, a hot reload, React's strict mode) takes it over. The same time as of
 * `Channel.close`.
 */
const GRACE_MS = 1000;

interface ConnectionEvents {
  changed: undefined;
  error: RoomError;
}

type Any = Connection<RoomDefinition>;

const connections = new WeakMap<object, WeakMap<Connect, Map<string, Any>>>();

export class Connection<D extends RoomDefinition> {
  readonly typed: TypedRoom<D>;
  presence: PresenceIn<D> | undefined;
  /** True once the room's late-joiner state has arrived. */
  isReady = false;
  /** The error that has closed the room. */
  error: RoomError | undefined;
  readonly #events = new Emitter<ConnectionEvents>();
  readonly #forget: () => void;
  #users = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * The existing connection for these options, or a new one. A new one is closed soon, unless it is
   * retained.
   */
  static of<D extends RoomDefinition>(options: RoomOptions<D>): Connection<D> {
    const { room, connect, url, name, token, identity } = options;
    const ofRoom = entry(connections, room, () => new WeakMap<Connect, Map<string, Any>>());
    const all = entry(ofRoom, connect, () => new Map<string, Any>());
    const key = JSON.stringify([String(url), name, typeof token === "string" ? token : null, identity]);
    const known = all.get(key) as Connection<D> | undefined;
    // A new connection replaces a closed one, for example after a refusal.
    if (known && known.typed.room.status !== "closed") return known;
    const made: Connection<D> = new Connection(options, () => {
      if (all.get(key) === (made as unknown)) all.delete(key);
    });
    all.set(key, made as unknown as Any);
    return made;
  }

  private constructor({ room, connect, url, name, identity: _, ...options }: RoomOptions<D>, forget: () => void) {
    this.#forget = forget;
    this.presence = options.presence;
    this.typed = room.join(connect, url, name, options);
    const { room: inner } = this.typed;
    inner.subscribe(() => this.#changed());
    inner.on("synced", () => {
      this.isReady = true;
      this.#changed();
    });
    inner.on("error", (error) => this.#report(error));
    this.#closeSoon();
  }

  /** True once it was closed because nobody used it. */
  get isLeft(): boolean {
    return this.#users === 0 && this.#timer === undefined;
  }

  /** Keeps the connection until the returned function is called. */
  retain(): () => void {
    this.#users += 1;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let isRetained = true;
    return () => {
      if (!isRetained) return;
      isRetained = false;
      this.#users -= 1;
      if (this.#users === 0) this.#closeSoon();
    };
  }

  /** Calls `listener` when anything but shared data has changed. */
  onChange(listener: () => void): () => void {
    return this.#events.on("changed", listener);
  }

  onError(listener: (error: RoomError) => void): () => void {
    return this.#events.on("error", listener);
  }

  setPresence(presence: PresenceIn<D>): void {
    this.typed.setPresence(presence);
    this.presence = presence;
    this.#changed();
  }

  #closeSoon(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#forget();
      this.typed.room.leave();
    }, GRACE_MS);
  }

  #report(error: RoomError): void {
    if (error.fatal) this.error = error;
    // A room without a listener for errors does the same.
    if (!this.#events.emit("error", error))
      console.error(`groupwire: room "${this.typed.room.name}": ${error.message}`, error);
    if (error.fatal) this.#changed();
  }

  #changed(): void {
    this.#events.emit("changed", undefined);
  }
}

interface Entries<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** The entry of a key, which is made if there is none. */
function entry<Key, Value>(entries: Entries<Key, Value>, key: Key, make: () => Value): Value {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const made = make();
  entries.set(key, made);
  return made;
}
