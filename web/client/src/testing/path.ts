/** The network between one participant and the server. */

import type { SimulatedClock } from "./clock.js";
import type { Random } from "./random.js";

/** One direction of a network. */
export interface Direction {
  /** Milliseconds from one end to the other. Default: 20. */
  readonly delay?: number;
  /**
   * The largest additional delay in milliseconds, drawn for each packet. Datagrams overtake each
   * other by it. Default: 0.
   */
  readonly jitter?: number;
  /**
   * The share of packets that is lost, 0 to 1. A lost datagram does not arrive. What a stream loses
   * is sent again, so its messages arrive late. Default: 0.
   */
  readonly loss?: number;
  /** Bytes per second. Default: without a limit. */
  readonly rate?: number;
}

/**
 * A network. `up` (to the server) and `down` (to the participant) override the values for both
 * directions.
 */
export interface NetworkConditions extends Direction {
  readonly up?: Direction;
  readonly down?: Direction;
}

/** The part of a clock that a path uses. */
type PathClock = Pick<SimulatedClock, "now" | "at">;

export type Way = "up" | "down";

const DEFAULTS = { delay: 20, jitter: 0, loss: 0, rate: Infinity };

/** The data of one packet in an Ethernet frame, after the headers of IPv6, TCP and TLS. */
const SEGMENT = 1400;

/**
 * The shortest time until a lost packet of a stream is sent again. Linux waits this long at least
 * (TCP_RTO_MIN).
 */
const LEAST_RESEND_MS = 200;

/** The most losses of one packet in a row. The bound keeps a loss of 1 from stopping time. */
const MOST_RESENDS = 6;

/** The network of one participant, which all its transports share. */
export class Path {
  readonly #clock: PathClock;
  readonly #random: Pick<Random, "chance" | "fraction">;
  #conditions: NetworkConditions;
  #lanes: Record<Way, Required<Direction>>;
  /** The time when all packets sent so far have left the sender. */
  readonly #free: Record<Way, number> = { up: 0, down: 0 };
  /** The time when the network returns; undefined while it is not cut. */
  #cutUntil: number | undefined;
  /** Stream data that arrives when the network returns. */
  #held: (readonly [Way, () => void])[] = [];
  /** The earliest time at which stream data arrives, so that held data comes first. */
  #notBefore: Record<Way, number> = { up: 0, down: 0 };

  constructor(clock: PathClock, random: Pick<Random, "chance" | "fraction">, conditions: NetworkConditions) {
    this.#clock = clock;
    this.#random = random;
    this.#conditions = conditions;
    this.#lanes = lanes(conditions);
  }

  /** Changes the conditions that are named. */
  change(conditions: NetworkConditions): void {
    const { up, down } = this.#conditions;
    this.#conditions = {
      ...this.#conditions,
      ...conditions,
      up: { ...up, ...conditions.up },
      down: { ...down, ...conditions.down },
    };
    this.#lanes = lanes(this.#conditions);
  }

  /**
   * The time when the network returns: infinity if unknown, undefined while the network is not cut.
   */
  get cutUntil(): number | undefined {
    return this.#cutUntil;
  }

  /** Cuts the network until a time. Datagrams are lost; streams wait. */
  cut(until: number): void {
    this.#cutUntil = until;
  }

  /** Ends the cut: held stream data arrives. */
  heal(): void {
    this.#cutUntil = undefined;
    const held = this.#held;
    this.#held = [];
    for (const way of ["up", "down"] as const) this.#notBefore[way] = this.#clock.now() + this.#transit(way);
    for (const [way, run] of held) this.#clock.at(this.#notBefore[way], () => this.arrive(way, run));
  }

  /** The time when `bytes` that are sent now have left the sender. */
  departure(way: Way, bytes: number): number {
    const { rate } = this.#lanes[way];
    const free = Math.max(this.#clock.now(), this.#free[way]) + (bytes / rate) * 1000;
    return (this.#free[way] = free);
  }

  /**
   * Milliseconds that bytes of a stream take after they have left, with the time in which lost
   * packets are sent again.
   */
  streamTime(way: Way, bytes: number): { readonly time: number; readonly losses: number } {
    const { loss } = this.#lanes[way];
    let losses = 0;
    for (let sent = 0; loss > 0 && sent < Math.max(1, bytes); sent += SEGMENT) {
      let here = 0;
      while (here < MOST_RESENDS && this.#random.chance(loss)) here += 1;
      losses = Math.max(losses, here);
    }
    return { time: this.#transit(way) + this.#resendTime(losses), losses };
  }

  /** Milliseconds that a datagram takes; undefined if it is lost. */
  datagramTime(way: Way): number | undefined {
    const { loss } = this.#lanes[way];
    if (loss > 0 && this.#random.chance(loss)) return undefined;
    return this.#transit(way);
  }

  /** Milliseconds until a transport is open whose handshake takes this many round trips. */
  handshakeTime(roundTrips: number): number {
    let time = 0;
    for (let at = 0; at < roundTrips; at += 1) time += this.streamTime("up", 0).time + this.streamTime("down", 0).time;
    return time;
  }

  /** Runs the arrival of stream data now, or when the network returns. */
  arrive(way: Way, run: () => void): void {
    const now = this.#clock.now();
    if (this.#cutUntil !== undefined) this.#held.push([way, run]);
    else if (now < this.#notBefore[way]) this.#clock.at(this.#notBefore[way], () => this.arrive(way, run));
    else run();
  }

  #transit(way: Way): number {
    const { delay, jitter } = this.#lanes[way];
    return delay + (jitter > 0 ? this.#random.fraction() * jitter : 0);
  }

  /**
   * The first loss is repaired by a tail loss probe after two round trips (RFC 8985), further ones
   * by TCP's retransmission timer, which doubles each time (RFC 6298).
   */
  #resendTime(losses: number): number {
    if (losses === 0) return 0;
    const { up, down } = this.#lanes;
    const roundTrip = up.delay + up.jitter + down.delay + down.jitter;
    const timer = Math.max(LEAST_RESEND_MS, roundTrip);
    return 2 * roundTrip + timer * (2 ** (losses - 1) - 1);
  }
}

function lanes({ up, down, ...both }: NetworkConditions): Record<Way, Required<Direction>> {
  const lane = (own: Direction | undefined): Required<Direction> => ({ ...DEFAULTS, ...both, ...own });
  return { up: lane(up), down: lane(down) };
}
