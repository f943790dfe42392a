/**
 * The state of the inspected room: the last reports, the last packets, and the rates that follow
 * from them.
 */

import {
  AGES,
  BYTE,
  type Carriage,
  type Channel,
  type Code,
  type Flow,
  type Packet,
  type Participant,
  type Received,
  type Report,
  type Tally,
} from "./report.js";

/** Limit of packets that can be inspected. */
const KEPT = 2000;

/** Milliseconds over which rates are averaged. */
const WINDOW = 4000;

/** The purposes of a packet's bytes, in the order in which they are shown. */
export const PURPOSES = ["header", "feedback", "new", "repeated", "state", "own"] as const;
export type Purpose = (typeof PURPOSES)[number];

/** Sums of bytes. A room's clients count the same (`Traffic` in the package `groupwire`). */
export interface Wire {
  /** Bytes of messages as the application sent them, each counted once. */
  readonly messages: number;
  /** Bytes of the payloads of packets, which carry these messages, repeats included. */
  readonly payloads: number;
  /**
   * All other bytes of packets: headers, acknowledgements, pings, lists of participants, snapshots.
   */
  readonly others: number;
}

/** The purposes of messages, indexed as in `Part` and `Flow`. */
const MESSAGE_PURPOSES = ["new", "repeated", "state", "own"] as const;

/** A packet with a unique id. */
export interface PacketEntry {
  readonly id: number;
  readonly packet: Packet;
}

export interface Filter {
  /** Undefined for all participants. */
  readonly participant: number | undefined;
  readonly direction: "out" | "in" | "both";
}

/** Counts of one channel, per second or in total. */
export interface Traffic {
  readonly messages: number;
  /** Bytes of messages, each counted once. */
  readonly before: number;
  readonly after: number;
  /** The part of `after` that was spent on repeats. */
  readonly repeated: number;
}

export interface ChannelView {
  readonly channel: Channel;
  readonly perSecond: Traffic;
  readonly total: Traffic;
  /** A histogram of the ages of new messages when their packets were made or read. */
  readonly ages: readonly number[];
  /** What the selected receiver reports, or the sum of all receivers. */
  readonly received: Reception | undefined;
  /** The losses between the participants and the server. */
  readonly sent: Tally | undefined;
  /** The different code sets of the receivers' datagrams. */
  readonly codes: readonly Code[];
  /** The rate limit per second that the selected participant requested. */
  readonly limit: number | undefined;
}

export interface Reception {
  readonly tally: Tally;
  readonly saved: number;
  readonly ages: readonly number[];
  /** The report of the receiver, if there is only one. */
  readonly one: Received | undefined;
}

export class Model {
  report: Report | undefined;
  readonly packets: PacketEntry[] = [];
  private readonly past: Report[] = [];
  private count = 0;

  take(report: Report): void {
    // The room was created anew, or was not inspected for a while, so the sums have started again.
    const before = this.report;
    if (before && (report.now < before.now || total(report.flows) < total(before.flows))) this.past.length = 0;
    this.report = report;
    this.past.push(report);
    while (this.past.length > 2 && (this.past[1]?.now ?? 0) < report.now - WINDOW) this.past.shift();
    for (const packet of report.packets) this.packets.push({ id: this.count++, packet });
    if (this.packets.length > KEPT) this.packets.splice(0, this.packets.length - KEPT);
  }

  clear(): void {
    this.report = undefined;
    this.past.length = 0;
    this.packets.length = 0;
  }

  /** The newest packets that match the filter, oldest first. */
  newest({ participant, direction }: Filter, count: number): PacketEntry[] {
    const found: PacketEntry[] = [];
    for (let i = this.packets.length - 1; i >= 0 && found.length < count; i--) {
      const seen = this.packets[i];
      if (!seen) break;
      const { packet } = seen;
      if (participant !== undefined && packet.participant !== participant) continue;
      if (direction !== "both" && packet.out !== (direction === "out")) continue;
      found.push(seen);
    }
    return found.reverse();
  }

  /** The traffic and the reports of each channel. */
  channels({ participant, direction }: Filter): ChannelView[] {
    const { report } = this;
    if (!report) return [];
    const passes = (flow: Flow): boolean =>
      (participant === undefined || flow.participant === participant) &&
      (direction === "both" || flow.out === (direction === "out"));
    const first = this.past[0] ?? report;
    const seconds = (report.now - first.now) / 1000;
    const people = report.participants.filter(({ id }) => participant === undefined || id === participant);
    const all = people.flatMap(({ transport }) => transport?.measured ?? []);
    return report.channels.map((channel) => {
      const of = (flows: readonly Flow[]): Flow[] =>
        flows.filter((flow) => flow.channel === channel.id && passes(flow));
      const now = of(report.flows);
      const total = sum(now);
      const before = sum(of(first.flows));
      const rate = (of: keyof Traffic): number => (seconds > 0 ? Math.max(total[of] - before[of], 0) / seconds : 0);
      const measured = all.filter((one) => one.channel === channel.id);
      const sent = measured.flatMap(({ sent }) => sent ?? []);
      return {
        channel,
        perSecond: {
          messages: rate("messages"),
          before: rate("before"),
          after: rate("after"),
          repeated: rate("repeated"),
        },
        total,
        ages: ages(now),
        received: reception(measured.flatMap(({ received }) => received ?? [])),
        sent: sent.length > 0 ? sumTallies(sent) : undefined,
        codes: distinct(measured.flatMap(({ code }) => code ?? [])),
        limit: participant === undefined ? undefined : (measured[0]?.limit ?? undefined),
      };
    });
  }

