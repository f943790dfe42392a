/** The transports that may be used, and the order in which they are tried. */

import type { TransportName } from "./api.js";
import type { Memory } from "./memory.js";

export class Ranking {
  readonly #memory: Memory;
  #names: readonly TransportName[];
  /**
   * True when all responses that a browser can hold are taken (T20). Polling is then allowed, too,
   * because it holds none.
   */
  #mayPoll = false;
  /** The transports whose last attempt failed, each with the reason. */
  readonly #reasons = new Map<TransportName, string>();

  /**
   * `names` are the allowed transports, best first. Those that failed on earlier visits are tried
   * last.
   */
  constructor(names: readonly TransportName[], memory: Memory) {
    this.#names = names;
    this.#memory = memory;
    const [best] = names;
    const instead = best && memory.recall(best);
    if (!instead) return;
    for (const name of this.better(instead)) this.#reasons.set(name, "did not work here before");
  }

  /** The allowed transports, best first. */
  get names(): readonly TransportName[] {
    return this.#names;
  }

  /** Changes the allowed transports and forgets all failures. */
  set names(names: readonly TransportName[]) {
    this.#names = names;
    this.#mayPoll = false;
    this.#reasons.clear();
  }

  /** The allowed transports, with polling if it is only a fall-back. */
  get all(): readonly TransportName[] {
    return this.#mayPoll ? [...this.#names, "poll"] : this.#names;
  }

  /** Why each transport that was tried is not in use. */
  get reasons(): ReadonlyMap<TransportName, string> {
    return this.#reasons;
  }

  /** Allows polling as a fall-back. Returns false if it was allowed before. */
  allowPolling(): boolean {
    if (this.#mayPoll || this.#names.includes("poll")) return false;
    this.#mayPoll = true;
    return true;
  }

  isAllowed(name: TransportName): boolean {
    return this.all.includes(name);
  }

  /** The transports that are better than `name`: all of them, if `name` is no longer allowed. */
  better(name: TransportName): readonly TransportName[] {
    const at = this.all.indexOf(name);
    return at < 0 ? this.all : this.all.slice(0, at);
  }

  isBetter(one: TransportName, other: TransportName): boolean {
    return this.better(other).includes(one);
  }

  /**
   * The order in which to try transports: first those that have not failed, then the others, each
   * best first.
   */
  order(): TransportName[] {
    const hasFailed = (name: TransportName): boolean => this.#reasons.has(name);
    return [...this.all.filter((name) => !hasFailed(name)), ...this.all.filter(hasFailed)];
  }

  /** `name` failed, for a reason that follows its name in a sentence. */
  failed(name: TransportName, reason: string): void {
    this.#reasons.set(name, reason);
  }

  /** `name` is no longer considered as failed. */
  forgive(name: TransportName): void {
    this.#reasons.delete(name);
  }

  forgiveAll(): void {
    this.#reasons.clear();
  }

  /** `name` carries a session: remembers for later visits whether the best transport works. */
  carries(name: TransportName): void {
    const [best] = this.#names;
    if (!best) return;
    this.#memory.worked(name, best);
    this.remember(name);
  }

  /** Remembers for later visits that `name` works while the best transport has failed. */
  remember(name: TransportName): void {
    const [best] = this.#names;
    if (best && name !== best && this.#reasons.has(best)) this.#memory.fellBack(name, best);
  }
}
