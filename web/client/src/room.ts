import { serverOf } from "./address.js";
import type {
  Channel,
  ChannelOptions,
  ConnectOptions,
  Durability,
  Participant,
  Problem,
  Room,
  RoomError,
  RoomEvents,
  RoomState,
  SnapshotOptions,
  Stats,
  Status,
  Transport,
  TransportName,
} from "./api.js";
import { RoomChannel } from "./channel.js";
import { check, checkOptions, checkSize } from "./arguments.js";
import { encode, encodeJson, encodeText, parseJson } from "./codec.js";
import { namedStats } from "./compress.js";
import type { CoreEvent, CoreMessage, ParticipantChange } from "./core.js";
import { Driver } from "./driver.js";
import { HERE, type Environment } from "./environment.js";
import { errorInfo, failure } from "./errors.js";
import { Emitter, guarded } from "./events.js";
import {
  checkChannel,
  checkConnect,
  MAX_CHANNEL_NAME,
  MAX_PRESENCE,
  MAX_TOKEN,
  SNAPSHOT,
  TRANSPORTS,
} from "./options.js";

/**
 * Joins a room of a server. Returns at once: channels can be opened and messages sent before there
 * is a connection. A broken connection is re-established until `leave` is called.
 *
 * @param url - the server, such as `wss://example.com` or `location.origin`; all transports are at
 *   paths below it
 * @param room - the room's name, 1 to 256 bytes; a room is created when its first participant joins
 *
 * @example
 * ```ts
 * const room = connect("wss://example.com", "demo", { presence: { name: "Ada" } });
 * const draw = room.channel("draw", transaction());
 * draw.on("message", (message) => show(message.json()));
 * draw.send({ shape: "circle", x: 10, y: 20 });
 * ```
 */
export function connect<Presence = unknown>(
  url: string | URL,
  room: string,
  options: ConnectOptions<Presence> = {},
): Room<Presence> {
  return new ClientRoom(serverOf(url), room, options, HERE);
}

/**
 * What makes a part of the snapshot. Without `channels`, it stands for all channels with
 * transactions.
 */
interface Provider {
  readonly make: () => Uint8Array | string | undefined;
  readonly channels: readonly Channel[] | undefined;
}

/** The application's function for tokens is called again after this time if it failed. */
const TOKEN_AGAIN_MS = 5_000;

/**
 * Limits of transactions that are kept until their channel has a listener: twice what a late joiner
 * is sent before the room asks for a snapshot (`snapshot_after` in crates/session), and about their
 * size in a document.
 */
const MAX_KEPT = 4096;
const MAX_KEPT_BYTES = 4 << 20;

const EVENTS: Readonly<Record<keyof RoomEvents<unknown>, true>> = {
  status: true,
  problem: true,
  participants: true,
  page: true,
  synced: true,
  snapshot: true,
  gap: true,
  drain: true,
  pending: true,
  transport: true,
  state: true,
  error: true,
};

/** The parts of a room that `groupwire/devtools` looks into. */
export type Inside = readonly [
  driver: Driver,
  channels: readonly RoomChannel[],
  // Listeners of any presence.
  events: Emitter<RoomEvents<any>>,
];

type Kept = CoreMessage | Extract<CoreEvent, { readonly type: "snapshot" }>;

export class ClientRoom<Presence> implements Room<Presence> {
  readonly #driver: Driver;
  readonly #environment: Environment;
  readonly #events = new Emitter<RoomEvents<Presence>>(EVENTS);
  readonly #channels: RoomChannel[] = [];
  #participants = new Map<number, Participant<Presence>>();
  #status: Status = "connecting";
  #id: number | undefined;
  /** The number of participants of a large room; undefined if the room is not large. */
  #count: number | undefined;
  #presence: Presence | undefined;
  readonly #token: ConnectOptions["token"];
  readonly #providers = new Map<string, Provider>();
  #state: RoomState<Presence> | undefined;
  /**
   * Transactions of channels without a listener and parts of the snapshot that nobody took, in
   * their order.
   */
  #kept: Kept[] = [];
  #keptBytes = 0;
  #isWaiting = false;

