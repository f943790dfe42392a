/**
 * What an application sees of Groupwire. Types only: the code stands in `room.ts` and `channel.ts`.
 *
 * Functions that cannot do what they are asked throw an `Error` with `code` and `fault` as {@link RoomError} has them.
 */

/** What a channel needs, from the sender's application to the receiver's. The server's word on it is final. */
export interface Qos {
  /** `transaction`: all of them, in one order for everybody. `awareness`: some may be lost. */
  kind: "transaction" | "awareness";
  /** Awareness: the share of messages that may be lost or late, 0 to 1. Default 0.05. */
  loss?: number;
  /** Milliseconds from app to app after which a message is worth nothing. Default: none. */
  deadline?: number;
  /** The lowest rate, in messages per second, that is still of use. Default: none. */
  minRate?: number;
  /** The highest rate that is of use. Default: none. */
  maxRate?: number;
  /** 0 (least) to 255. Default 128. */
  priority?: number;
  /** Above the highest rate: only the newest value per key, or all values in fewer packets. Default: `conflate` for awareness. */
  overflow?: "conflate" | "aggregate";
  /** Keep the compression context of this channel to itself (lengths can leak what else was sent). */
  private?: boolean;
}

/** What a channel is: its QoS, which is everybody's, and what is this participant's own. */
export interface ChannelOptions extends Qos {
  /** How its messages become small between this participant and the server. Default: `template`. */
  compress?: Compress;
}

/** The lossless codecs. What they are is in docs/qos.md. */
export type Codec =
  "none" | "lz4" | "zlib" | "snappy" | "lzo" | "lzf" | "lzw" | "zstd" | "brotli" | "bzip2" | "lzma" | "rle" | "null";

/**
 * `template`: by what messages share with each other and with earlier ones; for messages of some hundred bytes that
 * resemble each other nothing comes near. `off`: as they are. Otherwise each message alone: `auto` by whatever gets it
 * there soonest, or by a codec of your choice, as in `lz4`, `zstd-19` (with a level), `zstd-fast-3` (a negative one) or
 * `delta4+lz4` (numbers of four bytes, each less the one before).
 */
export type Compress = "template" | "off" | "auto" | Codec | `${Codec}-${string}` | `delta${1 | 2 | 4 | 8}+${string}`;

/** How to join a room. */
export interface ConnectOptions<Presence = unknown> {
  /** Shown to the server's authorisation hook. */
  token?: string;
  /** What the others are told of this participant: any JSON, at most 4 KB. */
  presence?: Presence;
  /**
   * The WebAssembly core: where it lies, or what it is, for programs that have no `fetch` for files (Node). Loaded
   * once per page, so the first `connect` decides. Default: beside this module.
   */
  wasm?: string | URL | BufferSource | WebAssembly.Module;
  /** The same for the module with most codecs that the core lacks. It is loaded when a channel asks for one of them. */
  codecs?: string | URL | BufferSource | WebAssembly.Module;
  /** The same for brotli, which is a module of its own for its size. */
  brotli?: string | URL | BufferSource | WebAssembly.Module;
  /** Instead of the global one, for programs that are no browser: the package `ws`, for example. */
  WebSocket?: WebSocketConstructor;
  /**
   * Which transports may be used, best first; one name pins it. What the platform does not have is left out. Default:
   * all it has, in the order of {@link TransportName}; outside of a page `websocket` alone.
   */
  transports?: readonly TransportName[];
}

/** The ways to a server, best first. What they do is in docs/transports.md. */
export type TransportName = "webtransport" | "websocket" | "multipart" | "iframe" | "longpoll" | "poll";

/** The transport in use. */
export interface Transport {
  readonly name: TransportName;
  /** Why it and no other, in plain words for people: "WebTransport did not answer within 200 ms; still trying." */
  readonly why: string;
}

/** The part of the browser's `WebSocket` that is used here. */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

/** See {@link WebSocketConstructor}. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(packet: Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
}

/** `connecting`: for the first time. `reconnecting`: the connection broke. `closed`: for good. */
export type Status = "connecting" | "connected" | "reconnecting" | "closed";

/** Somebody in the room. */
export interface Participant<Presence = unknown> {
  /** Unique in the room, small, never used again for somebody else. */
  readonly id: number;
  /** What it says of itself; undefined if that is no JSON. Whoever wrote it may be anybody: check its shape. */
  readonly presence: Presence | undefined;
  /** Its connection broke and may come back. */
  readonly away: boolean;
}

/** Strings and bytes (also as `ArrayBuffer` or a view of one) arrive as they were sent; anything else as JSON text. */
export type Payload = string | Uint8Array | object;

/** What to say of one message. */
export interface SendOptions {
  /** On a conflated channel: only the newest value of a key (of this participant) matters. */
  key?: string;
  /** 0 (least) to 255, instead of the channel's. */
  priority?: number;
}

