/**
 * Synchronises one document with a channel of a room. Each change is a transaction. The room's
 * order and its snapshot bring all changes to all participants. Changes that the room lacks,
 * because they were made offline or the server lost the room, are found by comparing.
 */

import type { Channel, ChannelOptions, Gap, Message, Room } from "groupwire";
import * as Y from "yjs";
import { Claims } from "./claims.js";
import { ask, CLAIM, cut, done, parse } from "./control.js";
import { difference, isEmpty, smallest } from "./difference.js";
import type { Held } from "./held.js";
import { Pieces } from "./pieces.js";

/** The largest message of a room in memory, and of a stored one. */
const MAX_MESSAGE = 60_000;
const MAX_STORED = 16 << 20;

/** A difference of this size is sent without asking whether others have it, too. */
const SMALL = 1000;

/** If more updates than this wait for a connection, they are merged. */
const MAX_QUEUE = 100;

/** A change that was sent and is not ordered. */
interface Sent {
  readonly update: Uint8Array;
  /** If it travels in pieces, their series. */
  series: number | undefined;
}

/** The callbacks of the provider. */
export interface Told {
  /** Called when {@link DocumentSync.isSynced}, `isSaved` or `isReadOnly` may have changed. */
  readonly changed: () => void;
  /** An administrator has emptied the channel. */
  readonly reset: () => void;
}

/** The provider that uses the document. */
interface Owner {
  /** The Yjs origin of changes that come from the room. */
  readonly origin: unknown;
  readonly told: Told;
}

const NOBODY: Owner = { origin: undefined, told: { changed: () => {}, reset: () => {} } };

export class DocumentSync implements Held {
  readonly #room: Room;
  readonly #name: string;
  readonly #qos: Partial<ChannelOptions>;
  #channel: Channel;
  #closing: Promise<void> | undefined;
  /** True if the channel was closed and has to be opened again on use. */
  #mustOpen = false;
  /** The document; while no provider is attached, a copy. */
  #doc = new Y.Doc();
  #owner = NOBODY;
  readonly #claims = new Claims();
  readonly #pieces = new Pieces();
  /** Changes that have not been sent. */
  #queue: Uint8Array[] = [];
  #sent: Sent[] = [];
  /** Messages that the client has not accepted yet. */
  readonly #outbox: (string | Uint8Array)[] = [];
  #series = 0;
  /** The updates that the room has, until they have been compared with the document. */
  #collected: Uint8Array[] | undefined;
  #wasEmpty = true;
  /** True once everything has arrived that the room had when this participant connected. */
  isSynced = false;
  #hasSynced = false;
  /** False if the room no longer has changes that never arrived here. */
  #isComplete = true;
  /** True if this program has not asked others for such changes yet. */
  #mustAsk = false;
  /** True after an administrator has emptied the document, until the provider is detached. */
  #isReset = false;
  /** True if the room refuses changes of this participant. */
  isReadOnly = false;

  constructor(room: Room, name: string, qos: Partial<ChannelOptions>) {
    this.#room = room;
    this.#name = name;
    this.#qos = qos;
    this.#channel = this.#open();
    this.#begin();
    this.#listen();
  }

