/**
 * Prediction with replay: own actions take effect at once, on top of the confirmed state, and are
 * replayed on each new confirmed state until they are confirmed themselves (Bernier, "Latency
 * compensating methods in client/server in-game protocol design and optimization", 2001).
 */

import { check, checkOptions } from "../arguments.js";
import { failure } from "../errors.js";
import { checkTime } from "./numbers.js";
import { PREDICTION } from "./options.js";

/** Options of {@link Prediction}. */
export interface PredictionOptions<State, Action> {
  readonly init: State;
  /**
   * Returns the state after an action. It must be pure, and the same in all programs of a room.
   * Others may send any action: throw an error for one that is malformed, and it has no effect.
   */
  readonly step: (state: State, action: Action) => State;
  /** The largest number of actions that are not confirmed. Default: 1000. */
  readonly limit?: number;
}

/** Shows own actions at once, and replays them on each new confirmed state. */
export class Prediction<State, Action> {
  readonly #step: (state: State, action: Action) => State;
  readonly #limit: number;
  #confirmed: State;
  #predicted: State;
  #pending: { readonly number: number; readonly action: Action }[] = [];
  #count = 0;
  /** The largest number that a host has confirmed. */
  #done = 0;

  constructor(options: PredictionOptions<State, Action>) {
    checkOptions(options, PREDICTION, "`Prediction`");
    const { init, step, limit = 1000 } = options;
    check(step, "function", "`step` of `Prediction`");
    this.#confirmed = this.#predicted = init;
    this.#step = step;
    this.#limit = limit;
  }

  /** The state to show: the confirmed one, with the own actions that are not confirmed. */
  get state(): State {
    return this.#predicted;
  }

  get confirmed(): State {
    return this.#confirmed;
  }

  /** The number of own actions that are not confirmed. */
  get pending(): number {
    return this.#pending.length;
  }

  /** True if `act` takes no further action, because too many are unconfirmed. */
  get isFull(): boolean {
    return this.#pending.length >= this.#limit;
  }

  /**
   * Applies an own action at once. Throws if {@link Prediction.isFull}. Returns its number, the
   * `done` of a host's {@link confirm}.
   */
  act(action: Action): number {
    if (this.isFull) throw failure("not-now", "own", `${this.#limit} actions are not confirmed: wait for some of them`);
    this.#predicted = this.#step(this.#predicted, action);
    this.#pending.push({ number: ++this.#count, action });
    return this.#count;
  }

  /**
   * For rooms whose order decides: applies an action at its place in that order. `own` is the field
   * of its message.
   */
  ordered(action: Action, own: boolean): void {
    this.#confirmed = this.#after(this.#confirmed, action);
    if (own) this.#pending.shift();
    this.#replay();
  }

  /**
   * For rooms where a host decides: takes its state, with this program's actions up to number
   * `done`. Older states are ignored.
   */
  confirm(state: State, done: number): void {
    checkTime(done);
    if (!(done <= this.#count) || done < this.#done) return;
    this.#confirmed = state;
    this.#pending = this.#pending.filter(({ number }) => number > done);
    this.#done = done;
    this.#replay();
  }

  /**
   * Replaces the confirmed state, for example by a snapshot after a gap. `keep`: unconfirmed own
   * actions are kept, otherwise dropped.
   */
  reset(state: State, options: { readonly keep?: boolean } = {}): void {
    checkOptions(options, { keep: "boolean" }, "`reset`");
    if (!options.keep) this.#pending = [];
    this.#confirmed = state;
    this.#replay();
  }

  #replay(): void {
    this.#predicted = this.#pending.reduce((state, { action }) => this.#after(state, action), this.#confirmed);
  }

  /** The state after an action that others may have sent, or that was made in another state. */
  #after(state: State, action: Action): State {
    try {
      return this.#step(state, action);
    } catch {
      // It has no effect for anybody, because all run the same function.
      return state;
    }
  }
}
