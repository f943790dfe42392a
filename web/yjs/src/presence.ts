/**
 * Awareness over a channel of a room, one key for each field of a state: `ID/field`, and `ID` alone
 * says whether the client has a state. So a cursor is sent without the name and the colour beside
 * it, and a late joiner gets the newest value of each key. The room knows which participants are
 * present, so states need no renewal and do not expire.
 */

import type { Channel, ChannelOptions, Message, Room } from "groupwire";
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from "lib0/encoding";
import type { Held } from "./held.js";
import { applyAwarenessUpdate, removeAwarenessStates, type Awareness } from "y-protocols/awareness";

/**
 * How many participants' states are kept after they left. A datagram with a new state may overtake
 * the stream's news that its sender, who was away for long, has left and is back.
 */
const MAX_GONE = 100;

/**
 * The most keys of a participant that are kept: as many as the room keeps. Beyond, its oldest
 * client is forgotten.
 */
const MAX_KEYS = 1024;

/**
 * The deepest nesting of a field: as in the awareness of the server's Yjs documents.
 * `JSON.stringify` fails at some thousands.
 */
const MAX_DEPTH = 128;

/** What the awareness of Yjs tells its listeners. */
interface Changes {
  readonly added: readonly number[];
  readonly updated: readonly number[];
  readonly removed: readonly number[];
}

/** The state of a client, as a participant sent it. */
interface Sent {
  readonly fields: Map<string, unknown>;
  isGone: boolean;
}

export class Presence implements Held {
  readonly #room: Room;
  readonly #name: string;
  readonly #qos: Partial<ChannelOptions>;
  #channel: Channel;
  #closing: Promise<void> | undefined;
  /** True if the channel was closed and has to be opened again on use. */
  #mustOpen = false;
  /** The attached awareness; undefined if there is none. */
  #awareness: Awareness | undefined;
  #origin: unknown;
  /**
   * The fields of the own state as they were sent, in JSON: empty if the state no longer has the
   * field, undefined if the field must be sent again.
   */
  readonly #own = new Map<string, string | undefined>();
  /** The client whose fields these are. */
  #ownClient: number | undefined;
  #isHere = false;
  /** What the others sent, by participant and client. */
  readonly #senders = new Map<number, Map<number, Sent>>();
  /**
   * The participant that owns the state of a client. Others cannot change this state while the
   * owner is present.
   */
  readonly #owners = new Map<number, number>();
  /** Clients whose state may have changed. */
  #changed = new Set<number>();

