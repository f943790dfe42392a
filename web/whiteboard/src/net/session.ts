/** The board's session: its channels, their QoS, and the routing of their messages. */

import {
  awareness,
  connect,
  type Channel,
  type Compress,
  type Message,
  type Room,
  type RoomError,
  type TransportName,
} from "groupwire";
import type { Document } from "../model/document";
import type { DragMessage, Live, StrokeMessage } from "./live";
import { readJson } from "../../../common/parse";
import type { Recorder } from "./recorder";
import { CALM, Talking } from "./talking";

export interface Presence {
  readonly name: string;
  readonly talking?: boolean;
}

export interface SessionOptions {
  readonly url: string;
  readonly room: string;
  readonly presence: Presence;
  /** The only transport to use; undefined for the best that works. */
  readonly transport: TransportName | undefined;
  /** The compression setting of all channels. */
  readonly compress: Compress;
  readonly document: Document;
  readonly live: Live;
  readonly recorder: Recorder | undefined;
  readonly events: SessionEvents;
}

export interface SessionEvents {
  /** The room's drawing has arrived for the first time. */
  synced(): void;
  participants(): void;
  /** A participant began to talk, or the last one has stopped. */
  talking(): void;
  /** Another transport is in use, or the reason for it has changed. */
  transport(): void;
  /** Something outside of the document has moved: draw a frame. */
  moved(): void;
  error(error: RoomError): void;
}

export class Session {
  readonly room: Room<Presence>;
  private readonly pointer: Channel;
  private readonly stroke: Channel;
  private readonly drag: Channel;
  private readonly draw: Channel;
  private readonly talking: Talking;
  private name: string;
  /** True once the drawing that the room had when this window joined has arrived. */
  isSynced = false;

  constructor(private readonly options: SessionOptions) {
    const { url, room, presence, transport, compress, document } = options;
    this.room = connect<Presence>(url, room, { presence, ...(transport ? { transports: [transport] } : {}) });
    this.name = presence.name;
    this.pointer = this.room.channel("pointer", awareness({ ...CALM, compress }));
    this.talking = new Talking(this.pointer);
    // Until the finished stroke arrives every point matters, so no message may replace another.
    this.stroke = this.room.channel(
      "stroke",
      awareness({ overflow: "aggregate", maxRate: 25, loss: 0.02, deadline: 400, compress }),
    );
    this.drag = this.room.channel("drag", awareness({ maxRate: 25, loss: 0.05, deadline: 250, compress }));
    document.open(this.room, compress);
    this.draw = this.room.channel("draw");
    // What shared data and the cursors send.
    if (options.recorder) for (const channel of [this.draw, this.pointer]) this.tap(channel);
    this.listen();
  }

  get compress(): Compress {
    return this.draw.compress;
  }

  set compress(name: Compress) {
    for (const channel of this.channels) channel.compress = name;
  }

  rename(name: string): void {
    this.name = name;
    this.present();
  }

  /** All channels, with the state of their contracts. */
  get channels(): readonly Channel[] {
    return [this.pointer, this.stroke, this.drag, this.draw];
  }

  /** True if this participant talks. */
  get isTalking(): boolean {
    return this.talking.isOn;
  }

  /** True if anybody talks, so that the pointer channel has its stricter QoS. */
  get isTalkHeard(): boolean {
    return this.talking.isHeard;
  }

  toggleTalking(): void {
    this.talking.toggle(this.room.self, this.room.participants.values());
    this.present();
  }

  private present(): void {
    this.room.setPresence({ name: this.name, ...(this.isTalking ? { talking: true } : {}) });
  }

  sendStroke(message: StrokeMessage): void {
    this.sendLive(this.stroke, message);
  }

  sendDrag(message: DragMessage): void {
    this.sendLive(this.drag, message, message.id);
  }

  private sendLive(channel: Channel, message: object, key?: string): void {
    // Without a receiver or a connection a live message is of no use later.
    if (this.room.participants.size === 0 || this.room.status !== "connected") return;
    const text = JSON.stringify(message);
    this.record("sent", this.room.self?.id ?? 0, channel.name, text);
    channel.send(text, key === undefined ? {} : { key });
  }

  private listen(): void {
    const { document, live, events } = this.options;
    this.pointer.on("message", ({ sender, data }) => this.record("received", sender, "pointer", data));
    this.onLive(this.stroke, ({ sender }, value, now) => live.receiveStroke(sender, value, now));
    this.onLive(this.drag, ({ sender, age, index }, value, now) => live.receiveDrag(sender, value, now, age, index));
    this.pointer.on("qos", () => events.talking());
    this.draw.on("message", ({ own, sender, data, departed }) => {
      if (!own && departed === undefined) this.record("received", sender, "draw", data);
    });
    document.listen({
      ordered: (sender, ids) => live.finish(sender, ids, (id) => document.shapes.get(id), performance.now()),
    });
    this.room.on("synced", () => {
      if (!this.isSynced) events.synced();
      this.isSynced = true;
    });
    this.room.on("transport", () => events.transport());
    this.room.on("participants", (participants) => {
      const isHere = (id: number) => participants.get(id)?.away === false;
      live.keep(isHere);
      this.talking.settle(this.room.self, participants.values());
      events.participants();
    });
    // Other participants may have these ids now.
    this.room.on("gap", ({ reason }) => reason === "incarnation" && live.keep(() => false));
    this.room.on("error", (error) => events.error(error));
  }

  private onLive(channel: Channel, receive: (message: Message, value: unknown, now: number) => void): void {
    channel.on("message", (message) => {
      this.record("received", message.sender, channel.name, message.data);
      // The message was overtaken by the operation that finished its action.
      if (message.stale || message.own) return;
      receive(message, readJson(message), performance.now());
      this.options.events.moved();
    });
  }

  private record(kind: "sent" | "received", sender: number, channel: string, data: string | Uint8Array): void {
    this.options.recorder?.note(kind, sender, channel, data);
  }

  /** Records what is sent on a channel. */
  private tap(channel: Channel): void {
    const send = channel.send.bind(channel);
    channel.send = (payload, options) => {
      this.record("sent", this.room.self?.id ?? 0, channel.name, payload as string);
      return send(payload, options);
    };
  }
}
