/** The inspector's texts: numbers and packets in words. */

import { purposeOf, type Model, type Purpose } from "./model.js";
import type { Channel, Code, Packet, Repeats, Transport } from "./report.js";

/** The meanings of the terms that the inspector uses. */
export const GLOSSARY: readonly (readonly [word: string, meaning: string])[] = [
  [
    "packet",
    "The unit of transmission: a datagram, or a frame of the stream. It holds several messages, coded as one unit.",
  ],
  [
    "message",
    "Bytes that an application sent, such as a pointer's position in JSON. Groupwire does not interpret them.",
  ],
  ["channel", "One kind of message with its QoS contract: the share that may be lost, the deadline, the rate."],
  ["before → after", "The bytes of messages as the application sent them, and the bytes they take in packets."],
  ["new", "Messages that are sent to this participant for the first time."],
  [
    "repeated",
    "Messages that were sent before and are sent again in case the first packet was lost. Beside similar messages a repeat costs one or two bytes.",
  ],
  [
    "code set",
    "The earlier messages that a packet repeats. It depends on the loss of the path and the loss that the channel permits.",
  ],
  [
    "parity",
    "Bytes from which a receiver can compute lost packets. Groupwire repeats messages instead, which costs less for small messages.",
  ],
  ["state", "The state for a late joiner: newest values, transactions and the room's snapshot."],
  [
    "own",
    "A message of this participant itself: a transaction that has its place in the room's order now, or a message in the payload that a fan-out group shares.",
  ],
  ["header", "All other bytes: the packet's type, the epoch, a checksum, pings, changes of participants."],
  [
    "feedback",
    "The list of packets that arrived, so that the other end knows which epochs it may use and what was lost.",
  ],
  [
    "template",
    "The fixed parts that all messages of a kind share. Both ends learn it from the messages, so only the contents of its holes are sent.",
  ],
  ["hole", "A place in a template where the messages differ: a number or a text."],
  [
    "announcement",
    "A template that is sent before it is used, as other systems do. Groupwire sends none, so this is always 0 bytes.",
  ],
  [
    "epoch",
    "A version of what both ends have learned. Each datagram names its epoch, so it can be decoded whatever else was lost.",
  ],
  ["tick", "The interval at which the server sends each participant the messages it has collected, as one packet."],
  [
    "fan-out group",
    "Receivers who get the same payload, which is coded once for all. Outside of a group the payload is coded for one participant.",
  ],
  ["ratio", "Bytes before divided by bytes after: 10× means a tenth of the bytes."],
  ["redundancy", "The share of bytes spent on repeats."],
  ["PER", "Packet error rate: the share of packets that the path lost."],
  [
    "MER",
    "Message error rate: the share of messages that never came or came after their deadline. A channel's target is the share that it permits.",
  ],
  ["age", "The time since the application sent a message, when its packet was made (to) or read (from)."],
];

export const PURPOSE_WORDS: Readonly<Record<Purpose, string>> = {
  header: "header",
  feedback: "feedback",
  new: "new",
  repeated: "repeated",
  state: "for a late joiner",
  own: "own",
};

/** One sentence about a packet. */
export function packetSentence(packet: Packet, model: Pick<Model, "channel" | "nameOf">): string {
  const { parts, bytes: size } = packet;
  if (parts.length === 0) {
    const what =
      packet.feedback_bytes > 0
        ? "only feedback: which packets came"
        : "only control: a ping, its answer, or participants";
    return `This packet carried no messages, ${what}. ${bytes(size)}.`;
  }
  const own = parts.filter((part) => purposeOf(part[3]) === "own");
  const others = parts.filter((part) => purposeOf(part[3]) !== "own");
  const carried: string[] = [];
  const channels = [...new Set(others.map(([channel]) => channel))];
  for (const channel of channels) {
    const count = others.filter(([of]) => of === channel).length;
    carried.push(
      channel === 0 ? "a piece of the room's snapshot" : `${count} ${plural(nameOfChannel(channel, model), count)}`,
    );
  }
  const people = [...new Set(others.map(([, sender]) => sender).filter((sender) => sender !== 0))];
  const from = people.length > 4 ? `${people.length} people` : list([...new Set(people.map((id) => model.nameOf(id)))]);
  const clauses: string[] = [];
  if (carried.length > 0) clauses.push(`This packet carried ${list(carried)}${from === "" ? "" : ` from ${from}`}`);
  const repeated = count(others, "repeated");
  if (repeated > 0)
    clauses.push(`${some(repeated, others.length)} again in case ${repeated === 1 ? "it was" : "they were"} lost`);
  const state = others.filter((part) => purposeOf(part[3]) === "state" && part[0] !== 0).length;
  if (state > 0) clauses.push(`${some(state, others.length)} for a late joiner`);
  const confirmed = own.filter(([channel]) => model.channel(channel)?.kind !== "awareness").length;
  if (confirmed > 0) {
    const confirms = `${confirmed} of ${model.nameOf(packet.participant)}'s own ${confirmed === 1 ? "has its" : "have their"} place now`;
    clauses.push(clauses.length === 0 ? `This packet confirmed that ${confirms}` : confirms);
  }
  if (clauses.length === 0) clauses.push("This packet carried only own messages, for the others of the fan-out group");
  const before = others.reduce((sum, part) => sum + part[4], 0);
  const sizes = before > size ? `${bytes(size)} instead of ${before}` : bytes(size);
  return `${clauses.join(", ")}; ${sizes}.`;
}

