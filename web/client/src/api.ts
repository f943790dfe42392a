/**
 * The public types of Groupwire. This file holds types only; the code is in `room.ts` and
 * `channel.ts`.
 *
 * A function that fails throws a `GroupwireError`, which has the fields `code` and `fault` of
 * {@link RoomError}. An argument that is wrong is an error with the code `invalid-argument`; its
 * message names the argument, what is right, and what it got.
 */

import type { CODECS } from "./compress.js";

/**
 * The quality of service of a channel, from the sender's application to the receiver's. The server
 * has the last word on it.
 */
export interface Qos {
  /**
   * `transaction`: every message reaches everybody, in one order. `awareness`: some messages may be
   * lost.
   */
  kind: "transaction" | "awareness";
  /** Awareness only: the share of messages that may be lost or late, 0 to 1. Default 0.05. */
  loss?: number;
  /**
   * Milliseconds from application to application after which a message is of no use. Default: none.
   */
  deadline?: number;
  /** The lowest useful rate, in messages per second. Default: 0, which is none. */
  minRate?: number;
  /** The highest useful rate, in messages per second. Default: 0, which is none. */
  maxRate?: number;
  /** 0 (least) to 255. Default 128. */
  priority?: number;
  /**
   * What happens above the highest rate: `conflate` sends only the newest value of each key,
   * `aggregate` sends all values in fewer packets. Default for awareness: `conflate`.
   */
  overflow?: "conflate" | "aggregate";
  /**
   * Gives this channel a compression context of its own, because the compressed length of a message
   * reveals something about the messages that share its context. Default: false.
   */
  private?: boolean;
  /**
   * Transactions only: when a participant that has sent messages on this channel leaves for good,
   * the server appends an entry about it to the channel's order (`Message.departed`). The
   * participant that opens a channel first decides. Default: false.
   */
  departures?: boolean;
  /**
   * Awareness that aggregates only: the messages are frames of sound, whose first byte says how
   * loud they are, and the server passes on those of at most this many senders at a time
   * (docs/qos.md), 0 to 15. The participant that opens a channel first decides. Default: 0, all
   * messages are passed on, and their first byte means nothing.
   */
  speakers?: number;
}

/**
 * The options of a channel: its QoS, which all participants share, and this participant's own
 * settings.
 */
export interface ChannelOptions extends Qos {
  /** How messages are compressed between this participant and the server. Default: `template`. */
  compress?: Compress;
}

/** The lossless codecs. docs/qos.md describes them. */
export type Codec = (typeof CODECS)[number];

/**
 * How the messages of a channel are compressed. `template`: by what they share with each other and
 * with earlier messages; the best choice for similar messages of some hundred bytes. `off`: not at
 * all. `auto`: each message alone, by the codec that delivers it soonest. Or each message alone by
 * a named codec: `lz4`, `zstd-19` (with a level), `zstd-fast-3` (with a negative level),
 * `delta4+lz4` (after a filter that subtracts from each byte the byte four places before it).
 */
export type Compress = "template" | "off" | "auto" | Codec | `${Codec}-${string}` | `delta${1 | 2 | 4 | 8}+${string}`;

/** A WebAssembly module: its address for `fetch`, its bytes, or itself. */
export type WasmSource = string | URL | BufferSource | WebAssembly.Module;

