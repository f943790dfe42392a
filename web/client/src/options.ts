/** The options of rooms and channels, and their checks. */

import type { ChannelOptions, ConnectOptions, Qos, SendOptions, SnapshotOptions, TransportName } from "./api.js";
import {
  boolean,
  callable,
  checkOptions,
  isListOf,
  isWithin,
  must,
  numberFrom,
  object,
  oneOf,
  textOf,
  unknownName,
  wholeFrom,
  type Check,
  type Checks,
} from "./arguments.js";
import { failure, invalid, shown } from "./errors.js";

// Limits of the wire format in bytes (`crates/session/src/limits.rs`).
export const roomName = textOf(1, 256);
export const channelName = textOf(0, 128);
export const token = textOf(0, 4096);
export const MAX_PRESENCE = 4096;

/** Ids of participants are numbers of 32 bits, and 0 is the room itself. */
const MOST_ID = 2 ** 32 - 1;
export const participantId = wholeFrom(1, MOST_ID);
export const pageStart = wholeFrom(0, MOST_ID);

/** Rates are numbers of 32 bits on the wire, in thousandths per second. A smaller one would count as none. */
const RATES = [0.001, 4_294_967] as const;
export const limitedRate = numberFrom(...RATES);
const rate = must(
  `a number from ${RATES.join(" to ")}, or 0 for none`,
  (value) => value === 0 || isWithin(value, ...RATES),
);

/** Whether there is a codec of this name is known once its module is loaded. */
export const compressName = textOf(1, 128);

/** The parts of a QoS that may change while a channel is open. */
export const CHANGE: Checks<Omit<Qos, "kind" | "overflow" | "private" | "departures">> = {
  loss: numberFrom(0, 1),
  // One day (W15).
  deadline: numberFrom(1, 86_400_000),
  minRate: rate,
  maxRate: rate,
  priority: wholeFrom(0, 255),
};

export const CHANNEL: Checks<ChannelOptions> = {
  ...CHANGE,
  kind: oneOf("transaction", "awareness"),
  overflow: oneOf("conflate", "aggregate"),
  private: boolean,
  departures: boolean,
  compress: compressName,
};

const TRANSPORTS: Readonly<Record<TransportName, true>> = {
  webtransport: true,
  websocket: true,
  multipart: true,
  iframe: true,
  longpoll: true,
  poll: true,
};
const transportNames = Object.keys(TRANSPORTS);
export const transportList: Check = (value, argument) => {
  if (!Array.isArray(value) || value.length === 0) throw invalid(argument, "a list of transports", value);
  // Unlike `forEach`, it does not leave out holes.
  for (const name of value as readonly unknown[])
    if (!transportNames.includes(name as string))
      throw unknownName(`a transport for ${argument}`, name, transportNames);
};

const module = must("an address, bytes or a compiled module", (value) => {
  return typeof value === "string" || (typeof value === "object" && value !== null);
});

export const CONNECT: Checks<ConnectOptions> = {
  token: (value, argument) => void (typeof value === "function" || token(value, argument)),
  presence: () => {},
  channels: object,
  wasm: module,
  codecs: module,
  brotli: module,
  WebSocket: callable,
  transports: transportList,
};

export const SEND: Checks<SendOptions> = { key: textOf(0, 256), priority: wholeFrom(0, 255) };

export const SNAPSHOT: Checks<SnapshotOptions> = {
  part: (value, argument) => {
    textOf(0, 128)(value, argument);
    if ((value as string).startsWith("\0")) throw failure("invalid-argument", "own", `${argument} begins with U+0000`);
  },
  channels: must("a list of channels", (value) => {
    return isListOf(value, (one) => typeof (one as { readonly name?: unknown } | null | undefined)?.name === "string");
  }),
};

export const snapshotContent = must(
  "a text or bytes",
  (value) => typeof value === "string" || value instanceof ArrayBuffer || ArrayBuffer.isView(value),
);

/** Checks what `connect` gets, but for the address. */
export function checkConnect(room: unknown, options: ConnectOptions): void {
  roomName(room, "`room` of `connect`");
  checkOptions(options, CONNECT, "`connect`");
  for (const [name, channel] of Object.entries(options.channels ?? {})) checkChannel(name, channel);
}

export function checkChannel(name: unknown, options: ChannelOptions): void {
  channelName(name, "the name of a channel");
  const channel = `the channel ${shown(name)}`;
  checkOptions(options, CHANNEL, channel);
  checkQos(options, channel);
}

/** Checks the parts of a QoS against each other. */
export function checkQos({ kind, loss, overflow, departures, minRate, maxRate }: Partial<Qos>, of: string): void {
  const isTransaction = kind === "transaction";
  const why =
    isTransaction && loss
      ? "a transaction is never lost: `loss` is for awareness"
      : isTransaction && overflow === "conflate"
        ? "a transaction is never dropped: `conflate` is for awareness"
        : kind === "awareness" && departures
          ? "`departures` are for transactions"
          : maxRate && minRate && minRate > maxRate
            ? "`minRate` is above `maxRate`"
            : undefined;
  if (!kind)
    throw failure("invalid-qos", "own", `the QoS of ${of} has no kind: use \`transaction()\` or \`awareness()\``);
  if (why) throw failure("invalid-qos", "own", `the QoS of ${of} cannot be: ${why}`);
}

/** What a field of the options has if it is left out. */
function defaults(kind: Qos["kind"] | undefined): ChannelOptions {
  const isTransaction = kind === "transaction";
  return {
    kind: isTransaction ? kind : "awareness",
    loss: isTransaction ? 0 : 0.05,
    minRate: 0,
    maxRate: 0,
    priority: 128,
    overflow: isTransaction ? "aggregate" : "conflate",
    private: false,
    departures: false,
    compress: "template",
  };
}

/** How the options of a channel differ from others, in words; empty if they ask for the same. */
export function differences(asked: ChannelOptions, before: ChannelOptions): string {
  const [now, then] = [asked, before].map((options) => ({ ...defaults(options.kind), ...stated(options) }));
  const names = Object.keys(CHANNEL) as (keyof ChannelOptions)[];
  return names
    .filter((name) => now?.[name] !== then?.[name])
    .map((name) => `\`${name}\` is ${then?.[name] ?? "none"}, not ${now?.[name] ?? "none"}`)
    .join(", ");
}

function stated<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}