/**
 * `accepted`: on its way, or waiting for its turn. `conflated`: accepted, and it replaced an older value of its key.
 * `not-now`: too much is waiting for the network; nothing was taken, try again after `drain`.
 */
export type Sent = "accepted" | "conflated" | "not-now";

/** A message that arrived. */
export interface Message {
  /** A string if it was sent as text, else bytes. */
  readonly data: string | Uint8Array;
  /** `data` read as JSON. Throws a SyntaxError if it is none. */
  json<T = unknown>(): T;
  /** The participant who sent it. */
  readonly sender: number;
  /** One's own transaction, at its place in the room's order: from now on it is *ordered*. */
  readonly own: boolean;
  /** The sender's key, if it gave one. */
  readonly key: string | undefined;
  /** Milliseconds since the sender's application made it, as far as is known. */
  readonly age: number;
  /** The place of a transaction in the room's order; 0 for awareness. */
  readonly position: number;
  /**
   * The sender's own count, modulo 2^32: of its transactions, or of its messages on an awareness channel. Says which
   * of two messages was made first, where `age` is only an estimate.
   */
  readonly index: number;
  /** Awareness that was overtaken by a later transaction of the same sender. */
  readonly stale: boolean;
  /** Part of the state that a late joiner is sent, not something that happened just now. */
  readonly state: boolean;
}

/** One type of message in a room. */
export interface Channel {
  readonly name: string;
  /** What was asked for until the server answers, then what holds. */
  readonly qos: Qos;
  /**
   * How its messages become small, from now on and both ways, on the link of this participant. It may be changed at any
   * time. What takes other codecs than the core's loads them first; until then all stays as it was, which is `off` at
   * the beginning. If they cannot be loaded, or there is no such codec, it becomes `off` and the room tells an `error`.
   */
  compress: Compress;
  /** How its contract stands, judged by what comes here; undefined before the core is loaded. */
  readonly contract: Contract | undefined;
  /**
   * Asks for another QoS, for everybody, from now on; what is left out stays. The server's word is final: the event `qos`
   * says what holds, an `error` of the room that nothing changed.
   */
  setQos(change: Partial<Omit<Qos, "kind" | "overflow" | "private">>): void;
  /**
   * Asks the server for at most so many values of each key per second, always the newest; undefined: for all. For
   * channels that conflate.
   */
  limitRate(perSecond: number | undefined): void;
  /**
   * Sends a message, now or as soon as there is a connection. Throws when it can never be sent: too large, refused
   * channel, closed room.
   */
  send(payload: Payload, options?: SendOptions): Sent;
  /** Returns a function that ends the subscription. */
  on(event: "message", listener: (message: Message) => void): () => void;
  /** The late-joiner state of this channel has arrived. */
  on(event: "synced", listener: () => void): () => void;
  /** Another QoS holds from now on. */
  on(event: "qos", listener: (qos: Qos) => void): () => void;
  /** The contract began to be missed, or is kept again. */
  on(event: "contract", listener: (news: ContractNews) => void): () => void;
}

/** A contract began to be missed, or is kept again. */
export interface ContractNews {
  /** `cannot-meet`: not as things are. */
  readonly state: "met" | "missed" | "cannot-meet";
  /** What is broken, if anything is. */
  readonly breach: ContractBreach | undefined;
  /** The same in plain words. */
  readonly text: string;
  /** What is being done. */
  readonly measures: readonly ContractMeasure[];
}

/** The part of a contract that is broken. Shares are from 0 to 1, rates per second. */
export interface ContractBreach {
  readonly of: "loss" | "rate";
  readonly target: number;
  readonly measured: number;
  /** Of loss: the deadline at which the target would have been met, in milliseconds; undefined if none would do. */
  readonly deadline?: number;
}

/** What Groupwire does about a contract. */
export interface ContractMeasure {
  readonly kind: "datagrams" | "stream" | "repeated" | "asked" | "paced" | "thinned" | "conflated" | "other";
  /** In plain words. */
  readonly text: string;
}

/** How a channel's contract stands at this participant. */
export interface Contract extends ContractNews {
  /** The last ten seconds. */
  readonly recent: ContractTally;
  /** Since the channel was opened. */
  readonly total: ContractTally;
  /** What came per second while its sender sent at least at the lowest rate; undefined if none is stated, or sent. */
  readonly rate: number | undefined;
  /** Milliseconds from app to app. */
  readonly latency: {
    readonly median: number | undefined;
    readonly p99: number | undefined;
    /** The largest latency that falls into each, and how many messages did. */
    readonly buckets: readonly (readonly [ms: number, count: number])[];
  };
  /** The share, 0 to 1, that was lost or late on its way from the senders to the server, as the server last told. */
  readonly upstream: number;
}

