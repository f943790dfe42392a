/**
 * The puzzle's place in a room: which channels it has, what each of them needs, and where their messages go.
 */

import {
  awareness,
  connect,
  transaction,
  type Channel,
  type Gap,
  type Message,
  type Participant,
  type Room,
  type RoomError,
  type Snapshot,
  type Stats,
  type Status,
  type Transport,
  type TransportName,
} from "groupwire";
import { Outbox } from "../../../common/net/outbox";
import type { PointerMessage, Pointers } from "../../../common/net/pointers";
import { rank, Restorer, type RestoredBy } from "../../../common/net/restore";
import { isRecord, readJson } from "../../../common/parse";
import type { Document } from "../model/document";
import { parseOperation, type Operation } from "../model/operations";
import type { DragMessage, Live } from "./live";
import type { Meter } from "./meter";

export interface Presence {
  readonly name: string;
  /** Names the window in operations: who has a piece in hand is told by it. */
  readonly window: string;
}

export interface SessionOptions {
  readonly url: string;
  readonly room: string;
  readonly name: string;
  /** The only one to use; else the best that works. */
  readonly transport: TransportName | undefined;
  readonly document: Document;
  readonly live: Live;
  readonly pointers: Pointers;
  readonly meter: Meter;
  readonly events: SessionEvents;
}

export interface SessionEvents {
  status(status: Status): void;
  /** The puzzle as the room has it has arrived, for the first time. */
  synced(): void;
  participants(): void;
  /** Another transport is in use, or for another reason. */
  transport(): void;
  /** Something moved that is not in the document: draw a frame. */
  moved(): void;
  restored(by: RestoredBy): void;
  /** Part of the puzzle did not come through and will not. */
  incomplete(): void;
  error(error: RoomError): void;
}

/** Whiteboards of the same name are other rooms. */
const PREFIX = "puzzle/";

/** Whoever holds a piece and is not found so many times, this far apart (ms), is gone for good. */
const ABSENCES = 2;
const ROLL_CALL = 2000;

export class Session {
  private readonly room: Room<Presence>;
  private readonly pointer: Channel;
  private readonly drag: Channel;
  private readonly moves: Channel;
  private readonly outbox: Outbox;
  private readonly restorer: Restorer;
  private readonly absent = new Map<string, number>();
  /** The puzzle as the room had it when this window came has arrived. */
  isSynced = false;

  constructor(private readonly options: SessionOptions) {
    const { url, room, name, document, transport, events } = options;
    const presence = { name, window: document.by };
    const only = transport ? { transports: [transport] } : {};
    this.room = connect<Presence>(url, PREFIX + room, { presence, ...only });
    // A pointer is worth watching at 25 positions a second and worth nothing after a quarter of one.
    this.pointer = this.room.channel("pointer", awareness({ maxRate: 25, loss: 0.05, deadline: 250 }));
    // A piece is larger than a pointer, and looked at more closely.
    this.drag = this.room.channel("drag", awareness({ maxRate: 30, loss: 0.05, deadline: 250, priority: 160 }));
    this.moves = this.room.channel("moves", transaction({ priority: 200 }));
    this.outbox = new Outbox(this.moves);
    this.restorer = new Restorer(document, () => this.room, events.restored);
    this.listen();
    setInterval(() => this.callRoll(), ROLL_CALL);
  }

  get status(): Status {
    return this.room.status;
  }

  get stats(): Stats {
    return this.room.stats;
  }

  get self(): Participant<Presence> | undefined {
    return this.room.self;
  }

  get participants(): ReadonlyMap<number, Participant<Presence>> {
    return this.room.participants;
  }

  get transport(): Transport | undefined {
    return this.room.transport;
  }

  setTransports(names: readonly TransportName[] | undefined): void {
    this.room.setTransports(names);
  }

  rename(name: string): void {
    this.room.setPresence({ name, window: this.options.document.by });
  }

  /** The participant of a window. */
  participantOf(window: string): number | undefined {
    if (window === this.options.document.by) return this.self?.id;
    return [...this.participants.values()].find((participant) => windowOf(participant) === window)?.id;
  }

