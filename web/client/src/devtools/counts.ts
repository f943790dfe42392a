/** Differences between counts of the core: what packets have carried since the last look. */

import type { CoreStats } from "../core.js";

/** What was carried of one channel. */
export interface Step {
  readonly id: number;
  readonly count: number;
  /** Bytes as the program sent them. */
  readonly bytes: number;
}

/** The counts of one direction. */
export class Counts {
  readonly #way: "sent" | "received";
  #before: CoreStats;

  constructor(way: "sent" | "received", stats: CoreStats) {
    this.#way = way;
    this.#before = stats;
  }

  /** The bytes of payloads and, by channel, the messages since the last call. */
  step(stats: CoreStats): { readonly payload: number; readonly channels: readonly Step[] } {
    const way = this.#way;
    const before = this.#before;
    this.#before = stats;
    const channels = stats.channels.flatMap(({ [way]: now }, id) => {
      const old = before.channels[id]?.[way];
      const count = now.messages + now.codedMessages - (old ? old.messages + old.codedMessages : 0);
      const bytes = now.bytesBefore + now.codedBytes - (old ? old.bytesBefore + old.codedBytes : 0);
      return count > 0 ? [{ id, count, bytes }] : [];
    });
    return { payload: stats[way].bytesPayload - before[way].bytesPayload, channels };
  }
}
