/** The options of voice, and their checks. */

import type { ChannelOptions } from "../api.js";
import { check, must, type Rule, type Rules } from "../arguments.js";
import { MAX_CHANNEL_NAME } from "../options.js";
import { awareness } from "../qos.js";
import type { VoiceOptions } from "./api.js";

export const MODE: Rule = ["voice", "push", "open"];
export const VOLUME: Rule = [0, 4];
/** A room, of any presence. */
export const ROOM = must("a room of `connect`", (value) => {
  return typeof (value as { readonly on?: unknown } | null | undefined)?.on === "function";
});
/** Ids of devices are opaque; browsers make them of 64 characters. */
export const DEVICE: Rule = 1024;

const isKey = (value: unknown): boolean => {
  if (value instanceof Uint8Array) return value.length === 16 || value.length === 32;
  return (value as CryptoKey | null)?.algorithm?.name === "AES-GCM";
};

export const VOICE: Rules<VoiceOptions> = {
  channel: MAX_CHANNEL_NAME,
  mode: MODE,
  microphone: "boolean",
  muted: "boolean",
  device: DEVICE,
  echoCancellation: "boolean",
  noiseSuppression: "boolean",
  bitrate: (value, argument) => {
    must("a list of two numbers, the least and the most", (one) => Array.isArray(one) && one.length === 2)(
      value,
      argument,
    );
    const [least, most] = value as [number, number];
    check(least, [6000, 64_000], `the least ${argument}`);
    check(most, [least, 64_000], `the most ${argument}`);
  },
  volume: VOLUME,
  key: must("16 or 32 bytes, or a `CryptoKey` of AES-GCM", isKey),
  presence: "boolean",
  worklet: must("an address", (value) => typeof value === "string" || value instanceof URL),
};

/**
 * The options of a channel for voice, as `Qos::voice` in Rust has them: 1 % of the frames may be
 * lost or late, none is of use after 180 ms, and the room passes on the four loudest speakers.
 */
export function voiceChannel(options: Omit<ChannelOptions, "kind"> = {}): ChannelOptions {
  return awareness({ overflow: "aggregate", loss: 0.01, deadline: 180, speakers: 4, ...options });
}