/** The options of `connect`. */
export interface ConnectOptions<Presence = unknown> {
  /**
   * A token by which the server decides who may join, such as a JSON web token; or a function that
   * returns one, which is called again when the token expires soon or was revoked, so that the
   * session goes on. Groupwire does not interpret it.
   */
  token?: string | (() => string | Promise<string>);
  /** The presence of this participant, which all others see: any JSON, at most 4 KB. */
  presence?: Presence;
  /**
   * Channels to open with the first packet, by their names. `Room.channel` returns them without
   * further options. Messages sent before a channel was open are missed, unless the room still has
   * them.
   */
  channels?: Readonly<Record<string, ChannelOptions>>;
  /**
   * The WebAssembly core in one file. Or a pair of its two parts, of which the second is loaded
   * after the first messages. The core is loaded once per page, so only the first call of `connect`
   * can choose. Default: the two parts in this package.
   */
  wasm?: WasmSource | readonly [first: WasmSource, second: WasmSource];
  /**
   * The same for the module with the codecs that the core lacks, except brotli. It is loaded when a
   * channel asks for one of them.
   */
  codecs?: WasmSource;
  /** The same for brotli, which is a separate module because of its size. */
  brotli?: WasmSource;
  /**
   * Replaces the default: the global `WebSocket`, or in Node where there is none that of the
   * package `ws`.
   */
  WebSocket?: WebSocketConstructor;
  /**
   * The transports that may be used, best first; a list of one name pins that transport. Transports
   * that the platform lacks are ignored. Default: all, in the order of {@link TransportName}, but
   * in Safari and on iOS `websocket` before `webtransport`; outside of a page only `websocket`.
   */
  transports?: readonly TransportName[];
  /**
   * The memory of each of the up to four models that compress this participant's messages, at both
   * ends of its connection: `full`, 64 KiB, or `small`, 16 KiB, with which messages take more
   * bytes. Default: `full`.
   */
  memory?: "full" | "small";
}

/** The transports, best first. docs/transports.md describes them. */
export type TransportName = "webtransport" | "websocket" | "multipart" | "iframe" | "longpoll" | "poll";

/** The transport in use. */
export interface Transport {
  readonly name: TransportName;
  /**
   * Why this transport was chosen, as a sentence for users: "WebTransport did not answer within 200
   * ms; still trying."
   */
  readonly why: string;
}

/** A constructor of WebSockets, such as the browser's `WebSocket`. */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** The part of the browser's `WebSocket` that this package uses. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  /**
   * Called before or in place of `onclose` when the connection fails. The package never leaves it
   * empty.
   */
  onerror: ((event: never) => void) | null;
  send(packet: Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
}

/**
 * The state of a room's connection. `connecting`: for the first time. `reconnecting`: after the
 * connection broke. `closed`: for good.
 */
export type Status = "connecting" | "connected" | "reconnecting" | "closed";

/**
 * What a confirmed transaction survives. `memory`: nothing, the room ends with its server. `local`:
 * a stop or crash of the server or of its machine, as long as the disk is intact. `cluster`: also
 * the loss of the server's disk.
 */
export type Durability = "memory" | "local" | "cluster";

/** A participant of the room. */
export interface Participant<Presence = unknown> {
  /** Unique in the room and never reused for another participant. Ids are small numbers. */
  readonly id: number;
  /**
   * The user that the server verified, for example the `sub` of its JSON web token. No participant
   * can claim to be another user. It is missing if the server does not know its users, and in
   * `room.self`. A user who has several pages open is several participants.
   */
  readonly user?: string;
  /**
   * The presence that the participant has set; undefined if it is not JSON. Other programs wrote
   * it, so check its shape, and do not believe a name in it: `user` is what the server knows.
   */
  readonly presence: Presence | undefined;
  /** True while the participant's connection is broken and its session may still resume. */
  readonly away: boolean;
}

/**
 * Strings and bytes (`Uint8Array`, `ArrayBuffer` or a view) arrive unchanged. Any other value is
 * sent as JSON text, and arrives as it was sent, except that members whose value is undefined are
 * left out, `-0` arrives as `0`, an object with a method `toJSON` (such as a `Date`) arrives as
 * what this method returns, and an object of a class as its own members. What JSON cannot carry is
 * an error with the code `not-json`, which names its place, as in `$.a[3]`: NaN and infinite
 * numbers, `undefined` in a list, functions, symbols, bigints, bytes within other values, objects
 * that contain themselves, and objects whose contents are no members, such as a `Map` or a
 * `Promise`.
 *
 * Text that is not well-formed UTF-16, because it has half of a surrogate pair, is an error with
 * the code `ill-formed`, here and wherever else a program gives text to this package, also inside
 * of other values: it would arrive as another text.
 */
export type Payload = string | Uint8Array | object;

/** The options of one message. */
export interface SendOptions {
  /**
   * The key of the value, on a conflated channel: a newer value of this participant replaces an
   * older one of the same key.
   */
  key?: string;
  /** The priority of this message, 0 (least) to 255, instead of the channel's. */
  priority?: number;
}

/**
 * The result of `send`. `accepted`: the message is sent or queued. `conflated`: the same, and it
 * replaced an older value of its key. `not-now`: the send queue is full and the message was not
 * taken; send it again after the event `drain`.
 */