  /** True if the room has ordered all changes of this document. */
  get isSaved(): boolean {
    const isWaiting = this.#queue.length + this.#sent.length + this.#outbox.length > 0;
    return !isWaiting && (!this.#collected || this.#wasEmpty);
  }

  /** True if no provider is attached. */
  get isFree(): boolean {
    return this.#owner === NOBODY;
  }

  /** Synchronises this document from now on. */
  attach(doc: Y.Doc, origin: unknown, told: Told): void {
    const copy = this.#doc;
    this.#owner = { origin, told };
    this.#doc = doc;
    // `copy` and `doc` each get what they lack.
    const known = Y.encodeStateAsUpdate(copy);
    const missing = difference(doc, [known]);
    // Before the next line, because Yjs may answer it with changes of its own: it removes what is
    // redundant in the format of a text.
    doc.on("update", this.#changed);
    if (!isEmpty(copy)) Y.applyUpdate(doc, known, origin);
    if (this.#collected && missing) this.#wasEmpty = false;
    else if (missing) this.#queue.push(missing);
    copy.destroy();
    if (this.#mustOpen && this.#room.status !== "closed") this.#channel = this.#open();
    this.#mustOpen = false;
    if (this.#closing) this.isSynced = false;
    else this.#goOn();
  }

  /** Detaches the document, and closes the channel. */
  detach(): void {
    this.#doc.off("update", this.#changed);
    const copy = new Y.Doc({ gc: this.#doc.gc });
    if (this.#isReset) this.#forget();
    else Y.applyUpdate(copy, Y.encodeStateAsUpdate(this.#doc));
    this.#doc = copy;
    this.#owner = NOBODY;
    if (this.#room.status !== "closed") this.#closing ??= this.#channel.close().then(() => this.#closed());
  }

  /** Begins as for a new room: an administrator has emptied the document. */
  #forget(): void {
    this.#isReset = false;
    this.#claims.clear();
    this.#pieces.clear();
    [this.#queue, this.#sent] = [[], []];
    this.#outbox.length = 0;
    [this.#isComplete, this.#mustAsk] = [true, false];
    this.#begin();
    this.#wasEmpty = true;
  }

  /**
   * Called when the channel is closed. If a provider was attached meanwhile, only now opens a new
   * channel, which gets the whole state.
   */
  #closed(): void {
    this.#closing = undefined;
    this.isSynced = false;
    this.#hasSynced = false;
    if (!this.isFree && this.#room.status !== "closed") this.#channel = this.#open();
    else this.#mustOpen = true;
  }

  get #settings(): ChannelOptions {
    return { ...this.#qos, kind: "transaction", departures: true };
  }

  #open(): Channel {
    return this.#follow(this.#room.channel(this.#name, this.#settings));
  }

  #follow(channel: Channel): Channel {
    channel.on("message", (message) => this.#receive(message));
    channel.on("synced", () => this.#synced());
    this.#room.provideSnapshot(() => this.#snapshot(), { part: this.#name, channels: [channel] });
    return channel;
  }

  #listen(): void {
    const room = this.#room;
    room.on("snapshot", ({ part, data }) => part === this.#name && this.#load(data));
    room.on("gap", (gap) => this.#gap(gap));
    // This event does not concern a channel that was opened later, before the channel itself has
    // been synced once.
    room.on("synced", () => this.#hasSynced && this.#synced());
    room.on("status", (status) => {
      if (status === "connected") return;
      this.isSynced = false;
      this.#owner.told.changed();
    });
    room.on("drain", () => this.#drain());
    room.on("pending", (count) => count === 0 && this.#refused());
  }

  readonly #changed = (update: Uint8Array, origin: unknown): void => {
    if (origin === this.#owner.origin) return;
    this.#queue.push(update);
    this.#flush();
    if (this.#queue.length > MAX_QUEUE) this.#queue = [Y.mergeUpdates(this.#queue)];
  };

  /** Begins to collect the room's updates, to compare them with the document. */
  #begin(): void {
    this.#collected = [];
    this.#wasEmpty = isEmpty(this.#doc);
    this.isSynced = false;
  }

  #receive({ sender, own, data, departed }: Message): void {
    if (departed !== undefined) {
      this.#pieces.drop(departed);
      // The room forgot this participant, which is back: its claim and its ask do not count any
      // more.
      if (this.#claims.departed(departed)) {
        if (!this.#isComplete) this.#mustAsk = true;
        if (this.isSynced) this.#synced();
      }
    } else if (typeof data !== "string") this.#take(data, own, undefined);
    else this.#control(sender, own, data);
    this.#lead();
  }

  #control(sender: number, own: boolean, text: string): void {
    const control = parse(text);
    if (control?.kind === "claim") this.#claims.claim(sender, own);
    if (control?.kind === "done" && this.#claims.done(sender, control.isComplete)) this.#isComplete = true;
    if (control?.kind === "ask") this.#claims.ask(sender, own, control.stateVector);
    if (control?.kind === "done" || control?.kind === "ask") this.#answer();
    if (control?.kind !== "piece") return;
    const update = this.#pieces.add(sender, control.piece);
    if (update) this.#take(update, own, control.piece.series);
  }

  /** Applies an update at its place in the room's order. */
  #take(update: Uint8Array, own: boolean, series: number | undefined): void {
    if (own) {
      const at = this.#sent.findIndex((sent) => sent.series === series);
      if (at >= 0) this.#sent.splice(at, 1);
      this.#owner.told.changed();
    } else if (!this.#apply(update)) return;
    this.#collected?.push(update);
  }

  /**
   * Returns false if the update is malformed: its sender is hostile, or has another version of Yjs.
   */
  #apply(update: Uint8Array): boolean {
    try {
      Y.applyUpdate(this.#doc, update, this.#owner.origin);
      return true;
    } catch (error) {
      console.warn(`groupwire-yjs: an update of "${this.#channel.name}" is malformed, and is left out`, error);
      return false;
    }
  }

  #load(snapshot: Uint8Array): void {
    try {
      const update = this.#pieces.decode(snapshot);
      if (this.#apply(update)) this.#collected?.push(update);
    } catch (error) {
      console.warn(`groupwire-yjs: the snapshot of "${this.#channel.name}" is malformed, and is left out`, error);
    }
  }

  #snapshot(): Uint8Array | undefined {
    // The snapshot may contain own changes that are not ordered: an update counts once. Changes of
    // a reader must not get into it.
    if (!this.#isComplete || this.isReadOnly) return undefined;
    return this.#pieces.encode(Y.encodeStateAsUpdate(this.#doc));
  }

  #synced(): void {
    this.#hasSynced = true;
    this.isSynced = true;
    if (this.#queue.length > 1) this.#queue = [Y.mergeUpdates(this.#queue)];
    if (this.#collected) this.#compare(this.#collected);
    this.#goOn();
  }

  /** Sends everything that is waiting. */
  #goOn(): void {
    this.#drain();
    this.#ask();
    this.#answer();
    this.#flush();
    this.#lead();
  }

  /** Sends what the room lacks, once everything has arrived. */
  #compare(collected: readonly Uint8Array[]): void {
    const isSame = this.#wasEmpty && this.#queue.length === 0;
    const missing = isSame ? undefined : difference(this.#doc, collected);
    // The difference contains the waiting changes.
    this.#queue = [];
    if (missing && missing.length > SMALL) {
      this.#wasEmpty = false;
      if (this.#claim()) return;
    }
    this.#collected = undefined;
    if (missing) this.#queue.push(missing);
  }

  /** Returns false if the room does not take changes. */
  #claim(): boolean {
    if (!this.#claims.isWaiting) this.#claims.isWaiting = this.#post([CLAIM]);
    return this.#claims.isWaiting;
  }

  /** Sends what the room or other participants lack, if this program leads. */
  #lead(): void {
    if (!this.#claims.leads || !this.isSynced || this.isFree || this.#closing) return;
    const least = smallest(this.#claims.asked);
    this.#claims.led();
    const missing = this.#collected && difference(this.#doc, this.#collected);
    this.#collected = undefined;
    if (missing) this.#queue.push(missing);
    if (least) this.#queue.push(Y.encodeStateAsUpdate(this.#doc, least));
    this.#flush();
    this.#post([done(this.#isComplete)]);
  }

  /**
   * Claims to answer others, even if this program itself lacks something: it may have what they
   * lack.
   */
  #answer(): void {
    if (this.isSynced && this.#claims.asked.length > 0 && !isEmpty(this.#doc)) this.#claim();
  }

  #gap({ reason, channel }: Gap): void {
    if (reason === "incarnation") {
      this.#claims.clear();
      this.#pieces.clear();
      this.#isComplete = true;
      // The document contains the changes that were sent, and will be compared with the room.
      this.#sent = [];
      this.#outbox.length = 0;
      this.#begin();
    }
    if (reason === "session") {
      this.#claims.disown();
      // The room may have ordered some pieces as those of the former participant: all are sent
      // again.
      const isLarge = ({ series }: Sent): boolean => series !== undefined;
      this.#queue = [...this.#sent.filter(isLarge).map(({ update }) => update), ...this.#queue];
      this.#sent = this.#sent.filter((sent) => !isLarge(sent));
    }
    if (channel !== this.#name) return;
    if (reason === "reset") {
      this.#isReset = true;
      this.#owner.told.reset();
    }
    if (reason !== "history") return;
    this.#isComplete = false;
    // Others need not wait for a claim that this program forgets.
    if (this.#claims.isWaiting) this.#post([done(false)]);
    this.#claims.forget();
    if (this.#collected && this.isSynced) this.#claim();
    this.#mustAsk = true;
    this.#ask();
  }

  /** Asks for what the room no longer has. */
  #ask(): void {
    if (this.#mustAsk) this.#mustAsk = !this.#post([ask(Y.encodeStateVector(this.#doc))]);
  }

  /** Sends waiting changes, as far as the room accepts them. */
  #flush(): void {
    while (this.isSynced && this.#queue[0]) {
      const sent: Sent = { update: this.#queue[0], series: undefined };
      const largest = this.#room.durability === "memory" ? MAX_MESSAGE : MAX_STORED;
      if (!this.#post(sent.update.length > largest ? this.#cut(sent) : [sent.update])) break;
      this.#queue.shift();
      this.#sent.push(sent);
    }
    this.#owner.told.changed();
  }

  #cut(sent: Sent): string[] {
    sent.series = ++this.#series;
    return cut(sent.update, sent.series);
  }

  /** Returns false if nobody has the document, or this participant may not publish. */
  #post(messages: readonly (string | Uint8Array)[]): boolean {
    // The channel is closed, or will be.
    if (this.isFree || this.#closing) return false;
    try {
      for (const message of messages)
        if (this.#outbox.length > 0 || this.#channel.send(message) === "not-now") this.#outbox.push(message);
      this.isReadOnly = false;
      return true;
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code !== "not-allowed" && this.#room.status !== "closed") throw error;
      this.isReadOnly = code === "not-allowed";
      return false;
    }
  }

  #drain(): void {
    if (this.#outbox.length > 0 && !this.isFree && !this.#closing && !this.#post(this.#outbox.splice(0)))
      this.#takeBack();
  }

  /** Called when no transaction is pending: the room has refused what it has not ordered. */
  #refused(): void {
    // A listener of another event may have sent something since.
    if (this.#sent.length === 0 || this.#outbox.length > 0 || this.#room.pending > 0) return;
    if (this.#room.status !== "closed") this.#takeBack();
  }

  /** Queues unordered changes again. If the room still refuses them, `#post` notices. */
  #takeBack(): void {
    this.#queue = [...this.#sent.map(({ update }) => update), ...this.#queue];
    this.#sent = [];
    this.#flush();
  }
}
