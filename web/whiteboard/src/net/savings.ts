/** What compression does: octets of a message before and after, lately and for every setting that was tried. */

import type { ChannelTraffic, Stats, Traffic } from "groupwire";

/** Means are of so many samples in which there was something. */
const LATELY = 12;

/** After another setting was chosen: until it is loaded, and the server knows. */
const UNSETTLED = 3;

/** Sums of one direction, or of both. */
export interface Sums {
  readonly messages: number;
  /** Octets of the messages. */
  readonly before: number;
  /** Octets of the packets that carried them. */
  readonly after: number;
}

const NOTHING: Sums = { messages: 0, before: 0, after: 0 };

export class Savings {
  readonly up = new Direction("sent");
  readonly down = new Direction("received");
  /** By the names of the settings, the newest last. */
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

export class Direction {
  private samples: (Sums & { readonly by: readonly string[] })[] = [];

  constructor(private readonly way: "sent" | "received") {}

  /** Lately, by message; undefined: there was none. */
  get each(): { readonly before: number; readonly after: number } | undefined {
    const { messages, before, after } = this.samples.reduce<Sums>(add, NOTHING);
    return messages === 0 ? undefined : { before: before / messages, after: after / messages };
  }

  /** What messages were compressed by lately: names of codecs, `none`, `template`. */
  get by(): readonly string[] {
    return [...new Set(this.samples.flatMap(({ by }) => by))].sort();
  }

  /** Whatever there was between two states; nothing if there was no message, since then it is not about messages. */
  take(last: Stats, now: Stats): Sums {
    const sums = between(last[this.way], now[this.way]);
    if (sums.messages === 0) return NOTHING;
    const by = [...now.channels].flatMap(([name, stats]) =>
      coding(last.channels.get(name)?.[this.way], stats[this.way]),
    );
    this.samples = [...this.samples, { ...sums, by }].slice(-LATELY);
    return sums;
  }

  forget(): void {
    this.samples = [];
  }
}

function between(last: Traffic, now: Traffic): Sums {
  return {
    messages: now.messages - last.messages,
    before: now.bytesBefore - last.bytesBefore,
    after: now.bytesAfter - last.bytesAfter,
  };
}

function coding(last: ChannelTraffic | undefined, now: ChannelTraffic): string[] {
  const coded = now.codedMessages > (last?.codedMessages ?? 0) ? ["template"] : [];
  const alone = now.messages > (last?.messages ?? 0) ? [now.codec ?? "none"] : [];
  return [...coded, ...alone];
}

function add(a: Sums, b: Sums): Sums {
  return { messages: a.messages + b.messages, before: a.before + b.before, after: a.after + b.after };
}