export type Sent = "accepted" | "conflated" | "not-now";

/**
 * The outcome of a message to one participant. `delivered`: the receiver acknowledged it. `gone`:
 * the receiver is not in the room, or left before it acknowledged. `not-open`: the receiver has not
 * opened the channel, or may not receive it. `full`: 256 messages or 1 MiB already wait for the
 * receiver. `not-now`: this program's send queue is full, and the message was not taken. `unknown`:
 * the room was closed first, or lost this participant's session or its own state.
 */
export type Receipt = "delivered" | "gone" | "not-open" | "full" | "not-now" | "unknown";

/** A received message. */
export interface Message {
  /** A string if the sender sent text, bytes otherwise. */
  readonly data: string | Uint8Array;
  /** Parses `data` as JSON. Throws a SyntaxError if it is not JSON. */
  json<T = unknown>(): T;
  /**
   * The id of the participant who sent the message; 0: the room itself, for the administration of
   * the server.
   */
  readonly sender: number;
  /**
   * True for this participant's own transaction, which arrives at its place in the room's order: it
   * is now *ordered*.
   */
  readonly own: boolean;
  /** The sender's key, if the sender gave one. */
  readonly key: string | undefined;
  /** Estimated milliseconds since the sender's application sent the message. */
  readonly age: number;
  /** The position of a transaction in the room's order; 0 for awareness. */
  readonly position: number;
  /**
   * The sender's counter modulo 2^32: of all its transactions, or of its messages on this awareness
   * channel. It orders the messages of one sender exactly, while `age` is an estimate.
   */
  readonly index: number;
  /** True for an awareness message that a later transaction of the same sender has overtaken. */
  readonly stale: boolean;
  /**
   * True for a message of the late-joiner state: it describes the room as it was when this
   * participant joined, or opened the channel. False for what it missed in a break.
   */
  readonly state: boolean;
  /**
   * In the server's entry about a participant that left for good: the id of that participant;
   * `sender` is 0, and `data` is empty. The entry comes once, after all messages that the
   * participant sent on the channel. If the participant resumes its session later, it receives the
   * entry, too. Undefined in all other messages. Only channels with the option `departures` have
   * such entries.
   */
  readonly departed: number | undefined;
}

/** The events of a channel and the values that their listeners get. */
export interface ChannelEvents {
  /**
   * A message has arrived. Awareness that arrives before its sender is in {@link Room.participants}
   * waits until it is. Transactions that come before the first listener are kept for it, for all
   * channels together at most 4,096 and 4 MiB; after that they are lost, and the room emits an
   * `error` with the code `no-listener`. A channel on which a program only sends has a listener
   * that does nothing.
   */
  message: Message;
  /**
   * Another participant has sent a message to this participant alone (`sendTo`). Such messages are
   * kept for the first listener as transactions are. Do not derive state from them that must be the
   * same for all participants.
   */
  direct: Message;
  /** The late-joiner state of this channel is complete. */
  synced: undefined;
  /** The QoS has changed. */
  qos: Qos;
  /** The contract begins to be missed, or is kept again. */
  contract: ContractEvent;
}

