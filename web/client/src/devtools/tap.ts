/** Listens in on the core of one room: which packets and messages go through it. */

import type { ContractEvent, TransportName } from "../api.js";
import type { Core, CoreMessage, Output } from "../core.js";
import { guarded } from "../events.js";
import { Counts } from "./counts.js";
import { NOTHING, plain, type Carried, type Packet, type Plain } from "./packets.js";
import { Pending } from "./pending.js";
import { wrap } from "./wrap.js";

/** What a tap needs to know of its room. */
export interface Around {
  /** The name of a channel, and whether it has transactions. */
  channel(id: number): { readonly name: string; readonly isTransaction: boolean };
  transport(): TransportName | undefined;
  /** A packet was sent or received. The contents of one that was sent may follow at once. */
  packet(packet: Packet): void;
  contract(id: number, news: ContractEvent): void;
  /** Something else that is shown may have changed. */
  changed(): void;
}

// An error of the devtools must not reach the client, which would end the room: it is reported as
// an uncaught one.

/** Messages of an awareness channel that wait for a packet are kept up to this number. */
const MOST_SUBMITTED = 100;

export class Tap {
  readonly core: Core;
  readonly pending: Pending;
  readonly #around: Around;
  readonly #stops: (() => void)[];
  readonly #sent: Counts;
  readonly #received: Counts;
  /** Messages of awareness channels since the last packet, by channel. */
  readonly #submitted = new Map<number, Plain[]>();
  /** The packets that the core is making: as many as the transport takes, in one go. */
  #making: Packet[] = [];
  /** The packet that the core is reading, and what came with it. */
  #reading: Packet | undefined;
  #messages: Carried[] = [];
  #notes: string[] = [];
  #packets = 0;

