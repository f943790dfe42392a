/** The types of the WebAssembly core (crates/wasm), and the function that loads it. */

import type {
  ChannelTraffic,
  ConnectOptions,
  Contract,
  ContractEvent,
  Durability,
  Gap,
  Message,
  Qos,
  RoomError,
  Receipt,
  Sent,
  Stats,
  Status,
  WasmSource,
} from "./api.js";
import type { Compression } from "./compress.js";
import { failure, errorInfo } from "./errors.js";
import { requestModule, type ModuleSource } from "./locate.js";

/**
 * The session of one participant as a state machine without a clock or a socket. Report each event
 * to it, then call `poll` and carry out its outputs until it returns `timeout`. Times are
 * milliseconds of `performance.now()`.
 */
export interface Core {
  /** The second part of the core is loaded: the session uses it on the next transport. */
  complete(): void;
  /**
   * A transport is open. `maxDatagram` is the largest datagram in bytes, 0 if the transport has no
   * datagrams. A joined session moves to this transport.
   */
  opened(now: number, maxDatagram: number): void;
  received(now: number, packet: Uint8Array): void;
  receivedDatagram(now: number, packet: Uint8Array): void;
  sent(now: number): void;
  /** One datagram has left, or was dropped. */
  datagramSent(now: number): void;
  closed(now: number): void;
  /** The network may be back: dial at once instead of waiting for the reconnect delay. */
  hurry(now: number): void;
  timeout(now: number): void;
  poll(now: number): Output;
  /** Opens a channel and returns its number. Channels are numbered from 0. */
  channel(name: string, qos: Qos, compression: Compression): number;
  /**
   * Ends the subscription once all messages of the channel are sent and confirmed. The answer is
   * the event `closed`. `channel` with the same name opens the channel again under the same number;
   * before `closed` it calls the closing off.
   */
  close(channel: number): void;
  compress(channel: number, compression: Compression): void;
  setQos(channel: number, qos: Qos): void;
  limitRate(channel: number, rate?: number): void;
  contract(channel: number): Contract | undefined;
  /** Says which modules with further codecs are loaded. */
  setCodecs(most: boolean, brotli: boolean): void;
  send(now: number, channel: number, bytes: Uint8Array, text: boolean, key?: string, priority?: number): Sent;
  /**
   * Sends to one participant. The event `receipt` with this `tag` tells whether the message
   * arrived.
   */
  sendTo(now: number, channel: number, bytes: Uint8Array, text: boolean, to: number, tag: number): Sent;
  setToken(token: Uint8Array): void;
  setPresence(presence: Uint8Array): void;
  /** Asks for participants with ids above `after`. The answer is the event `page`. */
  wantPage(after: number): void;
  /** Sets the reason why the transport in use was chosen, which the inspector shows. */
  setReason(reason: string): void;
  /**
   * States that the application makes the part of the snapshot with this name, of these channels.
   */
  provide(part: string, channels: Uint32Array): void;
  snapshot(part: string, asOf: number, bytes: Uint8Array): void;
  /** The number of own transactions that are not confirmed. */
  pending(): number;
  /** Undefined before the session has joined. */
  durability(): Durability | undefined;
  leave(): void;
  stats(): CoreStats;
  free(): void;
}

/** As {@link Stats}, with `channels` indexed by channel number. */
export type CoreStats = Omit<Stats, "transport" | "channels" | "plain"> & {
  readonly channels: readonly Readonly<{ sent: CoreTraffic; received: CoreTraffic }>[];
};

/** As {@link ChannelTraffic}, with the codec and the filter as their numbers on the wire. */
export type CoreTraffic = Omit<ChannelTraffic, "codec"> & {
  readonly codec: number | undefined;
  readonly filter: number | undefined;
};

export type CoreConstructor = new (
  now: number,
  room: string,
  token: Uint8Array,
  presence: Uint8Array,
  seed: number,
  plain: boolean,
  small: boolean,
) => Core;

/**
 * What the core wants done, or an event for the application. crates/wasm/src/output.rs makes these
 * objects.
 */
export type Output =
  | { readonly type: "dial" }
  | { readonly type: "send"; readonly packet: Uint8Array<ArrayBuffer> }
  | { readonly type: "datagram"; readonly packet: Uint8Array<ArrayBuffer> }
  | { readonly type: "hangup" }
  | { readonly type: "timeout"; readonly at: number | undefined }
  | CoreEvent;

