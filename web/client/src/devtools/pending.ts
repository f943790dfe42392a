/** Own transactions, and messages to one participant, that are not confirmed. */

import type { Plain } from "./packets.js";

export interface Waiting extends Plain {
  readonly number: number;
  /** When the program sent it, by `Date.now()`. */
  readonly since: number;
  /** The receiver of a message to one participant. */
  readonly to: number | undefined;
  /** True once a packet has carried it. */
  isSent: boolean;
}

interface Entry extends Waiting {
  readonly id: number;
  readonly tag: number | undefined;
}

export class Pending {
  #entries: Entry[] = [];
  /** Transactions that were sent before the devtools looked: they are confirmed first. */
  #earlier: number;
  #count = 0;

  constructor(earlier: number) {
    this.#earlier = earlier;
  }

  get list(): readonly Waiting[] {
    return this.#entries;
  }

  /** How many more there are, of which nothing else is known. */
  get earlier(): number {
    return this.#earlier;
  }

  /** The program has sent a transaction; with `tag`, a message to the participant `to`. */
  add(id: number, plain: Plain, since: number, to?: number, tag?: number): void {
    this.#count += 1;
    this.#entries.push({ ...plain, id, since, to, tag, number: this.#count, isSent: false });
  }

  /** A packet has carried `count` messages of a channel: those that waited longest. */
  left(id: number, count: number): Waiting[] {
    const left = this.#entries.filter((entry) => entry.id === id && !entry.isSent).slice(0, count);
    for (const entry of left) entry.isSent = true;
    return left;
  }

  /** The room has ordered the next own transaction. */
  confirmed(): Waiting | undefined {
    if (this.#earlier > 0) {
      this.#earlier -= 1;
      return undefined;
    }
    const at = this.#entries.findIndex(({ tag }) => tag === undefined);
    return at < 0 ? undefined : this.#entries.splice(at, 1)[0];
  }

  /** The outcome of a message to one participant is known. */
  received(tag: number): void {
    this.#entries = this.#entries.filter((entry) => entry.tag !== tag);
  }

  /**
   * No transaction is pending any more, also those that the room does not take. Messages to one
   * participant may still wait for their receiver.
   */
  settle(): void {
    this.#entries = this.#entries.filter(({ tag }) => tag !== undefined);
    this.#earlier = 0;
  }

  /** The room is closed: nothing is pending any more. */
  clear(): void {
    this.#entries = [];
    this.#earlier = 0;
  }
}
