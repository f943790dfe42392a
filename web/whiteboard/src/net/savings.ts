/**
 * Measures compression: the bytes of a message before and after it, recently and for every setting
 * that was tried. What packets cost beside their messages is counted apart, because no compression
 * changes it.
 */

import type { ChannelTraffic, Stats, Traffic } from "groupwire";

/** Recent averages cover this many samples in which there were messages. */
const LATELY = 12;

/**
 * Samples that are left out after a change of the setting: until its codec is loaded and the server
 * knows the setting.
 */
const UNSETTLED = 3;

/** Sums of one direction or of both. */
export interface Sums {
  readonly messages: number;
  /** Bytes of the messages. */
  readonly before: number;
  /** Bytes that these messages took in packets. */
  readonly after: number;
  /** All other bytes of packets: headers, acknowledgements, pings and the like. */
  readonly others: number;
}

const NOTHING: Sums = { messages: 0, before: 0, after: 0, others: 0 };

/** The sums of a direction since the window was opened. */
export function sumsOf({ messages, bytesBefore, bytesAfter, bytesPayload }: Traffic): Sums {
  return { messages, before: bytesBefore, after: bytesPayload, others: bytesAfter - bytesPayload };
}

export class Savings {
  readonly up = new DirectionSavings("sent");
  readonly down = new DirectionSavings("received");
  /** Sums by the name of the setting, the newest last. */
  readonly tried = new Map<string, Sums>();
  private unsettled = 0;

  constructor(
    private last: Stats,
    private setting: string,
  ) {}

  /** To be called twice a second. */
  sample(stats: Stats, setting: string): void {
    if (setting !== this.setting) {
      this.setting = setting;
      this.unsettled = UNSETTLED;
      this.up.forget();
      this.down.forget();
    }
    const { last } = this;
    this.last = stats;
    if (this.unsettled > 0) {
      this.unsettled--;
      return;
    }
    const sums = add(this.up.take(last, stats), this.down.take(last, stats));
    if (sums.messages === 0) return;
    const known = this.tried.get(setting) ?? NOTHING;
    this.tried.delete(setting);
    this.tried.set(setting, add(known, sums));
  }
}

export class DirectionSavings {
  private samples: (Sums & { readonly by: readonly string[] })[] = [];

  constructor(private readonly direction: "sent" | "received") {}

  /** The recent average of a message in bytes; undefined without messages. */
  get each(): Omit<Sums, "messages"> | undefined {
    const { messages, before, after, others } = this.samples.reduce<Sums>(add, NOTHING);
    if (messages === 0) return undefined;
    return { before: before / messages, after: after / messages, others: others / messages };
  }

  /** The names of the codecs of recent messages, with `none` and `template`. */
  get by(): readonly string[] {
    return [...new Set(this.samples.flatMap(({ by }) => by))].sort();
  }

  /**
   * Adds a sample of the traffic between two states. Without messages the packets are not counted,
   * because they carried none.
   */
  take(last: Stats, now: Stats): Sums {
    const sums = between(sumsOf(last[this.direction]), sumsOf(now[this.direction]));
    if (sums.messages === 0) return NOTHING;
    const by = [...now.channels].flatMap(([name, stats]) =>
      coding(last.channels.get(name)?.[this.direction], stats[this.direction]),
    );
    this.samples = [...this.samples, { ...sums, by }].slice(-LATELY);
    return sums;
  }

  forget(): void {
    this.samples = [];
  }
}

/** What was added between two sums. */
export function between(last: Sums, now: Sums): Sums {
  return combine(now, last, (now, last) => now - last);
}

function coding(last: ChannelTraffic | undefined, now: ChannelTraffic): string[] {
  const coded = now.codedMessages > (last?.codedMessages ?? 0) ? ["template"] : [];
  const alone = now.messages > (last?.messages ?? 0) ? [now.codec ?? "none"] : [];
  return [...coded, ...alone];
}

export function add(a: Sums, b: Sums): Sums {
  return combine(a, b, (a, b) => a + b);
}

function combine(a: Sums, b: Sums, by: (a: number, b: number) => number): Sums {
  return {
    messages: by(a.messages, b.messages),
    before: by(a.before, b.before),
    after: by(a.after, b.after),
    others: by(a.others, b.others),
  };
}