export type CoreEvent =
  | { readonly type: "status"; readonly status: Status }
  /** The token expires soon, has expired or was revoked. */
  | { readonly type: "tokenWanted" }
  /** The room is on another server, at this address: move there after some milliseconds (W117). */
  | { readonly type: "owner"; readonly after: number; readonly address: string }
  | { readonly type: "joined"; readonly participant: number }
  | { readonly type: "opened"; readonly channel: number; readonly qos: Qos }
  /** The QoS of an open channel has changed. */
  | { readonly type: "changed"; readonly channel: number; readonly qos: Qos }
  | { readonly type: "contract"; readonly channel: number; readonly news: ContractEvent }
  /**
   * The answer to `close`: the subscription has ended. No further event names this channel until it
   * is opened again.
   */
  | { readonly type: "closed"; readonly channel: number }
  | CoreMessage
  /** The result of a message for one participant. */
  | { readonly type: "receipt"; readonly tag: number; readonly receipt: Receipt }
  | { readonly type: "participants"; readonly complete: boolean; readonly changes: readonly ParticipantChange[] }
  /** The number of participants of a large room; with `complete`, the room is no longer large. */
  | { readonly type: "count"; readonly count: number; readonly complete: boolean }
  | { readonly type: "page"; readonly participants: readonly ParticipantChange[]; readonly last: boolean }
  | { readonly type: "synced"; readonly channel: number | undefined }
  /** `asOf` is the position of the last transaction that was delivered to the application. */
  | { readonly type: "snapshotWanted"; readonly part: string; readonly asOf: number }
  | { readonly type: "snapshot"; readonly part: string; readonly asOf: number; readonly data: Uint8Array }
  | {
      readonly type: "gap";
      readonly reason: Gap["reason"];
      readonly uncertain: number;
      readonly channel: number | undefined;
    }
  | { readonly type: "quiet"; readonly quiet: boolean }
  | { readonly type: "drain" }
  /** Own transactions begin to wait for their confirmation, or (0) all are confirmed. */
  | { readonly type: "pending"; readonly count: number }
  | ({ readonly type: "error"; readonly channel: number | undefined } & Omit<RoomError, "channel">)
  | { readonly type: "unknown" };

export interface CoreMessage extends Omit<Message, "json"> {
  /** `direct`: it is for this participant alone. */
  readonly type: "message" | "direct";
  readonly channel: number;
}

export interface ParticipantChange {
  readonly id: number;
  readonly state: "here" | "away" | "left";
  /** The verified user; undefined if the server does not know it. */
  readonly user: string | undefined;
  readonly presence: string;
}

/** The core as a page has loaded it. */
export interface LoadedCore {
  readonly Core: CoreConstructor;
  /** False until the second part is loaded, too: sessions begin plain and call `complete`. */
  readonly isComplete: boolean;
  /**
   * Loads the second part once, for all sessions of the page. After a failure the next call tries
   * again.
   */
  complete(): Promise<void>;
}

/**
 * If the first part of the core came within this time, the link is fast, or the parts are in the
 * browser's cache: then the second part is loaded at once instead of after joining.
 */
const FAST_MS = 150;

/**
 * How long a session on a fast link waits for the second part, so that it need not move to another
 * transport for it.
 */
const GRACE_MS = 100;

type Glue = typeof import("../wasm/groupwire_wasm.js");

let loading: Promise<LoadedCore> | undefined;

/** Loads the core once, or its first part. After a failure the next call tries again. */
export function loadCore(source: ConnectOptions["wasm"]): Promise<LoadedCore> {
  loading ??= load(source).catch((error: unknown) => {
    loading = undefined;
    const hint = "outside of a browser pass its bytes as `options.wasm`";
    throw failure("no-core", "own", `the core could not be loaded (${errorInfo(error).message}); ${hint}`);
  });
  return loading;
}

async function load(source: ConnectOptions["wasm"]): Promise<LoadedCore> {
  const began = performance.now();
  // One source is the whole core in one file.
  const isWhole = source !== undefined && !isPair(source);
  const [first, second] = isPair(source) ? source : [source];
  // The glue code and the core are requested at once: the glue would request the core only after it
  // is loaded itself, one round trip later.
  const [glue, core] = await Promise.all([import("../wasm/groupwire_wasm.js"), requestModule("first", first)]);
  await glue.load(core);
  if (isWhole) return { Core: glue.Core, isComplete: true, complete: () => Promise.resolve() };
  const loaded = new Parts(glue, second);
  if (performance.now() - began < FAST_MS) {
    await Promise.race([loaded.complete().catch(() => {}), new Promise((resolve) => setTimeout(resolve, GRACE_MS))]);
  }
  return loaded;
}

function isPair(source: ConnectOptions["wasm"]): source is readonly [WasmSource, WasmSource] {
  return Array.isArray(source);
}

/** A core of which the first part is loaded. */
class Parts implements LoadedCore {
  isComplete = false;
  #loading: Promise<void> | undefined;

  constructor(
    readonly glue: Glue,
    readonly second: ModuleSource,
  ) {}

  get Core(): CoreConstructor {
    return this.glue.Core;
  }

  complete(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    await this.glue.loadSecond(await requestModule("second", this.second));
    this.isComplete = true;
  }
}