/** A channel: one type of message in a room. */
export interface Channel {
  readonly name: string;
  /** The QoS that is in force. Until the server has answered, the QoS that was requested. */
  readonly qos: Qos;
  /**
   * How messages are compressed between this participant and the server, in both directions. It may
   * be changed at any time. If a codec needs a module, the old setting (`off` for a new channel)
   * stays until the module is loaded. If the module cannot be loaded or the codec does not exist,
   * the setting becomes `off` and the room emits `error`.
   */
  compress: Compress;
  /**
   * How well the contract is kept, judged by the messages that arrive here; undefined before the
   * core is loaded.
   */
  readonly contract: Contract | undefined;
  /**
   * Requests another QoS for all participants; omitted fields stay as they are. The server decides:
   * it answers with the event `qos` if it changed, or with an `error` of the room if not.
   */
  setQos(change: Partial<Omit<Qos, "kind" | "overflow" | "private" | "departures" | "speakers">>): void;
  /**
   * Asks the server to send this participant at most `perSecond` values of each key per second,
   * always the newest; undefined removes the limit. Only for channels that conflate.
   */
  limitRate(perSecond: number | undefined): void;
  /**
   * Sends a message, or queues it until there is a connection. It has at most 60,000 bytes; a
   * transaction in a stored room (see `Room.durability`) 16 MiB. Throws if it can never be sent: it
   * is too large, the server refused the channel, or the room is closed. If a queued message proves
   * too large for the room after connecting, the room emits `error`.
   */
  send(payload: Payload, options?: SendOptions): Sent;
  /**
   * Sends a message to one participant, on a channel of transactions. The message has its place in
   * the room's order, but only the receiver gets it, and no snapshot contains it. If the receiver
   * is away, the message waits until the receiver returns or leaves. The receiver must have opened
   * the channel and gets the event `direct`. Resolves with the outcome. Throws as `send` does; the
   * message has at most 60,000 bytes.
   */
  sendTo(participant: number, payload: Payload): Promise<Receipt>;
  /** Calls `listener` for each event of this name. Returns a function that removes the listener. */
  on<E extends keyof ChannelEvents>(event: E, listener: (value: ChannelEvents[E]) => void): () => void;
  /**
   * Calls `listener` for the next event of this name. Returns a function that removes the listener.
   */
  once<E extends keyof ChannelEvents>(event: E, listener: (value: ChannelEvents[E]) => void): () => void;
  /**
   * Removes a listener of this event, however often it was added. The function that `on` returned
   * does the same for one call of `on`.
   */
  off<E extends keyof ChannelEvents>(event: E, listener: (value: ChannelEvents[E]) => void): void;
  /**
   * Closes this channel for this participant, in all parts of the program that opened it; other
   * participants keep it. The closing begins after one second, so that removing and showing a part
   * of a page again costs nothing. Messages sent before are delivered first: resolves once the
   * server has confirmed them and the subscription has ended, or when the room is closed. Until
   * then messages are still received, and transactions are kept for the next listener if there is
   * none. From now on `send` and the other methods throw. `Room.channel` with the same name opens
   * the channel again; before the subscription has ended, this cancels the closing, and the promise
   * resolves.
   */
  close(): Promise<void>;
}

/** The state of a contract, as the event `contract` reports it. */
export interface ContractEvent {
  /** `cannot-meet`: the network does not allow to keep the contract. */
  readonly state: "met" | "missed" | "cannot-meet";
  /** The part of the contract that is broken; undefined if the contract is met. */
  readonly breach: ContractBreach | undefined;
  /** The state in a sentence for users. */
  readonly text: string;
  /** The measures that Groupwire takes to keep the contract. */
  readonly measures: readonly ContractMeasure[];
}

/**
 * The part of a contract that is broken. Loss is a share from 0 to 1, a rate is in messages per
 * second.
 */
export interface ContractBreach {
  readonly of: "loss" | "rate";
  readonly target: number;
  readonly measured: number;
  /**
   * For loss: the deadline in milliseconds at which the target would have been met; undefined if no
   * deadline would.
   */
  readonly deadline?: number;
}

/** A measure that Groupwire takes to keep a contract. */
export interface ContractMeasure {
  readonly kind:
    "datagrams" | "stream" | "repeated" | "requested" | "rateLimited" | "downsampled" | "conflated" | "other";
  /** The measure in a sentence for users. */
  readonly text: string;
}

/** How well a channel's contract is kept for this participant. */
export interface Contract extends ContractEvent {
  /** The messages of the last ten seconds. */
  readonly recent: ContractTally;
  /** All messages since the channel was opened. */
  readonly total: ContractTally;
  /**
   * Messages received per second while the sender sent at the lowest rate or more; undefined
   * without a lowest rate, or while the sender sent less.
   */
  readonly rate: number | undefined;
  /** Latency in milliseconds, from application to application. */
  readonly latency: {
    readonly median: number | undefined;
    readonly p99: number | undefined;
    /** A histogram: the largest latency of each bucket, and the number of messages in it. */
    readonly buckets: readonly (readonly [ms: number, count: number])[];
  };
  /**
   * The share of messages, 0 to 1, that was lost or late between the senders and the server, as the
   * server last reported.
   */
  readonly upstream: number;
}

