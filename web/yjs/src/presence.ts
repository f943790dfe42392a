/**
 * Awareness over a channel of a room, one key for each field of a state: `ID/field`, and `ID` alone says whether the client has a state.
 * So a cursor travels without the name and the colour beside it, and whoever joins is sent the newest of each. The room says who is here,
 * so nothing is renewed and nobody is outdated.
 */

import type { Channel, ChannelOptions, Message, Room } from "groupwire";
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from "lib0/encoding";
import type { Held } from "./held.js";
import { applyAwarenessUpdate, removeAwarenessStates, type Awareness } from "y-protocols/awareness";

/**
 * The most participants who have left and whose states are kept. A state may come in a datagram before the stream says that its sender, who
 * was away for long, has left and is here again.
 */
const MAX_GONE = 100;

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
  /** The channel was closed, and nobody has opened it again. */
  #mustOpen = false;
  /** While nobody has it, there is none. */
  #awareness: Awareness | undefined;
  #origin: unknown;
  /**
   * The fields of the own state as they were sent, in JSON: empty if the state no longer has the field, and undefined if the field is to be
   * sent again.
   */
  readonly #own = new Map<string, string | undefined>();
  /** The client whose fields these are. */
  #ownClient: number | undefined;
  #isHere = false;
  /** What the others sent, by participant and client. */
  readonly #senders = new Map<number, Map<number, Sent>>();
  /** The participant whose state of a client counts. Another one cannot change it while that participant is here. */
  readonly #owners = new Map<number, number>();
  /** Clients whose state may have changed. */
  #changed = new Set<number>();

  constructor(room: Room, name: string, qos: Partial<ChannelOptions>) {
    this.#room = room;
    this.#name = name;
    this.#qos = qos;
    this.#channel = this.#follow(this.#open());
    room.on("participants", () => this.#review());
    // The numbers of participants begin anew.
    room.on("gap", ({ reason }) => reason === "incarnation" && this.#forget());
    room.on("status", (status) => {
      // The room may have forgotten this participant meanwhile.
      if (status === "connected") this.#sendAll();
      this.#review();
    });
  }

  /** Nobody has it. */
  get isFree(): boolean {
    return this.#awareness === undefined;
  }

  /** Shows this awareness to the others, and them in it. */
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

  /** This participant vanishes for the others, they vanish here, and the channel is closed. */
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

  /** The channel is closed. If somebody shows an awareness meanwhile, it is opened again, and the newest values come anew. */
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

  /** Sends the own state anew, and also which fields it no longer has: others may have kept them. */
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

  /** Returns false if it cannot be sent: this participant may not publish here, or the room is closed. */
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
    // Nobody else has a say about the own state.
    if (!Number.isSafeInteger(client) || client === this.#awareness?.clientID || typeof data !== "string") return;
    const clients = this.#senders.get(sender) ?? new Map<number, Sent>();
    this.#senders.set(sender, clients);
    const sent = clients.get(client) ?? { fields: new Map(), isGone: false };
    clients.set(client, sent);
    if (field === undefined) sent.isGone = data === "";
    else if (data === "") sent.fields.delete(field);
    else {
      try {
        sent.fields.set(field, JSON.parse(data));
      } catch {
        return;
      }
    }
    this.#note(client);
  }

  /** What others sent comes anew. */
  #forget(): void {
    this.#senders.clear();
    for (const client of this.#owners.keys()) this.#note(client);
    this.#owners.clear();
  }

  /** Participants have come, left, lost their connection or have it again. */
  #review(): void {
    for (const clients of this.#senders.values()) for (const client of clients.keys()) this.#note(client);
    const gone = [...this.#senders.keys()].filter((sender) => !this.#room.participants.has(sender));
    for (const sender of gone.slice(0, -MAX_GONE)) this.#senders.delete(sender);
  }

  #note(client: number): void {
    // What comes in one packet changes the awareness once.
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
    // It is never outdated: the room says who leaves.
    for (const [client] of there) {
      const known = meta.get(client);
      if (known) known.lastUpdated = Infinity;
    }
  }

  /** The state of a client, if somebody is here who has one. */
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
