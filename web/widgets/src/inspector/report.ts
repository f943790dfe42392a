/**
 * The answers of `GET /inspect/...` (docs/inspector.md). Times are in milliseconds, costs in
 * eighths of a bit.
 */

export interface Rooms {
  readonly rooms: readonly RoomSummary[];
  readonly records: boolean;
  /** Servers of the cluster that did not answer; left out if all did. */
  readonly unanswered?: readonly string[];
}

export interface RoomSummary {
  readonly name: string;
  readonly participants: number;
  readonly messages: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

export interface Report {
  /** The room's clock. */
  readonly now: number;
  readonly tick: number;
  /** Packets that are not in the report because there were too many; they are in the sums. */
  readonly missed: number;
  readonly channels: readonly Channel[];
  readonly participants: readonly Participant[];
  readonly flows: readonly Flow[];
  readonly carriages: readonly Carriage[];
  readonly packets: readonly Packet[];
  readonly recording: Recording | null;
}

export interface Channel {
  readonly id: number;
  readonly name: string;
  readonly kind: "transaction" | "awareness";
  readonly overflow: "conflate" | "aggregate";
  readonly priority: number;
  readonly private: boolean;
  /** The permitted share of lost messages, 0 to 1. */
  readonly loss: number;
  readonly deadline: number | null;
  /** Messages per second; 0 if there is no limit. */
  readonly rate_min: number;
  readonly rate_max: number;
}

export interface Participant {
  readonly id: number;
  readonly state: "here" | "away" | "left";
  /** The participant's presence as text. */
  readonly presence: string;
  readonly transport: Transport | null;
}

export interface Transport {
  readonly kind: string;
  readonly round_trip: number | null;
  readonly clock_error: number | null;
  /** The measured rate of the link, in bytes per second. */
  readonly rate: number | null;
  /**
   * The rate limit for datagrams, in bytes per second with headers; null if the path shows no
   * limit.
   */
  readonly rate_limit: number | null;
  /** Why the participant uses this transport, as its client reports; null if it does not. */
  readonly reason: string | null;
  readonly datagrams: boolean;
  readonly coded: boolean;
  readonly stream_group: number | null;
  readonly datagram_group: number | null;
  readonly epoch: number | null;
  /** Packet error rate of datagrams to and from the participant, 0 to 1. */
  readonly lost_to: number | null;
  readonly lost_from: number | null;
  readonly subscribed: readonly (readonly [channel: number, compress: string])[];
  readonly measured: readonly Measured[];
  readonly emulable: boolean;
  readonly emulation: readonly [loss: number, delay: number] | null;
}

/** How well a channel works towards a participant and from it. */
export interface Measured {
  readonly channel: number;
  /** The receiver's report, which it sends every two seconds. */
  readonly received: Received | null;
  /**
   * The losses of the participant's messages on their way to the server, over the last 10 to 20 s.
   */
  readonly sent: Tally | null;
  /** The code set of datagrams to the participant. */
  readonly code: Code | null;
  /** The rate limit that the participant requested: values of each key per second. */
  readonly limit: number | null;
}

/** Counts of messages. `missed` includes `late`. */
export interface Tally {
  readonly judged: number;
  readonly missed: number;
  readonly late: number;
}

/** A receiver's report, measured from application to application over the last 10 to 20 s. */
export interface Received {
  readonly tally: Tally;
  /** Messages that came in time only because they were repeated, since the transport opened. */
  readonly saved: number;
  /** Messages per second; null if the sender sent too few to measure it. */
  readonly rate: number | null;
  readonly median: number;
  readonly p99: number;
  /** A histogram as in `Flow.ages`. */
  readonly ages: readonly number[];
}

export interface Code {
  readonly most: Repeats;
  /** The repeats that the rest of the messages gets, a `share` of all. */
  readonly others: Repeats;
  readonly share: number;
  /** True if receivers request missing messages again. */
  readonly requests: boolean;
  /** True if the last value, at which a pointer rests, is sent again. */
  readonly tail_flush: boolean;
}

export interface Repeats {
  /** Repeats with later packets: the number of packets between the message and each repeat. */
  readonly after: readonly number[];
  /** Dedicated packets for repeats: milliseconds after the message. */
  readonly dedicated: readonly number[];
}

/** Sums since the room is inspected. Lists are indexed by purpose: new, repeated, state, own. */
export interface Flow {
  readonly participant: number;
  readonly out: boolean;
  /** The channel's number; 0 for the room's snapshot. */
  readonly channel: number;
  readonly messages: readonly number[];
  readonly before: number;
  readonly new_before: number;
  readonly state_before: number;
  readonly costs: readonly number[];
  /**
   * A histogram of the ages of new messages; `AGES` has the upper bounds, the last bucket has none.
   */
  readonly ages: readonly number[];
}

export interface Carriage {
  readonly participant: number;
  readonly out: boolean;
  readonly datagram: boolean;
  readonly packets: number;
  readonly bytes: number;
  readonly header_bytes: number;
  readonly feedback_bytes: number;
}

export interface Packet {
  readonly at: number;
  readonly participant: number;
  readonly out: boolean;
  readonly datagram: boolean;
  readonly group: number | null;
  readonly epoch: number | null;
  readonly bytes: number;
  readonly header_bytes: number;
  readonly feedback_bytes: number;
  readonly overhead: number;
  readonly parts: readonly Part[];
}

export type Part = readonly [
  channel: number,
  sender: number,
  index: number,
  purpose: number,
  before: number,
  age: number,
  cost: number,
];

export interface Recording {
  readonly file: string;
  readonly messages: number;
  readonly bytes: number;
  readonly missed: number;
  readonly is_over: boolean;
  readonly error: string | null;
}

export interface Templates {
  readonly stream: readonly Template[];
  readonly datagrams: readonly Template[];
}

export interface Template {
  /** The number of messages that matched the template. */
  readonly fits: number;
  /** Each piece is fixed text or a hole. */
  readonly pieces: readonly (string | readonly [kind: string, example: string])[];
}

/** The upper bounds of the buckets of `Flow.ages`, in milliseconds. */
export const AGES = [5, 10, 20, 30, 50, 75, 100, 150, 250, 500, 1000] as const;

/** The cost of a byte. */
export const BYTE = 64;