/** Counts of messages. Messages that `limitRate` left out are not counted. */
export interface ContractTally {
  /** Messages of which it is known whether they came in time. */
  readonly judged: number;
  /**
   * Messages that never came or came after their deadline. On a conflated channel a newer value
   * replaces a missing one.
   */
  readonly missed: number;
  /** The missed messages that came after their deadline. */
  readonly late: number;
}

/** A loss that Groupwire cannot repair. */
export interface Gap {
  /**
   * `incarnation`: the server was restarted and lost the room's state; participants who still have
   * it should send it again. `session`: the server has forgotten this participant, which now has a
   * new id. `history`: transactions are missing. `reset`: an administrator reset a channel;
   * participants forget what they have of it.
   */
  readonly reason: "incarnation" | "session" | "history" | "reset";
  /**
   * The number of this participant's transactions that were sent and not acknowledged. They are
   * sent again, although the lost session may have ordered some of them.
   */
  readonly uncertain: number;
  /** Of `history` and `reset`: the name of the channel of which transactions are missing. */
  readonly channel: string | undefined;
}

/** A part of the room's snapshot that some participant's `provideSnapshot` made. */
export interface Snapshot {
  /** The name of the part. */
  readonly part: string;
  readonly data: Uint8Array;
  /**
   * The part stands for the transactions of its channels up to this position. It replaces all state
   * that was built from transactions of these channels so far.
   */
  readonly asOf: number;
}

export interface SnapshotOptions {
  /** The name of the part of the snapshot; default: "". */
  readonly part?: string;
  /**
   * The channels whose transactions the part stands for. Default: all channels with transactions
   * that this room object opens. No channel is in two parts of a room.
   */
  readonly channels?: readonly Channel[];
}

/** An error of a room. Without a listener it is written to the console. */
export interface RoomError {
  /** A short name such as `too-large`. */
  readonly code: string;
  /**
   * The side that must change something. `peer` and `incompatible`: the server. `limit` and
   * `refused`: the request. `own`: this program.
   */
  readonly fault: "peer" | "incompatible" | "limit" | "refused" | "own";
  /** A sentence for people: the problem, and what to do about it. */
  readonly message: string;
  /** True if the room is now closed because trying again cannot help. */
  readonly fatal: boolean;
  /** The channel that the error concerns, if any. */
  readonly channel: string | undefined;
}

/**
 * The reason why a room has no connection, found out after all transports have failed. The room
 * goes on trying.
 */
export interface Problem {
  /**
   * `offline`: the browser says that the device has no network. `unreachable`: nothing answers at
   * the address. `not-groupwire`: something else answers there. `origin`: the server refuses pages
   * of this origin. `tls`: the address has the wrong one of http and https, or the certificate is
   * not trusted. `mixed-content`: a page from https may not connect to http. `blocked`: the server
   * answers, but no transport opens. Browsers do not tell a certificate that they refuse from a
   * server that is down: then the code is `unreachable`.
   */
  readonly code: "offline" | "unreachable" | "not-groupwire" | "origin" | "tls" | "mixed-content" | "blocked";
  /** What is wrong and what to do about it, as a sentence for people. */
  readonly message: string;
}

/** Counts since `connect`. */
export interface Stats {
  /** The name of the transport in use, or "none". */
  readonly transport: string;
  readonly sent: Traffic;
  readonly received: Traffic;
  /** The smoothed round-trip time in milliseconds; undefined before the first measurement. */
  readonly roundTrip: number | undefined;
  /**
   * How often the session was resumed, or begun anew, after a transport was lost. Moves to other
   * transports do not count.
   */
  readonly reconnects: number;
  /**
   * Why the session sends plain messages (uncompressed, over the stream), as it does while the
   * second part of the core is loading. Undefined if it does not.
   */
  readonly plain?: string | undefined;
  /** The counts of each channel, by its name. */
  readonly channels: ReadonlyMap<string, ChannelStats>;
}

/** The traffic of one channel. */
export interface ChannelStats {
  readonly sent: ChannelTraffic;
  readonly received: ChannelTraffic;
}

/**
 * Counts of one channel in one direction. Bytes are those of the messages, without keys and
 * headers.
 */
