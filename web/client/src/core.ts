/** The types of the WebAssembly core (crates/wasm), and the function that loads it. */

import type {
  ChannelTraffic,
  Contract,
  ContractEvent,
  Gap,
  Message,
  Qos,
  RoomError,
  Sent,
  Stats,
  Status,
} from "./api.js";
import type { Compression } from "./compress.js";
import { failure, errorInfo } from "./errors.js";
import { requestModule, type ModuleSource } from "./locate.js";

/**
 * The session of one participant as a state machine without a clock or a socket. Report each event to it, then call
 * `poll` and carry out its outputs until it returns `timeout`. Times are milliseconds of `performance.now()`.
 */
export interface Core {
  /**
   * A transport is open. `maxDatagram` is the largest datagram in bytes, 0 if the transport has no datagrams. A joined
   * session moves to this transport.
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
   * Ends the subscription once all messages of the channel are sent and confirmed. The answer is the event `closed`.
   * `channel` with the same name opens the channel again under the same number; before `closed` it calls the closing off.
   */
  close(channel: number): void;
  compress(channel: number, compression: Compression): void;
  setQos(channel: number, qos: Qos): void;
  limitRate(channel: number, rate?: number): void;
  contract(channel: number): Contract | undefined;
  /** Says which modules with further codecs are loaded. */
  setCodecs(most: boolean, brotli: boolean): void;
  send(now: number, channel: number, bytes: Uint8Array, text: boolean, key?: string, priority?: number): Sent;
  setPresence(presence: Uint8Array): void;
  /** Sets the reason why the transport in use was chosen, which the inspector shows. */
  setReason(reason: string): void;
  snapshot(asOf: number, bytes: Uint8Array): void;
  leave(): void;
  stats(): CoreStats;
  free(): void;
}

/** As {@link Stats}, with `channels` indexed by channel number. */
export type CoreStats = Omit<Stats, "transport" | "channels"> & {
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
) => Core;

/** What the core wants done, or an event for the application. crates/wasm/src/output.rs makes these objects. */
export type Output =
  | { readonly type: "dial" }
  | { readonly type: "send"; readonly packet: Uint8Array<ArrayBuffer> }
  | { readonly type: "datagram"; readonly packet: Uint8Array<ArrayBuffer> }
  | { readonly type: "hangup" }
  | { readonly type: "timeout"; readonly at: number | undefined }
  | CoreEvent;

export type CoreEvent =
  | { readonly type: "status"; readonly status: Status }
  | { readonly type: "joined"; readonly participant: number }
  | { readonly type: "opened"; readonly channel: number; readonly qos: Qos }
  /** The QoS of an open channel has changed. */
  | { readonly type: "changed"; readonly channel: number; readonly qos: Qos }
  | { readonly type: "contract"; readonly channel: number; readonly news: ContractEvent }
  /** The answer to `close`: the subscription has ended. No further event names this channel until it is opened again. */
  | { readonly type: "closed"; readonly channel: number }
  | CoreMessage
  | { readonly type: "participants"; readonly complete: boolean; readonly changes: readonly ParticipantChange[] }
  | { readonly type: "synced"; readonly channel: number | undefined }
  /** `asOf` is the position of the last transaction that was delivered to the application. */
  | { readonly type: "snapshotWanted"; readonly asOf: number }
  | { readonly type: "snapshot"; readonly asOf: number; readonly data: Uint8Array }
  | { readonly type: "gap"; readonly reason: Gap["reason"]; readonly uncertain: number }
  | { readonly type: "quiet"; readonly quiet: boolean }
  | { readonly type: "drain" }
  | ({ readonly type: "error"; readonly channel: number | undefined } & Omit<RoomError, "channel">)
  | { readonly type: "unknown" };

export interface CoreMessage extends Omit<Message, "json"> {
  readonly type: "message";
  readonly channel: number;
}

export interface ParticipantChange {
  readonly id: number;
  readonly state: "here" | "away" | "left";
  readonly presence: string;
}

let loading: Promise<CoreConstructor> | undefined;

/** Loads the core once. After a failure the next call tries again. */
export function loadCore(source: ModuleSource): Promise<CoreConstructor> {
  loading ??= load(source).catch((error: unknown) => {
    loading = undefined;
    const hint = "outside of a browser pass its bytes as `options.wasm`";
    throw failure("no-core", "own", `the core could not be loaded (${errorInfo(error).message}); ${hint}`);
  });
  return loading;
}

async function load(source: ModuleSource): Promise<CoreConstructor> {
  // Both are requested at once: the glue would request the core only after it is loaded itself, one round trip later.
  const [glue, core] = await Promise.all([import("../wasm/groupwire_wasm.js"), requestModule("core", source)]);
  await glue.default({ module_or_path: core });
  return glue.Core;
}
