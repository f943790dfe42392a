/** What `GET /inspect/...` answers (docs/inspector.md). Times are in milliseconds, costs in eighths of a bit. */

export interface Rooms {
  readonly rooms: readonly RoomSummary[];
  readonly emulates: boolean;
  readonly records: boolean;
}

export interface RoomSummary {
  readonly name: string;
  readonly participants: number;
  readonly messages: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

export interface Report {
  /** By the room's clock. */
  readonly now: number;
  readonly tick: number;
  /** Packets that could not be told of in time. */
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
  /** From 0 to 1. */
  readonly loss: number;
  readonly deadline: number | null;
  /** Per second; 0: none. */
  readonly rate_min: number;
  readonly rate_max: number;
}

export interface Participant {
  readonly id: number;
  readonly state: "here" | "away" | "left";
  /** What it shows of itself, as text. */
  readonly presence: string;
  readonly transport: Transport | null;
}

export interface Transport {
  readonly kind: string;
  readonly round_trip: number | null;
  readonly clock_error: number | null;
  /** What was measured of the link, in bytes per second. */
  readonly rate: number | null;
  /** The most that may go as datagrams, likewise, headers included; null: the path shows no limit. */
  readonly rate_limit: number | null;
  /** Why the participant has this transport, in its own words. */
  readonly reason: string | null;
  readonly datagrams: boolean;
  readonly coded: boolean;
  readonly stream_class: number | null;
  readonly datagram_class: number | null;
  readonly epoch: number | null;
  /** From 0 to 1 (PER): of datagrams to it, and from it. */
  readonly lost_to: number | null;
  readonly lost_from: number | null;
  readonly subscribed: readonly (readonly [channel: number, compress: string])[];
  readonly measured: readonly Measured[];
  readonly emulable: boolean;
  readonly emulation: readonly [loss: number, delay: number] | null;
}

/** How a channel fares towards a participant, and from it. */
export interface Measured {
  readonly channel: number;
  /** As it tells, every two seconds. */
  readonly received: Received | null;
  /** What it sends: what became of that on its way to the server, of the last ten to twenty seconds. */
  readonly sent: Tally | null;
  /** How what it is sent as datagrams is repeated. */
  readonly code: Code | null;
  /** The most values of each key that it asked for, per second. */
  readonly limit: number | null;
}

/** What became of messages; of the missed, some came too late. */
export interface Tally {
  readonly judged: number;
  readonly missed: number;
  readonly late: number;
}

/** From application to application, over the last ten to twenty seconds. */
export interface Received {
  readonly tally: Tally;
  /** Messages that came in time only because they were repeated, on this transport. */
  readonly saved: number;
  /** Per second; null: nobody sent enough to tell. */
  readonly rate: number | null;
  readonly median: number;
  readonly p99: number;
  /** As `Flow.ages`. */
  readonly ages: readonly number[];
}

export interface Code {
  readonly most: Repeats;
  /** What a share of the messages gets instead. */
  readonly others: Repeats;
  readonly share: number;
  /** Whether receivers ask for what they miss. */
  readonly asks: boolean;
  /** Whether the last value, at which a pointer rests, goes again. */
  readonly closes: boolean;
}

export interface Repeats {
  /** So many packets later. */
  readonly after: readonly number[];
  /** In packets of their own, so many milliseconds later. */
  readonly extra: readonly number[];
}

/** Sums since somebody looks on. By purpose: new, repeated, state, own. */
export interface Flow {
  readonly participant: number;
  readonly out: boolean;
  /** 0: the room's snapshot. */
  readonly channel: number;
  readonly messages: readonly number[];
  readonly before: number;
  readonly new_before: number;
  readonly costs: readonly number[];
  /** How many new messages were up to so old: `AGES`, and all above. */
  readonly ages: readonly number[];
}

export interface Carriage {
  readonly participant: number;
  readonly out: boolean;
  readonly datagram: boolean;
  readonly packets: number;
  readonly octets: number;
  readonly private: number;
  readonly feedback: number;
}

export interface Packet {
  readonly at: number;
  readonly participant: number;
  readonly out: boolean;
  readonly datagram: boolean;
  readonly class: number | null;
  readonly epoch: number | null;
  readonly octets: number;
  readonly private: number;
  readonly feedback: number;
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
  readonly octets: number;
  readonly missed: number;
  readonly is_over: boolean;
  readonly error: string | null;
}

export interface Templates {
  readonly stream: readonly Template[];
  readonly datagrams: readonly Template[];
}

export interface Template {
  /** Messages that fitted it. */
  readonly fits: number;
  /** Fixed text, or a hole. */
  readonly pieces: readonly (string | readonly [kind: string, example: string])[];
}

/** Upper bounds of `Flow.ages`. */
export const AGES = [5, 10, 20, 30, 50, 75, 100, 150, 250, 500, 1000] as const;

/** A byte's cost. */
export const BYTE = 64;