export interface ChannelTraffic {
  /** Messages that were compressed alone or sent uncompressed. */
  readonly messages: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /**
   * Messages that were compressed together with the other messages of their packet (`template`).
   * Their compressed size is not known per channel: the room's totals count whole packets.
   */
  readonly codedMessages: number;
  readonly codedBytes: number;
  /**
   * The codec of the last message that was compressed alone; `none` if the codec would not have
   * made it smaller.
   */
  readonly codec: string | undefined;
}

/** Counts of one direction. */
export interface Traffic {
  readonly messages: number;
  readonly packets: number;
  /** Bytes of the messages, as the application sent them. */
  readonly bytesBefore: number;
  /** Bytes of the packets, as they are handed to the transport or come from it. */
  readonly bytesAfter: number;
  /**
   * The part of `bytesAfter` that the messages took, compressed, and repeats included: `bytesBefore
   * / bytesPayload` says how much smaller they became. The others are headers, acknowledgements,
   * pings, lists of participants and snapshots.
   */
  readonly bytesPayload: number;
}

/**
 * Some of the other participants, in the order of their ids, as they were when the server answered.
 */
export interface Page<Presence> {
  readonly participants: readonly Participant<Presence>[];
  /** True if no others follow; otherwise the id of the last one is the `after` of the next page. */
  readonly last: boolean;
}

/** The events of a room and the values that their listeners get. */
export interface RoomEvents<Presence> {
  /** The state of the connection has changed. */
  status: Status;
  /**
   * A participant came, changed or left, or `room.count` or `room.complete` changed. All of them
   * are already up to date.
   */
  participants: ReadonlyMap<number, Participant<Presence>>;
  /** The answer to {@link Room.askForPage}. */
  page: Page<Presence>;
  /** The late-joiner state of all channels opened before connecting is complete. */
  synced: undefined;
  /** A state that replaces all state built from transactions so far. */
  snapshot: Snapshot;
  gap: Gap;
  /** After `send` returned `not-now`: the send queue takes messages again. */
  drain: undefined;
  /**
   * Own transactions begin to wait for their confirmation, or all are confirmed: the value is
   * {@link Room.pending}. It is not emitted for each transaction.
   */
  pending: number;
  /** The session has moved to another transport, or the reason for the current one has changed. */
  transport: Transport;
  /**
   * Why there is no connection, after the first round in which all transports failed, and whenever
   * the reason changes; undefined when the room is connected again. Without a listener it is
   * written to the console as a warning.
   */
  problem: Problem | undefined;
  /**
   * A part of {@link Room.state} has changed: status, problem, participants, transport, own
   * presence, or whether transactions are pending.
   */
  state: RoomState<Presence>;
  error: RoomError;
}

/**
 * An immutable snapshot of a room's state, for display. After a change the room makes a new one.
 */
export interface RoomState<Presence = unknown> extends Readonly<
  Pick<
    Room<Presence>,
    "name" | "status" | "problem" | "self" | "participants" | "complete" | "count" | "durability" | "transport"
  >
> {
  /** True while own transactions wait for their confirmation. {@link Room.pending} counts them. */
  readonly pending: boolean;
}

