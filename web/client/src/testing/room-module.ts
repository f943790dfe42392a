/** The types of the server's room in WebAssembly (crates/wasm-room). */

import type { Durability } from "../api.js";

/** What a server can be configured with. Times are in milliseconds. */
export interface RoomSettings {
  /**
   * What a confirmed transaction survives. Default: `memory`, as without `groupwire serve --data`.
   */
  readonly durability?: Durability;
  /** The interval at which the room sends new messages. Default: 40. */
  readonly tick?: number;
  /**
   * A participant whose connection broke is away for this time, then it has left. Default: 10,000.
   */
  readonly away?: number;
  /**
   * A new part of the snapshot is asked for after this many transactions of its channels. Default:
   * 2,000.
   */
  readonly snapshotAfter?: number;
  /**
   * The bytes of transactions that the room keeps. A participant that lacks older ones gets the gap
   * `history`. The limit must have room for several of the largest messages: sending one that does
   * not fit at all is an error. Default: 16 MiB.
   */
  readonly maxLogBytes?: number;
  /**
   * The sessions that the room remembers after they left. A client whose session is forgotten gets
   * the gap `session`. Default: 1,024.
   */
  readonly maxFormer?: number;
}

/** The room. It is driven as the core of a client is ({@link import("../core.js").Core}). */
export interface RoomCore {
  join(now: number, link: number, packet: Uint8Array, maxDatagram: number, user: string, rights: string): void;
  packet(now: number, link: number, packet: Uint8Array): void;
  datagram(now: number, link: number, packet: Uint8Array): void;
  sent(now: number, link: number): void;
  datagramSent(now: number, link: number): void;
  closed(now: number, link: number): void;
  /** Answers `token`: the token is good. */
  renewed(now: number, link: number, user: string, rights: string): void;
  /** Closes the transport, because the participant may not join. */
  refuse(now: number, link: number, why: string): void;
  /** Asks the participant for another token. */
  wantToken(now: number, link: number): void;
  /** Says goodbye to all clients, which may come back after `retry` milliseconds. */
  shutdown(now: number, retry: number): void;
  timeout(now: number): void;
  /** The oldest change that is not durable yet becomes durable. */
  stored(now: number): void;
  /**
   * Kills the server: `kept` of the unstored changes became durable. The room loads its durable
   * state.
   */
  readonly unstored: number;
  /** The server is killed: `kept` of these changes became durable. What was durable is loaded. */
  restart(kept: number, incarnation: number): void;
  /** The server restarts, and everything that it had stored is lost. */
  lose(incarnation: number): void;
  poll(): RoomOutput;
  /** Grows with each message that the room takes or sends. */
  readonly activity: number;
  free(): void;
}

/** Outputs of the room. crates/wasm-room/src/output.rs makes these objects. */
export type RoomOutput =
  | { readonly type: "send"; readonly link: number; readonly packet: Uint8Array }
  | { readonly type: "datagram"; readonly link: number; readonly packet: Uint8Array; readonly reports: boolean }
  | { readonly type: "close"; readonly link: number; readonly packet: Uint8Array }
  | { readonly type: "token"; readonly link: number; readonly token: string }
  | { readonly type: "store" }
  | { readonly type: "timeout"; readonly at: number }
  | RoomEvent;

/** Something happened in the room, for the log. */
export type RoomEvent = { readonly type: "event" } & (
  | { readonly event: "joined"; readonly participant: number; readonly link: number; readonly resumed: boolean }
  | { readonly event: "refused"; readonly link: number; readonly why: string }
  | { readonly event: "away"; readonly participant: number; readonly why: string | undefined }
  | { readonly event: "left"; readonly participant: number }
  | { readonly event: "channel"; readonly name: string }
  | { readonly event: "changed"; readonly name: string; readonly participant: number }
  | { readonly event: "snapshot"; readonly part: string; readonly asOf: number; readonly size: number }
  | { readonly event: "other" }
);

/** The module, once it is loaded. */
export interface RoomModule {
  readonly SimulatedRoom: new (name: string, incarnation: number, settings: RoomSettings) => RoomCore;
  /** The answer to the first packet of a client that may not join. */
  refusal(why: string): Uint8Array;
  /** The token in the first packet of a client. */
  tokenOf(packet: Uint8Array): string;
}