  windowOf(id: number): string | undefined {
    const participant = this.participants.get(id);
    return participant && windowOf(participant);
  }

  sendOperation(operation: Operation): void {
    this.outbox.send(JSON.stringify(operation));
  }

  sendPointer(message: PointerMessage): void {
    this.sendLive(this.pointer, message);
  }

  sendDrag(message: DragMessage): void {
    this.sendLive(this.drag, message, String(message.piece));
  }

  private sendLive(channel: Channel, message: object, key?: string): void {
    // Nobody is there to watch, or nobody can: later it is worth nothing.
    if (this.room.participants.size === 0 || this.room.status !== "connected") return;
    channel.send(JSON.stringify(message), key === undefined ? {} : { key });
  }

  private listen(): void {
    const { document, live, pointers, events } = this.options;
    this.onLive(this.pointer, (message, value, now) =>
      pointers.receive(message.sender, value, now, message.age, message.index),
    );
    this.onLive(this.drag, ({ sender, age, index, state }, value, now) =>
      live.receive(sender, value, { now, age, index, state }),
    );
    this.moves.on("message", (message) => this.receiveOperation(message));
    this.room.provideSnapshot(() => document.snapshot());
    this.room.on("snapshot", (snapshot) => this.receiveSnapshot(snapshot));
    this.room.on("gap", (gap) => this.receiveGap(gap));
    this.room.on("synced", () => {
      if (!this.isSynced) events.synced();
      this.isSynced = true;
      this.restorer.synced();
    });
    this.room.on("drain", () => this.outbox.flush());
    this.room.on("status", (status) => events.status(status));
    this.room.on("transport", () => events.transport());
    this.room.on("participants", (participants) => {
      const isHere = (id: number): boolean => participants.get(id)?.away === false;
      pointers.keep(isHere);
      live.keep(isHere);
      events.participants();
    });
    this.room.on("error", (error) => events.error(error));
  }

  private onLive(channel: Channel, receive: (message: Message, value: unknown, now: number) => void): void {
    channel.on("message", (message) => {
      if (message.own) return;
      if (!message.state) this.options.meter.note(message.age);
      // Overtaken by the drop.
      if (message.stale) return;
      receive(message, readJson(message), performance.now());
      this.options.events.moved();
    });
  }

  private receiveOperation(message: Message): void {
    const { document, live } = this.options;
    const operation = parseOperation(readJson(message));
    if (!operation) return;
    if (!("grab" in operation)) live.finish(message.sender);
    document.deliver(operation);
    if ("restore" in operation) this.restorer.delivered();
  }

  private receiveSnapshot({ data }: Snapshot): void {
    try {
      this.options.document.replace(new TextDecoder().decode(data));
    } catch {
      // Made by something that is no puzzle: what follows it cannot be shown rightly.
      this.options.events.incomplete();
    }
  }

  private receiveGap({ reason }: Gap): void {
    // Others have these ids now, and count anew.
    if (reason !== "history") this.options.pointers.keep(() => false);
    if (reason === "incarnation") this.restorer.begin();
    // After "session" nothing is missing: this window is another participant now, and what was not ordered is sent
    // again by the client; the document knows by (by, n) what it has already.
    if (reason === "history") this.options.events.incomplete();
  }

  /** What somebody held who has left lies on the table again. One of those who are here sees to it. */
  private callRoll(): void {
    if (!this.isSynced || this.status !== "connected") return;
    const { document } = this.options;
    const { holders } = document.state;
    for (const window of this.absent.keys()) if (!holders.has(window)) this.absent.delete(window);
    for (const window of holders) {
      const count = this.participantOf(window) === undefined ? (this.absent.get(window) ?? 0) + 1 : 0;
      this.absent.set(window, count);
      if (count >= ABSENCES && rank(this.room) === 0) document.perform({ free: window });
    }
  }
}

/** What a participant says of itself is what anybody wrote. */
function windowOf({ presence }: Participant<Presence>): string | undefined {
  return isRecord(presence) && typeof presence.window === "string" ? presence.window : undefined;
}
