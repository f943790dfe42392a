/** What the devtools know of one room. It is recorded while nobody looks, and drawn by others. */

import type { ContractEvent, RoomError, Status } from "../api.js";
import type { RoomChannel } from "../channel.js";
import { guarded } from "../events.js";
import { LABELS } from "../reasons.js";
import { OPENED, type Opened } from "../shared/opened.js";
import type { Network } from "./network.js";
import type { Packet } from "./packets.js";
import { Pending } from "./pending.js";
import { Ring } from "./ring.js";
import type { OpenRoom } from "./rooms.js";
import { Tap } from "./tap.js";
import { wrap } from "./wrap.js";

/** Packets that are kept: those of five seconds, at 100 a second. */
const PACKETS = 500;

/** Entries of the log that are kept. */
const ENTRIES = 200;

/** A line of the log of a room. */
export interface Entry {
  readonly number: number;
  /** By `Date.now()`. */
  readonly at: number;
  readonly kind: "connection" | "problem" | "error" | "contract" | "gap";
  /** A code of the product; empty if there is none. */
  readonly code: string;
  readonly text: string;
}

/** What an application shows besides the shared data of a room, by its names. */
export type Data = Readonly<Record<string, unknown>>;

export class Watch {
  readonly room: OpenRoom;
  /** Values that the application wants to see. */
  readonly data: Data;
  readonly packets = new Ring<Packet>(PACKETS);
  readonly log = new Ring<Entry>(ENTRIES);
  /** When the connection was established; `undefined` if there is none, or it was there before. */
  since: number | undefined;
  /** When the devtools began to look. */
  readonly began = Date.now();
  #tap: Tap | undefined;
  #entries = 0;
  readonly #contracts = new Map<number, ContractEvent>();
  readonly #listeners = new Set<() => void>();
  /** Listeners for changes of the connection and of contracts. */
  readonly #stateListeners = new Set<() => void>();
  readonly #stops: (() => void)[];

  constructor(room: OpenRoom, network: Network, data: Data) {
    this.room = room;
    this.data = data;
    const [driver, , events] = room.inside;
    this.#stops = [
      network.add(driver),
      // Not by listeners: errors and problems that nobody listens to are written to the console.
      wrap(events, "emit", (emit) => (event, value) => {
        guarded(() => this.#note(event, value));
        return emit(event, value);
      }),
    ];
    this.#attach();
    for (const channel of this.channels) {
      const contract = channel.contract;
      if (channel.id !== undefined && contract) this.#contracts.set(channel.id, contract);
    }
    const { status, transport, problem } = room;
    const how = transport ? ` over ${LABELS[transport.name]}` : "";
    this.#write("connection", "", `The devtools begin to look: ${status}${how}.`);
    if (problem) this.#write("problem", problem.code, problem.message);
  }

  get channels(): readonly RoomChannel[] {
    return this.room.inside[1];
  }

  get pending(): Pending {
    return this.#tap?.pending ?? new Pending(this.room.pending);
  }

  /** The shared data of the room, by the names of their channels. */
  get shared(): Readonly<Record<string, Opened>> {
    return OPENED.get(this.room) ?? {};
  }

  /** The channels whose contract is not kept. */
  get missed(): readonly RoomChannel[] {
    return this.channels.filter(({ id }) => id !== undefined && (this.#contracts.get(id)?.state ?? "met") !== "met");
  }

  /** Calls `listener` after each change, also after each packet. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls `listener` when the connection or a contract has changed. */
  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  stop(): void {
    this.#tap?.stop();
    for (const stop of this.#stops.splice(0).reverse()) stop();
    this.#listeners.clear();
    this.#stateListeners.clear();
  }

  /** The core may be loaded now. */
  #attach(): void {
    const [, , core] = this.room.inside[0].inside;
    if (this.#tap || !core) return;
    this.#tap = new Tap(core, {
      channel: (id) => {
        const channel = this.channels.find((channel) => channel.id === id);
        return { name: channel?.name ?? `${id}`, isTransaction: channel?.qos.kind === "transaction" };
      },
      transport: () => this.room.transport?.name,
      packet: (packet) => {
        this.packets.add(packet);
        this.#changed();
      },
      contract: (id, news) => this.#judge(id, news),
      changed: () => this.#changed(),
    });
  }

  #note(event: string, value: unknown): void {
    this.#attach();
    const { room } = this;
    if (event === "status") this.#noteStatus(value as Status);
    if (event === "transport" && room.transport) {
      this.#write("connection", "", `${LABELS[room.transport.name]}: ${room.transport.why}`);
    }
    if (event === "problem" && room.problem) this.#write("problem", room.problem.code, room.problem.message);
    if (event === "problem" && !room.problem) this.#write("connection", "", "The problem is over.");
    if (event === "error") {
      const { code, message, channel, fault } = value as RoomError;
      this.#write("error", code, `${channel === undefined ? "" : `${channel}: `}${message} (fault: ${fault})`);
    }
    if (event === "gap") {
      const { reason, uncertain, channel } = value as { reason: string; uncertain: number; channel?: string };
      const what = channel === undefined ? "" : ` on the channel "${channel}"`;
      this.#write("gap", reason, `Transactions are missing or uncertain${what}: ${uncertain} own ones are sent again.`);
    }
    this.#stateChanged();
  }

  #noteStatus(status: Status): void {
    this.since = status === "connected" ? Date.now() : undefined;
    this.#write("connection", "", STATUS_TEXTS[status]);
    if (status === "closed") this.#tap?.pending.clear();
  }

  #judge(id: number, news: ContractEvent): void {
    this.#contracts.set(id, news);
    const name = this.channels.find((channel) => channel.id === id)?.name ?? `${id}`;
    this.#write("contract", news.state, `${name}: ${news.text}`);
    this.#stateChanged();
  }

  #write(kind: Entry["kind"], code: string, text: string): void {
    this.#entries += 1;
    this.log.add({ number: this.#entries, at: Date.now(), kind, code, text });
  }

  #stateChanged(): void {
    for (const listener of [...this.#stateListeners]) listener();
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const STATUS_TEXTS: Readonly<Record<Status, string>> = {
  connecting: "Connecting.",
  connected: "Connected.",
  reconnecting: "The connection broke; reconnecting.",
  closed: "The room is closed.",
};
