/** The provider: what an application sees. */

import { GroupwireError, type ChannelOptions, type Problem, type Room, type Status } from "groupwire";
import { ObservableV2 } from "lib0/observable";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { checkProvider, checkRoom } from "./arguments.js";
import { take } from "./held.js";
import { Presence } from "./presence.js";
import { Tree } from "./tree.js";

/** The options of {@link GroupwireProvider}. */
export interface ProviderOptions {
  /** Whether the provider begins at once. Default: true; false: when `connect` is called. */
  readonly connect?: boolean;
  /** The presence of participants, and what they show. Default: a new one; null: none. */
  readonly awareness?: Awareness | null;
  /**
   * The name of the document in the room: of its channel and its part of the snapshot. Awareness
   * uses the channel with this name and `/awareness`, a subdocument the one with `/doc/` and its
   * guid. Default: `yjs`.
   */
  readonly name?: string;
  /** The QoS of changes, for example their priority. */
  readonly updates?: Omit<ChannelOptions, "kind" | "departures">;
  /** The QoS of awareness. Default: at most 25 values a second of each field. */
  readonly presence?: Omit<ChannelOptions, "kind" | "overflow" | "departures">;
}

/** The events of {@link GroupwireProvider}, and what their listeners get. */
export type ProviderEvents = {
  /** The connection of the room. */
  status: (event: { readonly status: "connecting" | "connected" | "disconnected" }) => void;
  /**
   * Why there is no connection ({@link Problem}), as soon as it is known; the provider goes on
   * trying.
   */
  "connection-error": (problem: Problem, provider: GroupwireProvider) => void;
  /** Everything has come that the room had (true), or the connection is lost (false). */
  sync: (isSynced: boolean) => void;
  /** The same as `sync`. */
  synced: (isSynced: boolean) => void;
  /**
   * The room has confirmed all changes (true), or some wait (false). `room.durability` says what a
   * confirmed change survives.
   */
  saved: (isSaved: boolean) => void;
  /** The room does not take changes of this participant (true), or takes them again (false). */
  readonly: (isReadOnly: boolean) => void;
  /**
   * An administrator has emptied the document, and the provider has disconnected: go on with a new
   * document.
   */
  reset: () => void;
};

/**
 * Synchronises a Yjs document and awareness over a room. It has the surface of `WebsocketProvider`
 * of y-websocket.
 *
 * @example
 * ```ts
 * const doc = new Y.Doc();
 * const provider = new GroupwireProvider(() => connect("wss://example.com", "my-document"), doc);
 * provider.awareness?.setLocalStateField("user", { name: "Ada" });
 * provider.on("saved", (isSaved) => (label.textContent = isSaved ? "Saved" : "Saving…"));
 * ```
 */
export class GroupwireProvider extends ObservableV2<ProviderEvents> {
  readonly doc: Y.Doc;
  readonly awareness: Awareness | null;
  /** Resolves when the document has had everything of the room for the first time. */
  readonly whenSynced: Promise<void>;
  /** False after `disconnect`. */
  shouldConnect = false;
  readonly #name: string;
  readonly #options: ProviderOptions;
  readonly #given: Room | (() => Room);
  #room: Room | undefined;
  #stops: (() => void)[] = [];
  #tree: Tree | undefined;
  #presence: Presence | undefined;
  #status: "connecting" | "connected" | "disconnected" = "disconnected";
  #told = { synced: false, saved: true, readOnly: false };
  /** The document was changed while the provider was disconnected. */
  #isUnsent = false;
  #resolveSynced = (): void => {};
  #isReset = false;