  constructor(
    server: URL,
    readonly name: string,
    options: ConnectOptions<Presence>,
    environment: Environment,
  ) {
    checkConnect(name, options);
    const { token, presence, channels = {}, wasm, codecs, brotli, WebSocket, transports, memory } = options;
    this.#environment = environment;
    this.#presence = presence;
    this.#token = token;
    this.#driver = new Driver({
      server,
      room: name,
      token: typeof token === "function" ? this.#askForToken() : encodeText(token ?? ""),
      presence: encodePresence(presence),
      core: environment.loadCore(wasm),
      environment,
      parts: { codecs, brotli },
      WebSocket,
      transports,
      isSmall: memory === "small",
      transport: (transport) => {
        this.#changed();
        this.#events.emit("transport", transport);
      },
      problem: (problem) => this.#tellProblem(problem),
      emit: (event) => this.#take(event),
      report: (error) => this.#report(error),
    });
    for (const [channel, qos] of Object.entries(channels)) this.channel(channel, qos);
  }

  /** What `groupwire/devtools` shows and changes. */
  get inside(): Inside {
    return [this.#driver, this.#channels, this.#events];
  }

  get state(): RoomState<Presence> {
    const { name, status, problem, self, participants, complete, count, durability, transport } = this;
    const pending = this.#isWaiting;
    return (this.#state ??= {
      ...{ name, status, problem, self, participants, complete, count, durability, transport, pending },
    });
  }

  readonly subscribe = (listener: (state: RoomState<Presence>) => void): (() => void) => this.on("state", listener);

  get status(): Status {
    return this.#status;
  }

  get problem(): Problem | undefined {
    return this.#driver.problem;
  }

  get self(): Participant<Presence> | undefined {
    return this.#id === undefined ? undefined : { id: this.#id, presence: this.#presence, away: false };
  }

  get participants(): ReadonlyMap<number, Participant<Presence>> {
    return this.#participants;
  }

  get complete(): boolean {
    return this.#count === undefined;
  }

  get count(): number {
    return this.#count ?? this.#participants.size + 1;
  }

  get stats(): Stats {
    const names = this.#channels.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const]));
    return {
      transport: this.transport?.name ?? "none",
      plain: this.#driver.plain,
      ...namedStats(this.#driver.stats, names),
    };
  }

  get pending(): number {
    return this.#driver.pending;
  }

  get durability(): Durability | undefined {
    return this.#driver.durability;
  }

  get transport(): Transport | undefined {
    return this.#driver.transport;
  }

  setTransports(names: readonly TransportName[] | undefined): void {
    if (names !== undefined) check(names, TRANSPORTS, "`names` of `setTransports`");
    this.#driver.setTransports(names);
  }

  channel(name: string, options?: ChannelOptions): Channel {
    if (options === undefined) check(name, MAX_CHANNEL_NAME, "the name of a channel");
    else checkChannel(name, options);
    const known = this.#channels.find((channel) => channel.name === name);
    if (known) {
      const { isClosing } = known;
      known.reopen(options);
      // A closing channel belongs to no part of the snapshot, so the parts are offered again.
      if (isClosing) for (const part of this.#providers.keys()) this.#offer(part);
      return known;
    }
    if (!options)
      throw failure("not-open", "own", `the channel "${name}" is not open: name it in \`connect\`, or pass its QoS`);
    const channel = new RoomChannel(this.#driver, name, options, () => this.#handSoon());
    this.#channels.push(channel);
    this.#offerAll();
    return channel;
  }

  setToken(token: string): void {
    check(token, MAX_TOKEN, "`token` of `setToken`");
    this.#driver.setToken(encodeText(token));
  }

  setPresence(presence: Presence): void {
    this.#driver.setPresence(encodePresence(presence));
    this.#presence = presence;
    this.#changed();
  }

  askForPage(after = 0): void {
    check(after, [0, 2 ** 32 - 1, 1], "`after` of `askForPage`");
    this.#driver.wantPage(after);
  }

  provideSnapshot(make: () => Uint8Array | string | undefined, options: SnapshotOptions = {}): void {
    check(make, "function", "`make` of `provideSnapshot`");
    checkOptions(options, SNAPSHOT, "`provideSnapshot`");
    const { part = "", channels } = options;
    this.#providers.set(part, { make, channels: channels && [...channels] });
    this.#offer(part);
  }

  on<E extends keyof RoomEvents<Presence>>(event: E, listener: (value: RoomEvents<Presence>[E]) => void): () => void {
    if (event === "snapshot") this.#handSoon();
    return this.#events.on(event, listener);
  }

  once<E extends keyof RoomEvents<Presence>>(event: E, listener: (value: RoomEvents<Presence>[E]) => void): () => void {
    if (event === "snapshot") this.#handSoon();
    return this.#events.once(event, listener);
  }

  off<E extends keyof RoomEvents<Presence>>(event: E, listener: (value: RoomEvents<Presence>[E]) => void): void {
    this.#events.off(event, listener);
  }

  leave(): void {
    this.#driver.leave();
  }

  close(): void {
    this.leave();
  }

  disconnect(): void {
    this.leave();
  }

  destroy(): void {
    this.leave();
  }

  async #askForToken(): Promise<Uint8Array> {
    // After `connect` has returned: the function may use the room.
    await undefined;
    const token = typeof this.#token === "function" ? await this.#token() : (this.#token ?? "");
    check(token, MAX_TOKEN, "the result of the function `token`");
    return encodeText(token);
  }

  async #renewToken(): Promise<void> {
    try {
      const token = await this.#askForToken();
      if (this.#status !== "closed") this.#driver.setToken(token);
    } catch (error) {
      if (this.#status === "closed") return;
      this.#report({ ...errorInfo(error), fatal: false, channel: undefined });
      this.#environment.clock.after(TOKEN_AGAIN_MS, () => void this.#renewToken());
    }
  }

  #take(event: CoreEvent): void {
    switch (event.type) {
      case "status":
        if (event.status === this.#status) break;
        this.#status = event.status;
        if (event.status === "closed") this.#channels.forEach((channel) => channel.closed());
        this.#changed();
        this.#events.emit("status", event.status);
        break;
      case "tokenWanted":
        if (typeof this.#token === "function") void this.#renewToken();
        break;
      case "joined":
        this.#id = event.participant;
        this.#count = undefined;
        this.#changed();
        break;
      case "opened":
        this.#channelOf(event.channel)?.opened(event.qos);
        break;
      case "closed":
        this.#closed(this.#channelOf(event.channel));
        break;
      case "changed":
        this.#channelOf(event.channel)?.changed(event.qos);
        break;
      case "contract":
        this.#channelOf(event.channel)?.contractChanged(event.news);
        break;
      case "message":
      case "direct":
      case "snapshot":
        this.#deliver(event);
        break;
      case "participants":
        // The old map stays as it is: it belongs to an earlier state.
        this.#participants = new Map(event.complete ? [] : this.#participants);
        event.changes.forEach((change) => this.#note(change));
        this.#changed();
        this.#events.emit("participants", this.#participants);
        break;
      case "count":
        this.#count = event.complete ? undefined : event.count;
        this.#changed();
        this.#events.emit("participants", this.#participants);
        break;
      case "page": {
        const participants = event.participants.map((one) => this.#described(one));
        this.#events.emit("page", { participants, last: event.last });
        break;
      }
      case "synced":
        if (event.channel === undefined) this.#events.emit("synced", undefined);
        else this.#channelOf(event.channel)?.synced();
        break;
      case "snapshotWanted":
        // Called at once, because the application's state now contains exactly the transactions up
        // to `asOf`.
        guarded(() => this.#provide(event.part, event.asOf));
        break;
      case "gap":
        if (event.reason !== "session") this.#forget(event.channel);
        this.#events.emit("gap", {
          reason: event.reason,
          uncertain: event.uncertain,
          channel: this.#channelOf(event.channel)?.name,
        });
        break;
      case "drain":
        this.#events.emit("drain", undefined);
        break;
      case "pending":
        this.#isWaiting = event.count > 0;
        this.#changed();
        this.#events.emit("pending", event.count);
        break;
      case "error": {
        const { code, fault, message, fatal, channel } = event;
        this.#report({ code, fault, message, fatal, channel: this.#channelOf(channel)?.name });
        break;
      }
      case "quiet":
      case "receipt":
      case "unknown":
    }
  }

  #closed(channel: RoomChannel | undefined): void {
    if (!channel) return;
    this.#channels.splice(this.#channels.indexOf(channel), 1);
    this.#forget(channel.id);
    if (channel.id !== undefined) this.#forget(~channel.id);
    channel.closed();
    this.#offerAll();
  }

  /** Replaces the immutable `state` after a change. */
  #changed(): void {
    this.#state = undefined;
    this.#events.emit("state", this.state);
  }

  #deliver(event: Kept): void {
    const from = source(event);
    // Kept events of the same source are delivered first.
    if (!this.#kept.some((kept) => source(kept) === from) && this.#hand(event)) return;
    // A newer part of the snapshot replaces an older one.
    if (event.type === "snapshot") this.#forget(from);
    this.#kept.push(event);
    this.#keptBytes += sizeOf(event);
    if (this.#kept.length <= MAX_KEPT && this.#keptBytes <= MAX_KEPT_BYTES) return;
    this.#forget(from);
    const channel = event.type === "snapshot" ? undefined : this.#channelOf(event.channel);
    if (!channel) return;
    if (event.type === "direct") channel.keepsDirect = false;
    else channel.keeps = false;
    const message = `nobody listens for "${event.type}" on the channel "${channel.name}", so it is lost: listen earlier`;
    this.#report({ ...errorInfo(failure("no-listener", "own", message)), fatal: false, channel: channel.name });
  }

  /** Forgets what is kept of a channel or a part; without one, everything. */
  #forget(from: number | string | undefined): void {
    this.#kept = this.#kept.filter((kept) => from !== undefined && source(kept) !== from);
    this.#keptBytes = this.#kept.reduce((sum, kept) => sum + sizeOf(kept), 0);
  }

  /** Hands over what is kept, after the listeners that the application adds in this task. */
  #handSoon(): void {
    if (this.#kept.length === 0) return;
    this.#environment.soon(() => {
      const kept = this.#kept;
      this.#forget(undefined);
      for (const event of kept) this.#deliver(event);
    });
  }

  #hand(event: Kept): boolean {
    if (event.type !== "snapshot") return this.#channelOf(event.channel)?.deliver(event) ?? true;
    return this.#events.emit("snapshot", { part: event.part, data: event.data, asOf: event.asOf });
  }

  #channelOf(id: number | undefined): RoomChannel | undefined {
    return id === undefined ? undefined : this.#channels.find((channel) => channel.id === id);
  }

  #note(change: ParticipantChange): void {
    const { id, state } = change;
    if (state === "left" || id === this.#id) this.#participants.delete(id);
    else this.#participants.set(id, this.#described(change));
  }

  #described({ id, state, user, presence }: ParticipantChange): Participant<Presence> {
    const known = user === undefined ? {} : { user };
    return { id, ...known, presence: parseJson(presence) as Presence | undefined, away: state === "away" };
  }

  /** Parts of the snapshot without a list of channels stand for all that are open. */
  #offerAll(): void {
    for (const [part, { channels }] of this.#providers) if (!channels) this.#offer(part);
  }

  /** Tells the server that this end makes a part of the snapshot. */
  #offer(part: string): void {
    const names = this.#providers.get(part)?.channels?.map(({ name }) => name);
    const isIn = ({ name, qos }: Channel): boolean => names?.includes(name) ?? qos.kind === "transaction";
    const channels = this.#channels.filter((channel) => !channel.isClosing && isIn(channel));
    this.#driver.provide(part, channels);
  }

  #provide(part: string, asOf: number): void {
    const provider = this.#providers.get(part);
    const names = provider?.channels?.map(({ name }) => name);
    // The application has not seen kept events, so its state lacks them.
    const lacks = (kept: Kept): boolean => {
      if (kept.type === "direct") return false;
      const name = this.#channelOf(kept.type === "message" ? kept.channel : undefined)?.name;
      return name === undefined ? source(kept) === part : (names?.includes(name) ?? true);
    };
    const made = this.#kept.some(lacks) ? undefined : provider?.make();
    if (made === undefined) return;
    try {
      this.#driver.snapshot(part, asOf, encode(made).bytes);
    } catch (error) {
      // For example, the snapshot is too large. The room goes on without it.
      this.#report({ ...errorInfo(error), fatal: false, channel: undefined });
    }
  }

  #tellProblem(problem: Problem | undefined): void {
    this.#changed();
    if (this.#events.emit("problem", problem) || !problem) return;
    this.#environment.warn(`groupwire: room "${this.name}" is not connected: ${problem.message}`);
  }

  #report(error: RoomError): void {
    if (this.#events.emit("error", error)) return;
    console.error(`groupwire: room "${this.name}": ${error.message}`, error);
  }
}

function encodePresence(presence: unknown): Uint8Array {
  const bytes = encodeJson(presence, "the presence");
  checkSize(bytes, MAX_PRESENCE, "the presence");
  return bytes;
}

/**
 * The key that groups kept events: the part of the snapshot or the channel's id, for direct
 * messages the id's complement.
 */
function source(event: Kept): number | string {
  if (event.type === "snapshot") return event.part;
  return event.type === "direct" ? ~event.channel : event.channel;
}

/** Parts of the snapshot count 0: the room limits their size. */
function sizeOf(event: Kept): number {
  return event.type === "snapshot" ? 0 : event.data.length;
}
