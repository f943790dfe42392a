/** The puzzle's session: its channels, their QoS, and the routing of their messages. */

import {
  awareness,
  connect,
  type Channel,
  type Message,
  type Participant,
  type Room,
  type RoomError,
  type TransportName,
} from "groupwire";
import { isRecord, readJson } from "../../../common/parse";
import type { Document } from "../model/document";
import { pieceCount } from "../model/spec";
import type { State } from "../model/state";
import type { DragMessage, Live } from "./live";
import type { Meter } from "./meter";

export interface Presence {
  readonly name: string;
  /** The id of the window, by which operations name the holder of a piece. */
  readonly window: string;
}

export interface SessionOptions {
  readonly url: string;
  readonly room: string;
  readonly name: string;
  /** The only transport to use; undefined for the best that works. */
  readonly transport: TransportName | undefined;
  readonly document: Document;
  readonly live: Live;
  readonly meter: Meter;
  readonly events: SessionEvents;
}

export interface SessionEvents {
  /** The room's puzzle has arrived for the first time. */
  synced(): void;
  participants(): void;
  /** Another transport is in use, or the reason for it has changed. */
  transport(): void;
  /** Something outside of the document has moved: draw a frame. */
  moved(): void;
  error(error: RoomError): void;
}

/** Separates the rooms of puzzles from those of whiteboards. */
const PREFIX = "puzzle/";

/**
 * A window that holds a piece and is absent in `ABSENCES` checks, at this interval in ms, has left
 * for good.
 */
const ABSENCES = 2;
const ABSENCE_CHECK = 2000;

export class Session {
  readonly room: Room<Presence>;
  private readonly pointer: Channel;
  private readonly drag: Channel;
  private readonly absent = new Map<string, number>();
  /** True once the puzzle that the room had when this window joined has arrived. */
  isSynced = false;

  constructor(private readonly options: SessionOptions) {
    const { url, room, name, document, transport } = options;
    const presence = { name, window: document.by };
    const only = transport ? { transports: [transport] } : {};
    this.room = connect<Presence>(url, PREFIX + room, { presence, ...only });
    // A pointer is useful at 25 positions a second and of no use after 250 ms.
    this.pointer = this.room.channel("pointer", awareness({ maxRate: 25, loss: 0.05, deadline: 250 }));
    // A piece is larger than a pointer, so that jumps are more visible.
    this.drag = this.room.channel("drag", awareness({ maxRate: 30, loss: 0.05, deadline: 250, priority: 160 }));
    document.open(this.room);
    this.listen();
    setInterval(() => this.releaseAbsent(), ABSENCE_CHECK);
  }

  rename(name: string): void {
    this.room.setPresence({ name, window: this.options.document.by });
  }

  /** The participant id of a window. */
  participantOf(window: string): number | undefined {
    if (window === this.options.document.by) return this.room.self?.id;
    return [...this.room.participants.values()].find((participant) => windowOf(participant) === window)?.id;
  }

  windowOf(id: number): string | undefined {
    const participant = this.room.participants.get(id);
    return participant && windowOf(participant);
  }

  sendDrag(message: DragMessage): void {
    this.sendLive(this.drag, message, String(message.piece));
  }

  private sendLive(channel: Channel, message: object, key?: string): void {
    // Without a receiver or a connection a live message is of no use later.
    if (this.room.participants.size === 0 || this.room.status !== "connected") return;
    channel.send(JSON.stringify(message), key === undefined ? {} : { key });
  }

  private listen(): void {
    const { document, live, events } = this.options;
    this.onLive(this.pointer, () => {});
    this.onLive(this.drag, (message) => {
      // The drop has overtaken a stale message.
      if (message.stale) return;
      const { sender, age, index, state } = message;
      live.receive(sender, readJson(message), { now: performance.now(), age, index, state });
      events.moved();
    });
    document.listen({ changed: (before) => this.finishDrags(before) });
    this.room.on("synced", () => {
      if (!this.isSynced) events.synced();
      this.isSynced = true;
    });
    this.room.on("status", () => events.transport());
    this.room.on("transport", () => events.transport());
    this.room.on("participants", (participants) => {
      const isHere = (id: number): boolean => participants.get(id)?.away === false;
      live.keep(isHere);
      events.participants();
    });
    // Other participants may have these ids now, and count their messages anew.
    this.room.on("gap", ({ reason }) => reason === "incarnation" && live.keep(() => false));
    this.room.on("error", (error) => events.error(error));
  }

  /** Calls `receive` with the messages of others, and measures how old they are. */
  private onLive(channel: Channel, receive: (message: Message) => void): void {
    channel.on("message", (message) => {
      if (message.own) return;
      if (!message.state) this.options.meter.note(message.age);
      receive(message);
    });
  }

  /** Ends the drags of pieces that have been dropped. */
  private finishDrags(before: State): void {
    const { document, live } = this.options;
    const { state } = document;
    live.keep((sender, { game, piece }) => {
      if (game !== state.game || game !== before.game || piece >= pieceCount(state.spec)) return true;
      const group = state.group(piece);
      // While the piece has not changed, the drag may have overtaken the grab.
      return group === before.group(piece) || group.holder === this.windowOf(sender);
    });
  }

  /** Releases the pieces of windows that have left. The first participant of the room does this. */
  private releaseAbsent(): void {
    if (!this.isSynced || this.room.status !== "connected") return;
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

/** The window id in a presence, which another program wrote and which may be any JSON. */
function windowOf({ presence }: Participant<Presence>): string | undefined {
  return isRecord(presence) && typeof presence.window === "string" ? presence.window : undefined;
}

/** The number of connected participants with a lower id than this one. */
function rank({ self, participants }: Room<Presence>): number {
  return [...participants.values()].filter(({ id, away }) => !away && id < (self?.id ?? 0)).length;
}
