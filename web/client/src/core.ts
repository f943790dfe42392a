/** The WebAssembly core (crates/wasm): its types, and how it is loaded. */

import type {
  ChannelTraffic,
  ConnectOptions,
  Contract,
  ContractNews,
  Gap,
  Message,
  Qos,
  RoomError,
  Sent,
  Stats,
  Status,
} from "./api.js";
import type { How } from "./compress.js";
import { failure, judged } from "./errors.js";

/**
 * A participant's session as a state machine without clock and socket. Report what happened, then call `poll` and do
 * what it says until it answers `timeout`. Times are milliseconds, as `performance.now()` counts.
 */
export interface Core {
  /** `maxDatagram` 0: the transport has no datagrams. While joined: the session moves to this transport. */
  opened(now: number, maxDatagram: number): void;
  received(now: number, packet: Uint8Array): void;
  receivedDatagram(now: number, packet: Uint8Array): void;
  sent(now: number): void;
  /** One datagram has left, or was dropped. */
  datagramSent(now: number): void;
  closed(now: number): void;
  /** The network may be back: do not wait any longer to dial. */
  hurry(now: number): void;
  timeout(now: number): void;
  poll(now: number): Output;
  /** The number of the channel; they count from 0. */
  channel(name: string, qos: Qos, how: How): number;
  compress(channel: number, how: How): void;
  setQos(channel: number, qos: Qos): void;
  limitRate(channel: number, rate?: number): void;
  contract(channel: number): Contract | undefined;
  /** Which modules with other codecs are loaded. */
  setCodecs(most: boolean, brotli: boolean): void;
  send(now: number, channel: number, bytes: Uint8Array, text: boolean, key?: string, priority?: number): Sent;
  setPresence(presence: Uint8Array): void;
  /** Why the transport in use was chosen, for who inspects the room. */
  setReason(reason: string): void;
  snapshot(asOf: number, bytes: Uint8Array): void;
  leave(): void;
  stats(): CoreStats;
  free(): void;
}

/** `channels` by their numbers. */
export type CoreStats = Omit<Stats, "transport" | "channels"> & {
  readonly channels: readonly Readonly<{ sent: CoreTraffic; received: CoreTraffic }>[];
};

/** The codec and the filter by their numbers. */
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

/** What the core wants done, or tells the application. Made in crates/wasm/src/output.rs. */
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
  /** Another QoS holds, while the channel is open. */
  | { readonly type: "changed"; readonly channel: number; readonly qos: Qos }
  | { readonly type: "contract"; readonly channel: number; readonly news: ContractNews }
  | CoreMessage
  | { readonly type: "participants"; readonly complete: boolean; readonly changes: readonly ParticipantChange[] }
  | { readonly type: "synced"; readonly channel: number | undefined }
  /** `asOf` is the place of the last transaction that was told: what the application has taken in by now. */
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

type Source = NonNullable<ConnectOptions["wasm"]>;

let loading: Promise<CoreConstructor> | undefined;

/** Loads the core, once. After a failure the next call tries again. */
export function loadCore(source: Source | undefined): Promise<CoreConstructor> {
  loading ??= load(source).catch((error: unknown) => {
    loading = undefined;
    const hint = "outside of a browser pass its bytes as `options.wasm`";
    throw failure("no-core", "own", `the core could not be loaded (${judged(error).message}); ${hint}`);
  });
  return loading;
}

async function load(source: Source | undefined): Promise<CoreConstructor> {
  // In this form, and one level deep, bundlers see that the file belongs to the package.
  const from = source ?? new URL("../wasm/groupwire_wasm_bg.wasm", import.meta.url);
  const isAddress = typeof from === "string" || from instanceof URL;
  // At once: the glue would only ask for the core when it is there itself, a round trip later.
  const [glue, core] = await Promise.all([import("../wasm/groupwire_wasm.js"), isAddress ? fetch(from) : from]);
  await glue.default({ module_or_path: core });
  return glue.Core;
}
