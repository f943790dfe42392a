/** Rates of channels, from counts that are looked at now and then. */

import type { Stats } from "../api.js";
import { total } from "./words.js";

/** Messages and bytes per second. */
export interface Rate {
  readonly messages: number;
  readonly bytes: number;
}

interface Sample {
  readonly at: number;
  readonly stats: Stats;
}

/** Rates are those of this time: long enough for 2 messages a second, short enough to follow. */
const WINDOW_MS = 2000;

export class Rates {
  #samples: Sample[] = [];

  /** Takes a sample; `now` is in milliseconds. */
  look(now: number, stats: Stats): void {
    this.#samples.push({ at: now, stats });
    while ((this.#samples[1]?.at ?? now) <= now - WINDOW_MS) this.#samples.shift();
  }

  /** The rate of a channel in one direction; undefined before the second look. */
  of(channel: string, way: "sent" | "received"): Rate | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || first === last) return undefined;
    const [before, now] = [first, last].map(({ stats }) => total(stats.channels.get(channel)?.[way]));
    if (!before || !now) return undefined;
    const seconds = (last.at - first.at) / 1000;
    return { messages: (now.messages - before.messages) / seconds, bytes: (now.bytes - before.bytes) / seconds };
  }
}
