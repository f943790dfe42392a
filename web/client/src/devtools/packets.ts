/** What a packet contains, as the client knows it. */

import type { TransportName } from "../api.js";

/** A message as the program gave or got it. */
export interface Plain {
  readonly channel: string;
  /** Bytes as the program sent them. */
  readonly bytes: number;
  /** The beginning of its text. */
  readonly text: string;
}

/** A message of a packet, or several of one channel of which only the sum is known. */
export interface Carried extends Plain {
  readonly count: number;
  /** The sender of a received message. */
  readonly sender: number | undefined;
  readonly key: string | undefined;
  /**
   * `own`: the confirmation of an own transaction, which does not carry the message again.
   * `direct`: a message to one participant.
   */
  readonly kind: "message" | "own" | "direct";
}

/** What one packet carries, or several that the client has made in one go. */
export interface Contents {
  readonly packets: number;
  /** Compressed bytes of the messages, with repeats; the rest are headers and control. */
  readonly payload: number;
  readonly messages: readonly Carried[];
  /** Anything else, in the words of the protocol's client. */
  readonly notes: readonly string[];
}

export interface Packet {
  readonly number: number;
  /** When it was sent or received, by `Date.now()`. */
  readonly at: number;
  readonly way: "in" | "out";
  readonly carrier: "stream" | "datagram";
  readonly transport: TransportName | undefined;
  readonly bytes: number;
  /** Filled once the core has made or read the packet. */
  contents: Contents;
}

/** The longest text of a message that is kept, in characters. */
const LONGEST_TEXT = 200;

/** Bytes of binary messages that are shown. */
const SHOWN_BYTES = 32;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A message in a form that can be kept: its size, and the beginning of its text. */
export function plain(channel: string, data: string | Uint8Array, isText = typeof data === "string"): Plain {
  const bytes = typeof data === "string" ? encoder.encode(data).length : data.length;
  if (typeof data === "string") return { channel, bytes, text: data.slice(0, LONGEST_TEXT) };
  if (isText) return { channel, bytes, text: decoder.decode(data.subarray(0, LONGEST_TEXT)) };
  const shown = [...data.subarray(0, SHOWN_BYTES)].map((byte) => byte.toString(16).padStart(2, "0"));
  return { channel, bytes, text: shown.join(" ") + (bytes > SHOWN_BYTES ? " …" : "") };
}

export const NOTHING: Contents = { packets: 1, payload: 0, messages: [], notes: [] };
