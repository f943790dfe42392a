/**
 * Measures the network of this window second by second: latency from application to application,
 * its jitter (mean deviation from the mean), the round trip to the server, and rates.
 */

import type { Stats } from "groupwire";

/** Seconds of history. */
export const SECONDS = 60;

/**
 * Seconds over which figures are averaged: long enough to be steady, short enough to follow a
 * change.
 */
const WINDOW = 10;

/** Limit of ages per second; seven participants at 60 messages a second send fewer. */
const AGES = 1000;

/**
 * A greater age (ms) says nothing about the network: a connection without a sign of life ends after
 * 5 s.
 */
const OLDEST = 60_000;

export interface Sample {
  /** Milliseconds; undefined if no message arrived. */
  readonly latency: number | undefined;
  readonly jitter: number | undefined;
  readonly roundTrip: number | undefined;
  /** Messages and bytes sent per second. */
  readonly sent: Rate;
  readonly received: Rate;
}

export interface Rate {
  readonly messages: number;
  readonly bytes: number;
}

/** Averages over the last seconds. */
export interface Figures extends Sample {
  /** Bytes on the wire per message, both directions together; undefined without messages. */
  readonly bytesPerMessage: number | undefined;
}

interface Second extends Sample {
  readonly ages: readonly number[];
}

export class Meter {
  private readonly seconds: Second[] = [];
  private ages: number[] = [];
  private last: { readonly stats: Stats; readonly time: number } | undefined;

  /** A message has arrived that another participant's application sent `age` milliseconds ago. */
  note(age: number): void {
    if (age >= 0 && age <= OLDEST && this.ages.length < AGES) this.ages.push(age);
  }

  /** To be called about once a second. */
  sample(stats: Stats, now: number): void {
    const { ages, last } = this;
    this.ages = [];
    this.last = { stats, time: now };
    if (!last || now <= last.time) return;
    const seconds = (now - last.time) / 1000;
    const rate = (direction: "sent" | "received"): Rate => ({
      messages: (stats[direction].messages - last.stats[direction].messages) / seconds,
      bytes: (stats[direction].bytesAfter - last.stats[direction].bytesAfter) / seconds,
    });
    this.seconds.push({
      ages,
      ...spread(ages),
      roundTrip: stats.roundTrip,
      sent: rate("sent"),
      received: rate("received"),
    });
    if (this.seconds.length > SECONDS) this.seconds.shift();
  }

  /** Oldest first. */
  get history(): readonly Sample[] {
    return this.seconds;
  }

  get figures(): Figures {
    const recent = this.seconds.slice(-WINDOW);
    const total = (pick: (second: Second) => number): number => recent.reduce((sum, second) => sum + pick(second), 0);
    const mean = (direction: "sent" | "received"): Rate => ({
      messages: total((second) => second[direction].messages) / Math.max(recent.length, 1),
      bytes: total((second) => second[direction].bytes) / Math.max(recent.length, 1),
    });
    const [sent, received] = [mean("sent"), mean("received")];
    const messages = sent.messages + received.messages;
    return {
      ...spread(recent.flatMap(({ ages }) => ages)),
      roundTrip: recent.at(-1)?.roundTrip,
      sent,
      received,
      bytesPerMessage: messages > 0 ? (sent.bytes + received.bytes) / messages : undefined,
    };
  }
}

/** The mean, and the mean deviation from it. */
export function spread(values: readonly number[]): Pick<Sample, "latency" | "jitter"> {
  if (values.length === 0) return { latency: undefined, jitter: undefined };
  const mean = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length;
  const latency = mean(values);
  return { latency, jitter: mean(values.map((value) => Math.abs(value - latency))) };
}