  /**
   * @param room - a room that the application also uses otherwise, in the task in which it was
   *   made; or a function that connects to one for this provider alone, which it leaves on
   *   `disconnect` and `destroy`
   * @param doc - the document
   */
  constructor(room: Room | (() => Room), doc: Y.Doc, options: ProviderOptions = {}) {
    super();
    checkProvider(room, doc, options);
    if (!(doc instanceof Y.Doc))
      console.warn(
        "groupwire-yjs: this program has two copies of yjs, and the document is of the other one: `npm dedupe`",
      );
    this.#given = room;
    this.doc = doc;
    this.#options = options;
    this.#name = options.name ?? "yjs";
    this.awareness = options.awareness === undefined ? new Awareness(doc) : options.awareness;
    this.whenSynced = new Promise((resolve) => (this.#resolveSynced = resolve));
    doc.on("destroy", this.#destroyed);
    doc.on("update", this.#updated);
    if (options.connect === false) return;
    try {
      this.connect();
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** The room; undefined while the provider has none. */
  get room(): Room | undefined {
    return this.#room;
  }

  /** The name of the room. */
  get roomname(): string {
    return this.#room?.name ?? "";
  }

  get wsconnected(): boolean {
    return this.#status === "connected";
  }

  get wsconnecting(): boolean {
    return this.#status === "connecting";
  }

  /** True if the document has everything that the room had when it was connected. */
  get synced(): boolean {
    return this.#told.synced;
  }

  /** True if the room has confirmed all changes of the document and of its subdocuments. */
  get saved(): boolean {
    return this.#told.saved;
  }

  /**
   * True if the room has refused changes of this participant. They stay in its document, and nobody
   * else sees them.
   */
  get readOnly(): boolean {
    return this.#told.readOnly;
  }

  /**
   * Begins, or begins again after `disconnect`. Throws an error with the code `reset` after the
   * event {@link ProviderEvents.reset}: the document would bring back what was deleted.
   */
  connect(): void {
    if (this.#isReset) {
      const message = `an administrator has emptied "${this.#name}": go on with a new document and another provider`;
      throw new GroupwireError("reset", "peer", message);
    }
    this.shouldConnect = true;
    if (this.#room) return;
    const room = typeof this.#given === "function" ? this.#given() : this.#given;
    checkRoom(room, "the result of the function");
    this.#room = room;
    this.#isUnsent = false;
    this.#stops = [
      room.on("status", (status) => this.#follow(status)),
      room.on("problem", (problem) => problem && this.emit("connection-error", [problem, this])),
    ];
    this.#follow(room.status);
    const changed = (): void => this.#changed();
    this.#tree = new Tree(
      { room, name: this.#name, qos: this.#options.updates ?? {}, origin: this, changed, reset: () => this.#reset() },
      this.doc,
      this.#name,
    );
    if (this.awareness) {
      const [name, qos] = [`${this.#name}/awareness`, this.#options.presence ?? {}];
      this.#presence = take(room, name, () => new Presence(room, name, qos));
      this.#presence.attach(this.awareness, this);
    }
    this.#changed();
  }

  /**
   * Stops: others see this participant's awareness no longer, and changes wait in the document
   * until `connect`.
   */
  disconnect(): void {
    this.shouldConnect = false;
    const room = this.#room;
    if (!room) return;
    this.#room = undefined;
    for (const stop of this.#stops) stop();
    this.#presence?.detach();
    this.#presence = undefined;
    this.#tree?.stop();
    this.#tree = undefined;
    if (typeof this.#given === "function") room.leave();
    this.#follow("closed");
    this.#changed();
  }

  /** Ends the provider. The document stays. */
  override destroy(): void {
    this.disconnect();
    this.doc.off("destroy", this.#destroyed);
    this.doc.off("update", this.#updated);
    super.destroy();
  }

  readonly #destroyed = (): void => this.destroy();

  readonly #updated = (): void => {
    if (this.#tree) return;
    this.#isUnsent = true;
    this.#changed();
  };

  #follow(status: Status): void {
    if (status === "reconnecting") this.#setStatus("disconnected");
    this.#setStatus(status === "connected" ? status : status === "closed" ? "disconnected" : "connecting");
  }

  #setStatus(status: "connecting" | "connected" | "disconnected"): void {
    if (status === this.#status) return;
    this.#status = status;
    this.emit("status", [{ status }]);
  }

  #changed(): void {
    const tree = this.#tree;
    const before = this.#told;
    const now = {
      synced: tree?.isSynced ?? false,
      saved: tree?.isSaved ?? (before.saved && !this.#isUnsent),
      readOnly: tree?.isReadOnly ?? before.readOnly,
    };
    this.#told = now;
    if (now.synced !== before.synced) {
      if (now.synced) this.#resolveSynced();
      this.emit("synced", [now.synced]);
      this.emit("sync", [now.synced]);
    }
    if (now.saved !== before.saved) this.emit("saved", [now.saved]);
    if (now.readOnly !== before.readOnly) this.emit("readonly", [now.readOnly]);
  }

  #reset(): void {
    this.#isReset = true;
    this.disconnect();
    this.emit("reset", []);
  }
}