/** A channel's QoS in words. */
export function qosSummary(channel: Channel): string {
  if (channel.kind === "transaction") return "every message arrives, in order, once";
  const parts = [channel.loss > 0 ? `${percent(channel.loss)} may be lost or late` : "nothing may be lost or late"];
  if (channel.deadline !== null) parts.push(`within ${ms(channel.deadline)}`);
  if (channel.rate_max > 0) parts.push(`at most ${number(channel.rate_max)}/s`);
  parts.push(channel.overflow === "conflate" ? "only the newest value of a key counts" : "all values count");
  return parts.join(", ");
}

/**
 * The share of messages that may be lost or late. No transaction may be lost, and one in a hundred
 * may be late (W76).
 */
export function tolerated({ kind, loss }: Pick<Channel, "kind" | "loss">): number {
  return kind === "transaction" ? 0.01 : loss;
}

/** A code set in words. */
export function codeSet({ most, others, share, requests, tail_flush }: Code): string {
  const [usual, other] = [repeats(most), repeats(others)];
  const words: string[] = [];
  if (share <= 0 || usual === other) words.push(usual);
  else words.push(`${percent(share)} ${other}, else ${usual}`);
  if (tail_flush) words.push("the last value again");
  if (requests) words.push("requested again if missing");
  return words.join("; ");
}

function repeats({ after, dedicated }: Repeats): string {
  const times: string[] = [];
  if (after.length > 0) times.push(`${list(after.map(String))} ${after.join() === "1" ? "packet" : "packets"} later`);
  if (dedicated.length > 0) times.push(`${list(dedicated.map(ms))} later`);
  return times.length > 0 ? `again ${times.join(", ")}` : "each once";
}

/**
 * Why a participant uses its transport: as its client reports, otherwise what the kind of transport
 * implies.
 */
export function transportReason({ kind, reason }: Pick<Transport, "kind" | "reason">): string {
  if (reason !== null) return reason;
  switch (kind) {
    case "WebTransport":
      return "The best transport: awareness travels in datagrams, so a lost packet delays nothing.";
    case "WebSocket":
      return "The client has no WebTransport, cannot reach it over UDP, or was told to use WebSocket. All packets share one stream, so a lost packet delays the following ones.";
    case "HTTP requests":
      return "Neither WebTransport nor WebSocket works on this participant's network.";
    case "HTTP users":
      return "A program that sends single HTTP requests.";
    case "TCP socket":
      return "A native program that asked for plain TCP.";
    default:
      return "";
  }
}

export function bytes(count: number): string {
  return `${number(count)} ${Math.round(count * 10) / 10 === 1 ? "byte" : "bytes"}`;
}

/** Bytes per second. */
export function rate(perSecond: number): string {
  if (perSecond >= 1e6) return `${number(perSecond / 1e6)} MB/s`;
  if (perSecond >= 10_000) return `${number(perSecond / 1000)} kB/s`;
  return `${Math.round(perSecond)} B/s`;
}

export function ratio(before: number, after: number): string {
  return before > 0 && after > 0 ? `${number(before / after)}×` : "–";
}

/**
 * Compares bytes before and after. Messages that are not compressed get larger, by their numbers.
 */
export function change(before: number, after: number): string {
  return after > before ? `${ratio(after, before)} larger` : `${ratio(before, after)} smaller`;
}

/**
 * What packets carry now, and how much smaller messages became since the room is inspected, headers
 * of packets apart: in some seconds with a few messages, the ratio would say little.
 */
export function wireSummary({ perSecond, total }: ReturnType<Model["wire"]>): string {
  const { messages, payloads, others } = perSecond;
  const more = `${rate(others)} of headers, acknowledgements and pings`;
  const now =
    messages > 0 ? `${rate(messages)} of messages take ${rate(payloads)}, and ${more}` : `No messages now, ${more}`;
  const isKnown = total.messages > 0 && total.payloads > 0;
  return isKnown ? `${now} · messages ${change(total.messages, total.payloads)} so far` : now;
}

/** A share that is not nothing is never told as 0 %. */
export function percent(share: number): string {
  return share > 0 && share < 0.001 ? "under 0.1 %" : `${number(share * 100)} %`;
}

export function ms(time: number): string {
  return time >= 1000 ? `${number(time / 1000)} s` : `${number(time)} ms`;
}

/** Two digits, or a whole number. */
export function number(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

function nameOfChannel(channel: number, model: Pick<Model, "channel">): string {
  return model.channel(channel)?.name ?? `channel ${channel}`;
}

function plural(name: string, count: number): string {
  return count === 1 ? `${name} message` : `${name} messages`;
}

function count(parts: Packet["parts"], purpose: string): number {
  return parts.filter((part) => purposeOf(part[3]) === purpose).length;
}

function some(count: number, all: number): string {
  if (count < all) return `${count} of them`;
  return all === 1 ? "it" : "all of them";
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
