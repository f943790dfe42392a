/** Simulated time: scheduled functions, in the order of their times. */

import type { Clock } from "../choice.js";

interface Entry {
  readonly at: number;
  /** Entries of one time happen in the order in which they were made. */
  readonly order: number;
  run: (() => void) | undefined;
}

export class SimulatedClock implements Clock {
  #now = 0;
  #made = 0;
  /** A binary heap: the entry at `i` comes before those at `2i + 1` and `2i + 2`. */
  readonly #heap: Entry[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    return this.at(this.#now + ms, run);
  }

  /** Runs a function at this time. Returns a function that cancels it. */
  at(time: number, run: () => void): () => void {
    const entry: Entry = { at: Math.max(this.#now, time), order: (this.#made += 1), run };
    this.#push(entry);
    return () => (entry.run = undefined);
  }

  /** The time of the next entry; infinity if there is none. */
  next(): number {
    while (this.#heap[0] && !this.#heap[0].run) this.#pop();
    return this.#heap[0]?.at ?? Infinity;
  }

  /** Goes on to the next entry and runs it. */
  runNext(): void {
    this.#now = Math.max(this.#now, this.next());
    this.#pop()?.run?.();
  }

  /** Advances to this time; no entry may be before it. */
  goTo(time: number): void {
    this.#now = Math.max(this.#now, time);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above];
      if (!other || isBefore(other, entry)) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      const [one, two] = [heap[below], heap[below + 1]];
      if (!one) break;
      if (two && isBefore(two, one)) below += 1;
      const other = heap[below];
      if (!other || isBefore(last, other)) break;
      heap[at] = other;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
