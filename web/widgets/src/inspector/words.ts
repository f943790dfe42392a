/** Numbers and packets in plain words. */

import { purposeOf, type Model, type Purpose } from "./model";
import type { Channel, Code, Packet, Repeats, Transport } from "./report";

/** What the inspector's words mean. */
export const GLOSSARY: readonly (readonly [word: string, meaning: string])[] = [
  [
    "packet",
    "What travels at once: a datagram, or a frame of the stream. It holds several messages, coded as one unit.",
  ],
  [
    "message",
    "What an application sent: some bytes that Groupwire never looks into, such as a pointer's position in JSON.",
  ],
  [
    "channel",
    "One kind of message, with a promise (QoS): which share may be lost, by when it must be there, how often it comes.",
  ],
  ["before → after", "Bytes that the application handed over, and bytes that they take in the packet."],
  ["new", "Messages that go to this participant for the first time."],
  [
    "repeated",
    "Messages that went before and go again in case that was lost. Next to its neighbours a repeat costs a byte or two.",
  ],
  [
    "code set",
    "Which earlier messages are repeated in a packet. It follows from how much the path loses and what the channel may lose.",
  ],
  [
    "parity",
    "Bytes from which lost packets can be computed. Groupwire repeats messages instead, which costs less for small ones.",
  ],
  ["state", "What a participant needs who comes late: newest values, transactions and the room's snapshot."],
  ["own", "Not a message but a sign that one of the participant's own has its place in the room's order now."],
  ["header", "Everything else: the packet's type, the epoch's name, a check, pings, who comes and goes."],
  ["feedback", "Which packets came, so that the other end knows what it may build on and what was lost."],
  [
    "template",
    "What all messages of a kind have in common. It is learned at both ends and never sent; only what fills its holes is.",
  ],
  ["hole", "A place in a template where messages differ: a number, a text."],
  [
    "announcement",
    "Other systems send each template before they use it. Groupwire does not, so this is always 0 bytes.",
  ],
  [
    "epoch",
    "A version of what both ends have learned. A datagram names the one that it is coded under, so any that arrives can be read.",
  ],
  ["tick", "The server collects messages for so long and sends each participant one packet."],
  [
    "class",
    "Receivers who are sent the very same body, which is coded once. Without one, a body is made for this participant alone.",
  ],
  ["ratio", "Bytes before divided by bytes after: 10× is a tenth."],
  ["redundancy", "The share of bytes that is spent on repeats."],
  ["PER", "Packet error rate: the share of packets that the path lost."],
  [
    "MER",
    "Message error rate: the share of messages that never came, or came too late. A channel's target is the share it may lose.",
  ],
  ["age", "How long ago the application sent a message when the packet with it was made (to) or read (from)."],
];

export const PURPOSE_WORDS: Readonly<Record<Purpose, string>> = {
  header: "header",
  feedback: "feedback",
  new: "new",
  repeated: "repeated",
  state: "for a late joiner",
  own: "own, confirmed",
};

/** A packet in a sentence. */
export function describe(packet: Packet, model: Pick<Model, "channel" | "nameOf">): string {
  const { parts, octets } = packet;
  if (parts.length === 0) {
    const what =
      packet.feedback > 0 ? "only feedback: which packets came" : "only control: a ping, its answer, or who is here";
    return `This packet carried no messages, ${what}. ${bytes(octets)}.`;
  }
  const own = parts.filter((part) => purposeOf(part[3]) === "own").length;
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
  if (own > 0) {
    const confirms = `${own} of ${model.nameOf(packet.participant)}'s own ${own === 1 ? "has its" : "have their"} place now`;
    clauses.push(clauses.length === 0 ? `This packet confirmed that ${confirms}` : confirms);
  }
  const before = parts.reduce((sum, part) => sum + part[4], 0);
  const size = before > octets ? `${bytes(octets)} instead of ${before}` : bytes(octets);
  return `${clauses.join(", ")}; ${size}.`;
}

/** What a channel promises. */
export function promise(channel: Channel): string {
  if (channel.kind === "transaction") return "every message arrives, in order, once";
  const parts = [channel.loss > 0 ? `${percent(channel.loss)} may be lost or late` : "nothing may be lost or late"];
  if (channel.deadline !== null) parts.push(`within ${ms(channel.deadline)}`);
  if (channel.rate_max > 0) parts.push(`at most ${number(channel.rate_max)}/s`);
  parts.push(channel.overflow === "conflate" ? "only the newest counts" : "all values count");
  return parts.join(", ");
}

/** The share of messages that may be lost or late. Of transactions none is lost, and one in a hundred may be late (W76). */
export function tolerated({ kind, loss }: Pick<Channel, "kind" | "loss">): number {
  return kind === "transaction" ? 0.01 : loss;
}

/** What a code set does. */
export function codeSet({ most, others, share, asks, closes }: Code): string {
  const [usual, other] = [repeats(most), repeats(others)];
  const words: string[] = [];
  if (share <= 0 || usual === other) words.push(usual);
  else words.push(`${percent(share)} ${other}, else ${usual}`);
  if (closes) words.push("the last one again");
  if (asks) words.push("asked for if missing");
  return words.join("; ");
}

function repeats({ after, extra }: Repeats): string {
  const times: string[] = [];
  if (after.length > 0) times.push(`${list(after.map(String))} ${after.join() === "1" ? "packet" : "packets"} later`);
  if (extra.length > 0) times.push(`${list(extra.map(ms))} later`);
  return times.length > 0 ? `again ${times.join(", ")}` : "each once";
}

/** Why a participant has this transport: in its own words, or as far as a server can tell. */
export function why({ kind, reason }: Pick<Transport, "kind" | "reason">): string {
  if (reason !== null) return reason;
  switch (kind) {
    case "WebTransport":
      return "The best there is: what is lost holds nothing up, as awareness goes in datagrams.";
    case "WebSocket":
      return "The client has no WebTransport, cannot reach it over UDP, or was told to use this. All goes over one stream, where what is lost holds up what follows.";
    case "HTTP requests":
      return "Neither WebTransport nor WebSocket got through from where this participant is.";
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

/** What became of octets, in words: headers can be more than was saved. */
export function change(before: number, after: number): string {
  return after > before ? `${ratio(after, before)} larger` : `${ratio(before, after)} smaller`;
}

export function percent(share: number): string {
  return `${number(share * 100)} %`;
}

export function ms(time: number): string {
  return time >= 1000 ? `${number(time / 1000)} s` : `${number(time)} ms`;
}

/** Two digits, or whole. */
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
