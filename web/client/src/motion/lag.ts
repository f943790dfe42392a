/**
 * Local lag: an own action takes effect a little after it is made, so that its effect comes at the
 * same moment everywhere (Mauve et al., "Local-lag and timewarp: providing consistency for
 * replicated continuous applications", 2004; before that the turns of Bettner and Terrano, "1500
 * archers on a 28.8", 2001).
 */

import { checkOptions } from "../arguments.js";
import { ageOf, checkTime, clamp } from "./numbers.js";
import { LAG } from "./options.js";

/** Options of {@link LocalLag}. */
export interface LocalLagOptions {
  /**
   * Milliseconds between an action and its effect. Default: 100, which hardly anybody notices in a
   * drag.
   */
  readonly lag?: number;
  /**
   * The largest number of waiting actions. Beyond it, the oldest actions take effect at once.
   * Default: 1000.
   */
  readonly limit?: number;
}

/** An action whose time has come. */
export interface DueAction<T> {
  readonly action: T;
  /** When it was made, on this program's clock. */
  readonly made: number;
  /** Milliseconds by which it came too late to take effect in time; 0 if it was in time. */
  readonly late: number;
}

/** The ages that are kept to tell how much lag others need. */
const KEPT = 100;

/** The share of actions that are in time with the lag that {@link LocalLag.needed} proposes. */
const SHARE = 0.95;

/** Lets own actions take effect a little later, at the same moment everywhere. */
export class LocalLag<T> {
  lag: number;
  readonly #limit: number;
  readonly #waiting: { readonly action: T; readonly made: number; readonly late: number }[] = [];
  readonly #ages: number[] = [];

  constructor(options: LocalLagOptions = {}) {
    checkOptions(options, LAG, "`LocalLag`");
    const { lag = 100, limit = 1000 } = options;
    this.lag = lag;
    this.#limit = limit;
  }

  /**
   * An own action (without `age`), or one that somebody else made `age` milliseconds before `now`.
   */
  add(action: T, now: number, age?: number): void {
    checkTime(now);
    const made = now - ageOf(age ?? 0);
    if (!Number.isFinite(made)) return;
    if (age !== undefined && this.#ages.push(ageOf(age)) > KEPT) this.#ages.shift();
    const late = Math.max(now - made - this.lag, 0);
    let at = this.#waiting.length;
    while (at > 0 && (this.#waiting[at - 1]?.made ?? made) > made) at--;
    this.#waiting.splice(at, 0, { action, made, late });
  }

  /** True if more actions wait than the limit: take them by {@link due}. */
  get isFull(): boolean {
    return this.#waiting.length > this.#limit;
  }

  /** The actions that take effect by `now`, in the order in which they were made. */
  due(now: number): DueAction<T>[] {
    checkTime(now);
    const count = this.#waiting.findIndex(({ made }) => made + this.lag > now);
    const due = count < 0 ? this.#waiting.length : count;
    return this.#waiting.splice(0, Math.max(due, this.#waiting.length - this.#limit));
  }

  /** Milliseconds until the next action takes effect; Infinity if none waits. */
  nextIn(now: number): number {
    checkTime(now);
    const next = this.#waiting[0];
    return next ? Math.max(next.made + this.lag - now, 0) : Infinity;
  }

  /**
   * The lag (ms) with which 95 % of others' actions are in time, at most `most`; undefined before
   * the first one.
   */
  needed(most = 200): number | undefined {
    checkTime(most);
    const sorted = [...this.#ages].sort((a, b) => a - b);
    const age = sorted[Math.ceil(sorted.length * SHARE) - 1];
    return age === undefined ? undefined : clamp(age, 0, most);
  }
}