/** Messages for this participant: those it asked to be left out are not among them. */
export interface ContractTally {
  /** Of which it is known whether they came in time. */
  readonly judged: number;
  /** That never came, or after the deadline. A newer value of a conflated channel makes up for an older one. */
  readonly missed: number;
  /** Of the missed: that came too late. */
  readonly late: number;
}

/** Something is missing that cannot be had again. */
export interface Gap {
  /**
   * `incarnation`: the server lost the room's state (it was restarted); whoever still has it should send it again.
   * `session`: the server no longer knows this participant; it has a new id. `history`: transactions are missing.
   */
  readonly reason: "incarnation" | "session" | "history";
  /**
   * Own transactions that were sent but not acknowledged. They are sent again; the session that was lost may have
   * ordered some of them already.
   */
  readonly uncertain: number;
}

/** What a participant's `provideSnapshot` made. */
export interface Snapshot {
  readonly data: Uint8Array;
  /** It stands for all transactions up to this position; it replaces all state built so far. */
  readonly asOf: number;
}

/** What went wrong. Without a listener it goes to the console. */
export interface RoomError {
  /** A short name such as `too-large`. */
  readonly code: string;
  /**
   * Who has to change something: `peer` and `incompatible` mean the server, `limit` and `refused` the request, `own`
   * this program.
   */
  readonly fault: "peer" | "incompatible" | "limit" | "refused" | "own";
  /** In plain words, with what to do. */
  readonly message: string;
  /** The room is closed; trying again cannot help. */
  readonly fatal: boolean;
  /** The channel that an `open` was refused for, if any. */
  readonly channel: string | undefined;
}

/** Totals since `connect`. */
export interface Stats {
  /** The name of the transport in use, or "none". */
  readonly transport: string;
  readonly sent: Traffic;
  readonly received: Traffic;
  /** Smoothed, in milliseconds; undefined before the first answer. */
  readonly roundTrip: number | undefined;
  readonly reconnects: number;
  /** By the names of the channels. */
  readonly channels: ReadonlyMap<string, ChannelStats>;
}

/** What one channel carried. */
export interface ChannelStats {
  readonly sent: ChannelTraffic;
  readonly received: ChannelTraffic;
}

/** Totals of one channel in one direction. Bytes are of messages alone, without keys and headers. */
export interface ChannelTraffic {
  /** Messages that travelled each alone: by a codec, or as they were. */
  readonly messages: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /**
   * Messages that travelled together with others of their packet (`template`). Which part of it was theirs nobody can
   * say: the room's totals have whole packets.
   */
  readonly codedMessages: number;
  readonly codedBytes: number;
  /** What the last message that travelled alone was compressed by; `none`: it would not have become smaller. */
  readonly codec: string | undefined;
}

/** Totals of one direction. "Before" counts the bytes of messages, "after" all bytes handed to the transport. */
export interface Traffic {
  readonly messages: number;
  readonly packets: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** What a room tells, by the names that `on` takes. */
export interface RoomEvents<Presence> {
  /** The state of the connection changed. */
  status: Status;
  /** Somebody came, changed, or left. `room.participants` is already up to date. */
  participants: ReadonlyMap<number, Participant<Presence>>;
  /** The late-joiner state of the channels opened before connecting is complete. */
  synced: undefined;
  /** State that replaces all that was built from transactions so far. */
  snapshot: Snapshot;
  gap: Gap;
  /** After `not-now`: there is room again. */
  drain: undefined;
  /** The session moved to another transport, or there is another reason for the one in use. */
  transport: Transport;
  error: RoomError;
}

/** A place where participants share channels and presence. */
export interface Room<Presence = unknown> {
  readonly name: string;
  readonly status: Status;
  /** This participant; undefined before the first connection. */
  readonly self: Participant<Presence> | undefined;
  /** The others. */
  readonly participants: ReadonlyMap<number, Participant<Presence>>;
  readonly stats: Stats;
  /** What is in use; undefined while there is none. */
  readonly transport: Transport | undefined;
  /**
   * Changes which transports may be used, as {@link ConnectOptions.transports} says (undefined: the default), and moves
   * if need be. What is in use stays until another is open.
   */
  setTransports(names: readonly TransportName[] | undefined): void;
  /** Opens a channel. Calling it again with the same name gives the same channel. */
  channel(name: string, options: ChannelOptions): Channel;
  /** Changes what the others are told of this participant. */
  setPresence(presence: Presence): void;
  /**
   * Called when the server wants a snapshot so that late joiners need not read the whole log. It must stand for
   * exactly the transactions delivered so far (own ones that are not yet ordered left out).
   */
  provideSnapshot(make: () => Uint8Array | string): void;
  /** Returns a function that ends the subscription. */
  on<E extends keyof RoomEvents<Presence>>(event: E, listener: (value: RoomEvents<Presence>[E]) => void): () => void;
  /** Says goodbye and closes, for good. What waits for the network is given up. */
  leave(): void;
}