  /**
   * What the packets that match the filter carry per second, and carried since the room is
   * inspected.
   */
  wire({ participant, direction }: Filter): { readonly perSecond: Wire; readonly total: Wire } {
    const { report } = this;
    const passes = (one: { readonly participant: number; readonly out: boolean }): boolean =>
      (participant === undefined || one.participant === participant) &&
      (direction === "both" || one.out === (direction === "out"));
    const sums = (at: Report | undefined): Wire =>
      wireSum((at?.flows ?? []).filter(passes), (at?.carriages ?? []).filter(passes));
    const first = this.past[0] ?? report;
    const [total, before] = [sums(report), sums(first)];
    const seconds = ((report?.now ?? 0) - (first?.now ?? 0)) / 1000;
    const rate = (of: keyof Wire): number => (seconds > 0 ? Math.max(total[of] - before[of], 0) / seconds : 0);
    const perSecond = { messages: rate("messages"), payloads: rate("payloads"), others: rate("others") };
    return { perSecond, total };
  }

  channel(id: number): Channel | undefined {
    return this.report?.channels.find((channel) => channel.id === id);
  }

  participant(id: number): Participant | undefined {
    return this.report?.participants.find((participant) => participant.id === id);
  }

  nameOf(id: number): string {
    return nameOf(this.participant(id), id);
  }
}

/** The name in a participant's presence, if the presence is JSON with a name. */
export function nameOf(participant: Participant | undefined, id: number): string {
  try {
    const presence: unknown = JSON.parse(participant?.presence ?? "");
    if (typeof presence === "object" && presence !== null && "name" in presence) {
      const { name } = presence;
      if (typeof name === "string" && name.trim() !== "") return name.trim().slice(0, 40);
    }
  } catch {
    // The presence is not JSON.
  }
  return `Participant ${id}`;
}

/** The bytes of a packet by purpose. They add up to its size. */
export function split(packet: Packet): Record<Purpose, number> {
  const bytes: Record<Purpose, number> = {
    header: packet.header_bytes - packet.feedback_bytes + packet.overhead,
    feedback: packet.feedback_bytes,
    new: 0,
    repeated: 0,
    state: 0,
    own: 0,
  };
  for (const part of packet.parts) bytes[purposeOf(part[3])] += part[6] / BYTE;
  // The last byte is partly unused; it counts as header.
  const left = packet.bytes - Object.values(bytes).reduce((sum, some) => sum + some, 0);
  bytes.header += left;
  return bytes;
}

export function purposeOf(number: number): (typeof MESSAGE_PURPOSES)[number] {
  return MESSAGE_PURPOSES[number] ?? "new";
}

function sum(flows: readonly Flow[]): Traffic {
  const add = (of: (flow: Flow) => number): number => flows.reduce((sum, flow) => sum + of(flow), 0);
  return {
    messages: add(({ messages }) => messages[0] ?? 0),
    // Without Groupwire each message would be sent once, to a late joiner, too.
    before: add(({ new_before, state_before }) => new_before + state_before),
    after: add(({ costs }) => costs.reduce((sum, cost) => sum + cost, 0)) / BYTE,
    repeated: add(({ costs }) => costs[1] ?? 0) / BYTE,
  };
}

function wireSum(flows: readonly Flow[], carriages: readonly Carriage[]): Wire {
  const isSnapshot = ({ channel }: Flow): boolean => channel === 0;
  const snapshots = sum(flows.filter(isSnapshot)).after;
  const { before } = sum(flows.filter((flow) => !isSnapshot(flow)));
  const headers = carriages.reduce((sum, { header_bytes }) => sum + header_bytes, 0);
  const bytes = carriages.reduce((sum, { bytes }) => sum + bytes, 0);
  return { messages: before, payloads: bytes - headers - snapshots, others: headers + snapshots };
}

function ages(of: readonly { readonly ages: readonly number[] }[]): number[] {
  return Array.from({ length: AGES.length + 1 }, (_, i) => of.reduce((sum, { ages }) => sum + (ages[i] ?? 0), 0));
}

function reception(reports: readonly Received[]): Reception | undefined {
  if (reports.length === 0) return undefined;
  return {
    tally: sumTallies(reports.map(({ tally }) => tally)),
    saved: reports.reduce((sum, { saved }) => sum + saved, 0),
    ages: ages(reports),
    one: reports.length === 1 ? reports[0] : undefined,
  };
}

function sumTallies(tallies: readonly Tally[]): Tally {
  const add = (of: keyof Tally): number => tallies.reduce((sum, tally) => sum + tally[of], 0);
  return { judged: add("judged"), missed: add("missed"), late: add("late") };
}

function distinct(codes: readonly Code[]): Code[] {
  return [...new Map(codes.map((code) => [JSON.stringify(code), code])).values()];
}

function total(flows: readonly Flow[]): number {
  return flows.reduce((sum, { messages }) => sum + messages.reduce((sum, some) => sum + some, 0), 0);
}
