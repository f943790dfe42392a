/**
 * An outage: the time from the first round in which every transport fails until the session has
 * joined. It finds out why, so that the application can say it, and tries less meanwhile: a browser
 * writes each failed request into its console.
 */

import type { Problem } from "./api.js";
import type { Clock } from "./choice.js";

/** The actions of a round of attempts to open a transport. */
export interface Round {
  /** Tries all transports. */
  all(): void;
  /** Tries the most promising transport only. */
  one(): void;
  /** Ends the round without an attempt. */
  fail(): void;
}

export interface OutageOptions {
  readonly clock: Clock;
  /** Whether to make fewer requests during the outage. */
  readonly sparesRequests: boolean;
  /**
   * Finds out why no transport opens: `tried` has the result of each, `before` is the last answer.
   * The answer `blocked` means that the server itself can be reached.
   */
  readonly diagnose: (tried: string, before: Problem | undefined) => Promise<Problem>;
  /** The problem has changed; undefined: the session has joined. */
  readonly changed: (problem: Problem | undefined) => void;
}

/**
 * Problems that last until somebody changes the application or the server: there is no hurry to try
 * again.
 */
const LASTING: readonly Problem["code"][] = ["not-groupwire", "origin", "tls", "mixed-content"];

/** The pause before a round in a lasting problem. It doubles up to the longest. */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;

export class Outage {
  readonly #options: OutageOptions;
  #problem: Problem | undefined;
  /** True from a failed round until the session has joined. */
  #isOn = false;
  /** The diagnosis that is under way, or the last one. */
  #looking: Promise<Problem | undefined> = Promise.resolve(undefined);
  /** The server answered after the last failed round, although no transport had opened. */
  #answered = false;
  /**
   * The next round with one request asks for the server's transports; otherwise it tries one of
   * them.
   */
  #asks = false;
  #pause = FIRST_PAUSE_MS;
  #endPause = (): void => {};
  /** Counts what makes a waiting round obsolete. */
  #turn = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get problem(): Problem | undefined {
    return this.#problem;
  }

  /**
   * The session wants a transport: begins a round at once, or in an outage after a diagnosis that
   * is under way.
   */
  begin(round: Round): void {
    if (this.#isOn && this.#options.sparesRequests) void this.#begin(round);
    else round.all();
  }

  /**
   * A round has failed. `isFull`: all transports were tried, and `tried` has the result of each.
   */
  failed(isFull: boolean, tried: string): void {
    this.#isOn = true;
    if (isFull) this.#looking = this.#look(tried, true);
  }

  /** A transport is open: a round that still waits is not needed. */
  opened(): void {
    this.#turn += 1;
    this.#endPause();
  }

  /** The network may have changed: does not wait any longer. */
  hint(): void {
    this.#pause = FIRST_PAUSE_MS;
    this.#endPause();
  }

  /** The session has joined, or has ended. */
  over(): void {
    this.opened();
    this.#isOn = this.#answered = this.#asks = false;
    this.#pause = FIRST_PAUSE_MS;
    this.#report(undefined);
  }

  async #begin(round: Round): Promise<void> {
    const turn = (this.#turn += 1);
    const isObsolete = (): boolean => turn !== this.#turn;
    await this.#looking;
    if (isObsolete()) return;
    const problem = this.#problem;
    if (problem && LASTING.includes(problem.code)) await this.#wait();
    if (isObsolete()) return;
    // A server that can be reached is tried by all transports.
    if (!problem || problem.code === "blocked") return round.all();
    this.#asks = !this.#asks;
    if (!this.#asks) return round.one();
    const found = await (this.#looking = this.#look("", false));
    if (isObsolete()) return;
    if (found?.code === "blocked") round.all();
    else round.fail();
  }

  /** Diagnoses. Returns undefined if the session has joined meanwhile. */
  async #look(tried: string, isAfterRace: boolean): Promise<Problem | undefined> {
    const found = await this.#options.diagnose(tried, this.#problem);
    if (!this.#isOn) return undefined;
    const answers = found.code === "blocked";
    // A server that has just started answers although the transports failed a moment ago: the next
    // round decides.
    if (!answers || (isAfterRace && this.#answered)) this.#report(found);
    this.#answered = answers && isAfterRace;
    return found;
  }

  #report(problem: Problem | undefined): void {
    const before = this.#problem;
    if (before?.code === problem?.code && before?.message === problem?.message) return;
    this.#problem = problem;
    this.#options.changed(problem);
  }

  #wait(): Promise<void> {
    const ms = this.#pause;
    this.#pause = Math.min(ms * 2, LONGEST_PAUSE_MS);
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }
}