  constructor(core: Core, around: Around) {
    this.core = core;
    this.#around = around;
    const stats = core.stats();
    this.#sent = new Counts("sent", stats);
    this.#received = new Counts("received", stats);
    this.pending = new Pending(core.pending());
    this.#stops = [
      wrap(core, "send", (send) => (now, channel, bytes, text, key, priority) => {
        const sent = send(now, channel, bytes, text, key, priority);
        if (sent !== "not-now") guarded(() => this.#submit(channel, bytes, text));
        return sent;
      }),
      wrap(core, "sendTo", (sendTo) => (now, channel, bytes, text, to, tag) => {
        const sent = sendTo(now, channel, bytes, text, to, tag);
        const { name } = around.channel(channel);
        const add = (): void => this.pending.add(channel, plain(name, bytes, text), Date.now(), to, tag);
        if (sent !== "not-now") guarded(add);
        return sent;
      }),
      wrap(core, "received", (received) => (now, packet) => {
        guarded(() => this.#read("stream", packet.length));
        received(now, packet);
      }),
      wrap(core, "receivedDatagram", (received) => (now, packet) => {
        guarded(() => this.#read("datagram", packet.length));
        received(now, packet);
      }),
      wrap(core, "poll", (poll) => (now) => {
        const output = poll(now);
        guarded(() => this.#take(output));
        return output;
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #submit(id: number, bytes: Uint8Array, isText: boolean): void {
    const { name, isTransaction } = this.#around.channel(id);
    const message = plain(name, bytes, isText);
    if (isTransaction) this.pending.add(id, message, Date.now());
    else this.#submitted.set(id, [...(this.#submitted.get(id) ?? []), message].slice(-MOST_SUBMITTED));
  }

  #read(carrier: Packet["carrier"], bytes: number): void {
    this.#endReading();
    this.#reading = this.#add("in", carrier, bytes);
  }

  #take(output: Output): void {
    switch (output.type) {
      case "send":
        return void this.#making.push(this.#add("out", "stream", output.packet.length));
      case "datagram":
        return void this.#making.push(this.#add("out", "datagram", output.packet.length));
      case "timeout":
        this.#endMaking();
        return this.#endReading();
      case "message":
      case "direct":
        return void this.#messages.push(this.#carried(output));
      case "receipt":
        this.pending.received(output.tag);
        break;
      case "contract":
        this.#around.contract(output.channel, output.news);
        break;
      case "pending":
        // A listener of an earlier event may have sent another one.
        if (output.count === 0 && this.core.pending() === 0) this.pending.settle();
        break;
      default:
    }
    const note = noteOf(output, (id) => this.#around.channel(id).name);
    if (note) this.#notes.push(note);
    this.#around.changed();
  }

  /** The core counts all packets that it makes in one go at once. */
  #endMaking(): void {
    const made = this.#making.splice(0);
    if (made.length === 0) return;
    const { payload, channels } = this.#sent.step(this.core.stats());
    const messages = channels.flatMap(({ id, count, bytes }) => this.#leaving(id, count, bytes));
    // If only one of them is large enough for the payload, the others have none.
    const likely = made.filter(({ bytes }) => bytes >= payload);
    const carriers = payload > 0 && likely.length === 1 ? likely : made;
    for (const packet of carriers) packet.contents = { ...NOTHING, packets: carriers.length, payload, messages };
    this.#around.changed();
  }

  /**
   * The messages of a channel that have left: each of them if the devtools know which, otherwise
   * their sum.
   */
  #leaving(id: number, count: number, bytes: number): Carried[] {
    const { name, isTransaction } = this.#around.channel(id);
    const submitted = this.#submitted.get(id) ?? [];
    this.#submitted.delete(id);
    const known: readonly Plain[] = isTransaction ? this.pending.left(id, count) : submitted;
    const one = { sender: undefined, key: undefined, kind: "message" as const };
    if (known.length === count)
      return known.map(({ bytes, text }) => ({ ...one, channel: name, count: 1, bytes, text }));
    return [{ ...one, channel: name, count, bytes, text: "" }];
  }

  #endReading(): void {
    const [packet, messages, notes] = [this.#reading, this.#messages, this.#notes];
    [this.#reading, this.#messages, this.#notes] = [undefined, [], []];
    if (!packet) return;
    const { payload } = this.#received.step(this.core.stats());
    packet.contents = { packets: 1, payload, messages, notes };
  }

  #carried(message: CoreMessage): Carried {
    const { channel, data, sender, key, own, departed } = message;
    const { name, isTransaction } = this.#around.channel(channel);
    const isOwn = own && isTransaction;
    const waited = isOwn ? this.pending.confirmed() : undefined;
    this.#around.changed();
    const text = departed === undefined ? {} : { text: `participant ${departed} has left` };
    const kind = message.type === "direct" ? "direct" : isOwn ? "own" : "message";
    return { ...(waited ?? plain(name, data)), ...text, channel: name, count: 1, sender, key, kind };
  }

  #add(way: Packet["way"], carrier: Packet["carrier"], bytes: number): Packet {
    const number = (this.#packets += 1);
    const transport = this.#around.transport();
    const packet = { number, at: Date.now(), way, carrier, bytes, transport, contents: NOTHING };
    this.#around.packet(packet);
    return packet;
  }
}

/** What an event that came with a packet says, for the list of its contents. */
function noteOf(output: Output, nameOf: (id: number) => string): string {
  switch (output.type) {
    case "joined":
      return `joined as participant ${output.participant}`;
    case "opened":
      return `channel "${nameOf(output.channel)}" opened`;
    case "closed":
      return `channel "${nameOf(output.channel)}" closed`;
    case "changed":
      return `QoS of "${nameOf(output.channel)}" changed`;
    case "participants":
      return `participants: ${output.changes.map(({ id, state }) => `${id} ${state}`).join(", ") || "nobody else"}`;
    case "count":
      return `${output.count} participants`;
    case "synced":
      return output.channel === undefined ? "late-joiner state complete" : `"${nameOf(output.channel)}" complete`;
    case "snapshot":
      return `snapshot part "${output.part}", ${output.data.length} bytes`;
    case "receipt":
      return `message to one participant: ${output.receipt}`;
    case "gap":
      return `gap: ${output.reason}`;
    case "error":
      return `error: ${output.code}`;
    default:
      return "";
  }
}
