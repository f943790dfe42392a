/**
 * The board's place in a room: which channels it has, what each of them needs, and where their messages go.
 */

import {
  awareness,
  connect,
  transaction,
  type Channel,
  type Compress,
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
import type { Document } from "../model/document";
import { parseOperation, touched, type Operation } from "../model/operations";
import type { DragMessage, Live, StrokeMessage } from "./live";
import { Outbox } from "../../../common/net/outbox";
import type { PointerMessage, Pointers } from "../../../common/net/pointers";
import { readJson } from "../../../common/parse";
import type { Recorder } from "./recorder";
import { Restorer, type RestoredBy } from "../../../common/net/restore";
import { CALM, Talking } from "./talking";

export interface Presence {
  readonly name: string;
  readonly talking?: boolean;
}

export interface SessionOptions {
  readonly url: string;
  readonly room: string;
  readonly presence: Presence;
  /** The only one to use; else the best that works. */
  readonly transport: TransportName | undefined;
  /** How the messages of all channels become small. */
  readonly compress: Compress;
  readonly document: Document;
  readonly live: Live;
  readonly pointers: Pointers;
  readonly recorder: Recorder | undefined;
  readonly events: SessionEvents;
}

export interface SessionEvents {
  status(status: Status): void;
  /** The drawing as the room has it has arrived, for the first time. */
  synced(): void;
  participants(): void;
  /** Somebody began to talk, or nobody does any more. */
  talking(): void;
  /** Another transport is in use, or for another reason. */
  transport(): void;
  /** Something moved that is not in the document: draw a frame. */
  moved(): void;
  restored(by: RestoredBy): void;
  /** Part of the drawing did not come through and will not. */
  incomplete(): void;
  error(error: RoomError): void;
}

export class Session {
  private readonly room: Room<Presence>;
  private readonly pointer: Channel;
  private readonly stroke: Channel;
  private readonly drag: Channel;
  private readonly draw: Channel;
  private readonly talking: Talking;
  private name: string;
  private readonly outbox: Outbox;
  private readonly restorer: Restorer;
  /** The drawing as the room had it when this window came has arrived. */
  isSynced = false;

  constructor(private readonly options: SessionOptions) {
    const { url, room, presence, transport, compress, document, events } = options;
    this.room = connect<Presence>(url, room, { presence, ...(transport ? { transports: [transport] } : {}) });
    this.name = presence.name;
    this.pointer = this.room.channel("pointer", awareness({ ...CALM, compress }));
    this.talking = new Talking(this.pointer);
    // Of a stroke every point counts until the finished one arrives, so none may replace another.
    this.stroke = this.room.channel(
      "stroke",
      awareness({ overflow: "aggregate", maxRate: 25, loss: 0.02, deadline: 400, compress }),
    );
    this.drag = this.room.channel("drag", awareness({ maxRate: 25, loss: 0.05, deadline: 250, compress }));
    this.draw = this.room.channel("draw", transaction({ priority: 200, compress }));
    this.outbox = new Outbox(this.draw);
    this.restorer = new Restorer(document, () => this.room, events.restored);
    this.listen();
  }

  get status(): Status {
    return this.room.status;
  }

  get stats(): Stats {
    return this.room.stats;
  }

  get transport(): Transport | undefined {
    return this.room.transport;
  }

  setTransports(names: readonly TransportName[] | undefined): void {
    this.room.setTransports(names);
  }

  get compress(): Compress {
    return this.draw.compress;
  }

  set compress(name: Compress) {
    for (const channel of this.channels) channel.compress = name;
  }

  get self(): Participant<Presence> | undefined {
    return this.room.self;
  }

  get participants(): ReadonlyMap<number, Participant<Presence>> {
    return this.room.participants;
  }

  rename(name: string): void {
    this.name = name;
    this.present();
  }

  /** The channels, which say how their contracts stand. */
  get channels(): readonly Channel[] {
    return [this.pointer, this.stroke, this.drag, this.draw];
  }

  /** This participant talks. */
  get isTalking(): boolean {
    return this.talking.isOn;
  }

  /** Somebody does, so that pointers keep up. */
  get isTalkHeard(): boolean {
    return this.talking.isHeard;
  }

  toggleTalking(): void {
    this.talking.toggle(this.self, this.participants.values());
    this.present();
  }

  private present(): void {
    this.room.setPresence({ name: this.name, ...(this.isTalking ? { talking: true } : {}) });
  }

  sendOperation(operation: Operation): void {
    const text = JSON.stringify(operation);
    this.record("sent", this.self?.id ?? 0, "draw", text);
    this.outbox.send(text);
  }

  sendPointer(message: PointerMessage): void {
    this.sendLive(this.pointer, message);
  }

  sendStroke(message: StrokeMessage): void {
    this.sendLive(this.stroke, message);
  }

  sendDrag(message: DragMessage): void {
    this.sendLive(this.drag, message, message.id);
  }

  private sendLive(channel: Channel, message: object, key?: string): void {
    // Nobody is there to watch, or nobody can: later it is worth nothing.
    if (this.room.participants.size === 0 || this.room.status !== "connected") return;
    const text = JSON.stringify(message);
    this.record("sent", this.self?.id ?? 0, channel.name, text);
    channel.send(text, key === undefined ? {} : { key });
  }

  private listen(): void {
    const { document, live, pointers, events } = this.options;
    this.onLive(this.pointer, (message, value, now) =>
      pointers.receive(message.sender, value, now, message.age, message.index),
    );
    this.onLive(this.stroke, ({ sender }, value, now) => live.receiveStroke(sender, value, now));
    this.onLive(this.drag, ({ sender, age }, value, now) => live.receiveDrag(sender, value, now, age));
    this.pointer.on("qos", () => events.talking());
    this.draw.on("message", (message) => this.receiveOperation(message));
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
      const isHere = (id: number) => participants.get(id)?.away === false;
      pointers.keep(isHere);
      live.keep(isHere);
      this.talking.settle(this.self, participants.values());
      events.participants();
    });
    this.room.on("error", (error) => events.error(error));
  }

  private onLive(channel: Channel, receive: (message: Message, value: unknown, now: number) => void): void {
    channel.on("message", (message) => {
      this.record("received", message.sender, channel.name, message.data);
      // Overtaken by the operation that finished it.
      if (message.stale || message.own) return;
      receive(message, readJson(message), performance.now());
      this.options.events.moved();
    });
  }

  private receiveOperation(message: Message): void {
    const { document, live } = this.options;
    if (!message.own) this.record("received", message.sender, this.draw.name, message.data);
    const operation = parseOperation(readJson(message));
    if (!operation) return;
    document.deliver(operation);
    if (operation.restore) this.restorer.delivered();
    const find = (id: string) => document.shapes.get(id);
    live.finish(message.sender, touched(operation), find, performance.now());
  }

  private receiveSnapshot({ data }: Snapshot): void {
    try {
      this.options.document.replace(new TextDecoder().decode(data));
    } catch {
      // Made by something that is no whiteboard: what follows it cannot be shown rightly.
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

  private record(kind: "sent" | "received", sender: number, channel: string, data: string | Uint8Array): void {
    this.options.recorder?.note(kind, sender, channel, data);
  }
}
