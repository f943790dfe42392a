/** The options of rooms and channels, and their checks. */

import type { Channel, ChannelOptions, ConnectOptions, Qos, SendOptions, SnapshotOptions } from "./api.js";
import { check, checkOptions, must, type Rule, type Rules } from "./arguments.js";
import { failure, invalid, shown } from "./errors.js";
import { LABELS } from "./reasons.js";

// Limits of the wire format in bytes (`crates/session/src/limits.rs`).
const MAX_ROOM_NAME = 256;
export const MAX_CHANNEL_NAME = 128;
const MAX_PART_NAME = 128;
export const MAX_TOKEN = 4096;
export const MAX_PRESENCE = 4096;
const MAX_KEY = 256;

/** Ids of participants are numbers of 32 bits, and 0 is the room itself. */
export const PARTICIPANT: Rule = [1, 2 ** 32 - 1, 1];

/**
 * Rates are numbers of 32 bits on the wire, in thousandths per second. A smaller one would count as
 * none.
 */
export const RATE: Rule = [0.001, 4_294_967];
/** 0 takes a bound away. */
const rate: Rule = (value, argument) => value === 0 || check(value, RATE, argument);

/** Whether there is a codec of this name is known once its module is loaded. */
export const CODEC: Rule = 128;

const PRIORITY: Rule = [0, 255, 1];

/** The parts of a QoS that may change while a channel is open. */
export const CHANGE: Rules<Omit<Qos, "kind" | "overflow" | "private" | "departures" | "speakers">> = {
  loss: [0, 1],
  // One day (W15).
  deadline: [1, 86_400_000],
  minRate: rate,
  maxRate: rate,
  priority: PRIORITY,
};

const KIND: Rule = ["transaction", "awareness"];

const CHANNEL: Rules<ChannelOptions> = {
  ...CHANGE,
  kind: KIND,
  overflow: ["conflate", "aggregate"],
  private: "boolean",
  departures: "boolean",
  speakers: [0, 15, 1],
  compress: CODEC,
};

export const TRANSPORTS: Rule = { each: Object.keys(LABELS) };

const any: Rule = () => {};

export const CONNECT: Rules<ConnectOptions> = {
  token: (value, argument) => typeof value === "function" || check(value, MAX_TOKEN, argument),
  presence: any,
  channels: "object",
  // What is no module is told once it is loaded.
  wasm: any,
  codecs: any,
  brotli: any,
  WebSocket: "function",
  transports: TRANSPORTS,
  memory: ["full", "small"],
};

export const SEND: Rules<SendOptions> = { key: MAX_KEY, priority: PRIORITY };

export const SNAPSHOT: Rules<SnapshotOptions> = {
  part: MAX_PART_NAME,
  channels: { each: must("a list of channels", (one) => typeof (one as Partial<Channel> | null)?.name === "string") },
};

/** Checks what `connect` gets, but for the address. */
export function checkConnect(room: unknown, options: ConnectOptions): void {
  checkRoomName(room, "`room` of `connect`");
  checkOptions(options, CONNECT, "`connect`");
  for (const [name, channel] of Object.entries(options.channels ?? {})) checkChannel(name, channel);
}

export function checkRoomName(name: unknown, argument: string): void {
  check(name, MAX_ROOM_NAME, argument);
  if (name === "") throw invalid(argument, "a text that is not empty", name);
}

export function checkChannel(name: unknown, options: ChannelOptions): void {
  check(name, MAX_CHANNEL_NAME, "the name of a channel");
  const channel = `the channel ${shown(name)}`;
  checkOptions(options, CHANNEL, channel);
  check(options.kind, KIND, `\`kind\` of ${channel}`);
  checkQos(options, channel);
}

/** Checks the parts of a QoS against each other. */
export function checkQos(qos: Qos, channel: string): void {
  const { kind, loss, overflow, departures, speakers, minRate = 0, maxRate } = qos;
  const isTransaction = kind === "transaction";
  const odd = isTransaction ? (loss && "loss") || (overflow === "conflate" && "overflow") : departures && "departures";
  const isSoundless = isTransaction || overflow !== "aggregate";
  const why =
    (odd && `\`${odd}\` is not for ${kind}`) ||
    (speakers && isSoundless && "`speakers` is for awareness that aggregates") ||
    (maxRate && minRate > maxRate && "`minRate` is above `maxRate`");
  if (why) throw failure("invalid-qos", "own", `the QoS of ${channel} cannot be: ${why}`);
}

/** The parts that have only one value for transactions. */
const FIXED: readonly unknown[] = ["loss", "overflow"];

/** The parts that are neither 0 nor false if they are left out. */
const DEFAULTS: Partial<ChannelOptions> = { loss: 0.05, priority: 128, overflow: "conflate", compress: "template" };

/** How the options of a channel differ from others, in words; empty if they ask for the same. */
export function differences(asked: ChannelOptions, before: ChannelOptions): string {
  const of = (options: ChannelOptions, name: keyof ChannelOptions): unknown =>
    options.kind === "transaction" && FIXED.includes(name) ? 0 : (options[name] ?? DEFAULTS[name]) || 0;
  return (Object.keys(CHANNEL) as (keyof ChannelOptions)[])
    .filter((name) => of(asked, name) !== of(before, name))
    .map((name) => `\`${name}\` is ${of(before, name)}, not ${of(asked, name)}`)
    .join(", ");
}