/** A room: the place where participants share channels and presence. */
export interface Room<Presence = unknown> {
  readonly name: string;
  readonly status: Status;
  /** Why the room has no connection; undefined if it has one, or has not yet failed to connect. */
  readonly problem: Problem | undefined;
  /** This participant; undefined before the first connection. */
  readonly self: Participant<Presence> | undefined;
  /**
   * The other participants, by their ids; in a large room only some of them: see {@link
   * Room.complete}. The map is immutable: after a change the room makes a new one.
   */
  readonly participants: ReadonlyMap<number, Participant<Presence>>;
  /**
   * True if `participants` has all others. In a large room (more than 256 participants, unless the
   * server is configured otherwise) the server names only participants that send messages or change
   * their presence, each before its message.
   */
  readonly complete: boolean;
  /**
   * The number of participants, this one included. In a large room it is told about once a second.
   */
  readonly count: number;
  /**
   * Asks for some of the other participants, those with ids above `after`: the event `page` brings
   * at most 256. While there is no connection nothing comes; ask again after the status
   * `connected`.
   *
   * @example
   * ```ts
   * room.on("page", ({ participants, last }) => {
   *   participants.forEach(show);
   *   if (!last) room.askForPage(participants.at(-1)?.id);
   * });
   * room.askForPage();
   * ```
   */
  askForPage(after?: number): void;
  readonly stats: Stats;
  /**
   * The number of this participant's transactions that are not confirmed: the room has not ordered
   * them, or not stored them yet. The event `pending` is emitted when it leaves 0 and when it is 0
   * again. It is 0 once the room is closed.
   *
   * @example
   * ```ts
   * room.on("pending", (count) => {
   *   label.textContent = count > 0 ? "Saving…" : room.durability === "memory" ? "Sent" : "Saved";
   * });
   * ```
   */
  readonly pending: number;
  /**
   * What a confirmed transaction survives; undefined before this participant has joined, and once
   * the room is closed.
   */
  readonly durability: Durability | undefined;
  /** The transport in use; undefined while there is none. */
  readonly transport: Transport | undefined;
  /** What can be shown of the room now: the same object until something of it changes. */
  readonly state: RoomState<Presence>;
  /**
   * Calls `listener` whenever {@link Room.state} has changed. Returns a function that removes the
   * listener. It needs no `this`.
   *
   * @example
   * ```ts
   * const { status, participants } = useSyncExternalStore(room.subscribe, () => room.state); // in React
   * ```
   */
  readonly subscribe: (listener: (state: RoomState<Presence>) => void) => () => void;
  /**
   * Changes the allowed transports ({@link ConnectOptions.transports}; undefined restores the
   * default) and moves the session if needed. The current transport stays in use until another one
   * is open.
   */
  setTransports(names: readonly TransportName[] | undefined): void;
  /**
   * Opens a channel. A second call with the same name returns the same channel, or a new one once
   * the first is closed. A channel that is open, such as those in {@link ConnectOptions.channels},
   * needs no `options`. With other options than this program has asked for before it is an error
   * with the code `qos-differs`; what the server has made of the QoS does not matter.
   */
  channel(name: string, options?: ChannelOptions): Channel;
  /**
   * Replaces the token, for programs that do not give a function to `connect`. An error with the
   * code `expired` or `revoked` says that the token holds no longer: the room then waits for
   * another one.
   */
  setToken(token: string): void;
  /** Changes this participant's presence, which all others see. */
  setPresence(presence: Presence): void;
  /**
   * Registers the function that makes a part of the room's snapshot: the application's state of
   * some channels. It is called when the server wants that part, so that late joiners need not read
   * the whole log. The part must contain exactly the transactions of its channels that were
   * delivered so far, without own transactions that are not yet ordered. If the function returns
   * nothing, the server asks another participant. A room has one part for each name; participants
   * that have all of its channels open receive it. Listen to `snapshot` in the same task as to the
   * messages of the part's channels.
   *
   * ```ts
   * const shapes = room.channel("shapes", transaction());
   * room.provideSnapshot(() => JSON.stringify(drawing), { part: "drawing", channels: [shapes] });
   * room.on("snapshot", ({ part, data }) => part === "drawing" && draw(data));
   * ```
   */
  provideSnapshot(make: () => Uint8Array | string | undefined, options?: SnapshotOptions): void;
  /** Calls `listener` for each event of this name. Returns a function that removes the listener. */
  on<E extends keyof RoomEvents<Presence>>(event: E, listener: (value: RoomEvents<Presence>[E]) => void): () => void;
  /**
   * Calls `listener` for the next event of this name. Returns a function that removes the listener.
   */
  once<E extends keyof RoomEvents<Presence>>(event: E, listener: (value: RoomEvents<Presence>[E]) => void): () => void;
  /**
   * Removes a listener of this event, however often it was added. The function that `on` returned
   * does the same for one call of `on`.
   */
  off<E extends keyof RoomEvents<Presence>>(event: E, listener: (value: RoomEvents<Presence>[E]) => void): void;
  /**
   * Closes the room for good. Messages that were submitted before are handed to the network first,
   * without waiting for it. A single channel is closed by {@link Channel.close}.
   */
  leave(): void;
  /** @deprecated The same as {@link Room.leave}, by the name that other libraries have for it. */
  close(): void;
  /**
   * @deprecated The same as {@link Room.leave}: the room is left for good, and `connect` joins it
   *   anew.
   */
  disconnect(): void;
  /** @deprecated The same as {@link Room.leave}, by the name that other libraries have for it. */
  destroy(): void;
}