  constructor(room: Room, name: string, qos: Partial<ChannelOptions>) {
    this.#room = room;
    this.#name = name;
    this.#qos = qos;
    this.#channel = this.#follow(this.#open());
    room.on("participants", () => this.#review());
    // After this gap the ids of participants begin anew.
    room.on("gap", ({ reason }) => reason === "incarnation" && this.#forget());
    room.on("status", (status) => {
      // The room may have forgotten this participant meanwhile.
      if (status === "connected") this.#sendAll();
      this.#review();
    });
  }

  /** True if no awareness is attached. */
  get isFree(): boolean {
    return this.#awareness === undefined;
  }

  /** Attaches an awareness: shows its state to the others, and their states in it. */
  attach(awareness: Awareness, origin: unknown): void {
    this.#awareness = awareness;
    this.#origin = origin;
    if (this.#ownClient !== awareness.clientID) this.#own.clear();
    this.#ownClient = awareness.clientID;
    awareness.on("update", this.#updated);
    if (this.#mustOpen && this.#room.status !== "closed") this.#channel = this.#follow(this.#open());
    this.#mustOpen = false;
    this.#sendAll();
    this.#review();
  }

  /**
   * Detaches the awareness: removes its state from the others, their states from it, and closes the
   * channel.
   */
  detach(): void {
    const awareness = this.#awareness;
    if (!awareness) return;
    awareness.off("update", this.#updated);
    if (this.#isHere) this.#post("", "");
    this.#isHere = false;
    this.#awareness = undefined;
    removeAwarenessStates(awareness, [...this.#owners.keys()], this.#origin);
    this.#owners.clear();
    if (this.#room.status !== "closed") this.#closing ??= this.#channel.close().then(() => this.#closed());
  }

  /**
   * Called when the channel is closed. If an awareness was attached meanwhile, opens a new channel,
   * which gets the newest values.
   */
  #closed(): void {
    this.#closing = undefined;
    this.#forget();
    this.#mustOpen = this.isFree || this.#room.status === "closed";
    if (this.#mustOpen) return;
    this.#channel = this.#follow(this.#open());
    this.#sendAll();
  }

  #open(): Channel {
    return this.#room.channel(this.#name, { maxRate: 25, ...this.#qos, kind: "awareness", overflow: "conflate" });
  }

  #follow(channel: Channel): Channel {
    channel.on("message", (message) => this.#receive(message));
    return channel;
  }

  readonly #updated = ({ added, updated, removed }: Changes, from: unknown): void => {
    const id = this.#awareness?.clientID;
    if (from !== this.#origin && [added, updated, removed].some((ids) => ids.includes(id as number))) this.#send();
  };

  /**
   * Sends the whole own state again, with the fields that it no longer has: others may have kept
   * them.
   */
  #sendAll(): void {
    for (const field of this.#own.keys()) this.#own.set(field, undefined);
    this.#isHere = false;
    this.#send();
  }

  /** Sends what has changed of the own state. */
  #send(): void {
    const state = this.#awareness?.getLocalState();
    if (!state) {
      if (this.#isHere) this.#post("", "");
      this.#isHere = false;
      return;
    }
    const fields = Object.entries(state).map(([field, value]) => [field, JSON.stringify(value)] as const);
    const stated = new Map(fields.filter(([, json]) => json !== undefined));
    for (const field of new Set([...this.#own.keys(), ...stated.keys()])) {
      const json = stated.get(field) ?? "";
      if (this.#own.get(field) !== json && this.#post(`/${field}`, json)) this.#own.set(field, json);
    }
    if (!this.#isHere) this.#isHere = this.#post("", "here");
  }

  /**
   * Returns false if it cannot be sent: this participant may not publish here, or the room is
   * closed.
   */
  #post(key: string, text: string): boolean {
    if (this.#closing) return false;
    try {
      this.#channel.send(text, { key: `${this.#awareness?.clientID}${key}` });
      return true;
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code !== "not-allowed" && this.#room.status !== "closed") throw error;
      return false;
    }
  }

  #receive({ sender, key, data }: Message): void {
    const [, id, , field] = /^(\d{1,16})(\/(.*))?$/s.exec(key ?? "") ?? [];
    const client = Number(id);
    // Other participants cannot change the own state.
    if (!Number.isSafeInteger(client) || client === this.#awareness?.clientID || typeof data !== "string") return;
    const clients = this.#senders.get(sender) ?? new Map<number, Sent>();
    this.#senders.set(sender, clients);
    const sent = clients.get(client) ?? { fields: new Map(), isGone: false };
    clients.set(client, sent);
    if (field === undefined) sent.isGone = data === "";
    else if (data === "") sent.fields.delete(field);
    else {
      const value = parse(data);
      if (value === undefined) return;
      sent.fields.set(field, value);
    }
    this.#note(client);
    this.#trim(clients);
  }

  /** Forgets the oldest clients of a participant, if it has sent too many keys. */
  #trim(clients: Map<number, Sent>): void {
    let excess = [...clients.values()].reduce((sum, { fields }) => sum + 1 + fields.size, -MAX_KEYS);
    for (const [client, { fields }] of clients) {
      if (excess <= 0) return;
      excess -= 1 + fields.size;
      clients.delete(client);
      this.#awareness?.meta.delete(client);
      this.#note(client);
    }
  }

  /** Forgets the states of others, which will be received again. */
  #forget(): void {
    this.#senders.clear();
    for (const client of this.#owners.keys()) this.#note(client);
    this.#owners.clear();
  }

  /** Called when participants have come, left, lost their connection or regained it. */
  #review(): void {
    for (const clients of this.#senders.values()) for (const client of clients.keys()) this.#note(client);
    const gone = [...this.#senders.keys()].filter((sender) => !this.#room.participants.has(sender));
    for (const sender of gone.slice(0, -MAX_GONE)) this.#senders.delete(sender);
  }

  #note(client: number): void {
    // All changes of one packet change the awareness once.
    if (this.#changed.size === 0) void Promise.resolve().then(() => this.#apply());
    this.#changed.add(client);
  }

  #apply(): void {
    const changed = [...this.#changed];
    this.#changed = new Set();
    const awareness = this.#awareness;
    if (!awareness) return;
    const states = changed.map((client) => [client, this.#stateOf(client)] as const);
    const { meta, states: before } = awareness;
    const there = states.filter(([, state]) => state !== undefined);
    const gone = states
      .filter(([client, state]) => state === undefined && before.has(client))
      .map(([client]) => client);
    if (gone.length > 0) removeAwarenessStates(awareness, gone, this.#origin);
    if (there.length === 0) return;
    const encoder = createEncoder();
    writeVarUint(encoder, there.length);
    for (const [client, state] of there) {
      writeVarUint(encoder, client);
      writeVarUint(encoder, (meta.get(client)?.clock ?? 0) + 1);
      writeVarString(encoder, JSON.stringify(state));
    }
    applyAwarenessUpdate(awareness, toUint8Array(encoder), this.#origin);
    // The state must not expire: the room reports participants that leave.
    for (const [client] of there) {
      const known = meta.get(client);
      if (known) known.lastUpdated = Infinity;
    }
  }

  /** The state of a client; undefined unless a present participant has sent one. */
  #stateOf(client: number): Record<string, unknown> | undefined {
    const owner = this.#owners.get(client);
    const candidates = owner === undefined ? [...this.#senders.keys()] : [owner, ...this.#senders.keys()];
    const found = candidates.find((sender) => this.#isPresent(sender) && this.#senders.get(sender)?.has(client));
    if (found === undefined) {
      this.#owners.delete(client);
      return undefined;
    }
    this.#owners.set(client, found);
    const sent = this.#senders.get(found)?.get(client);
    return !sent || sent.isGone ? undefined : Object.fromEntries(sent.fields);
  }

  #isPresent(sender: number): boolean {
    return this.#room.status === "connected" && this.#room.participants.get(sender)?.away === false;
  }
}

/** The JSON of a field; undefined if it is none. */
function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isShallow(part, depth - 1));
}
