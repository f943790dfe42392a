/**
 * Prediction with replay: own actions take effect at once, on top of the confirmed state, and are done again on each new confirmed state
 * until they are confirmed themselves (Bernier, "Latency compensating methods in client/server in-game protocol design and
 * optimization", 2001).
 */

import { failure } from "../errors.js";

export interface PredictionOptions<State, Action> {
  readonly init: State;
  /** What an action makes of a state. It is pure, and the same in all programs of a room. */
  readonly step: (state: State, action: Action) => State;
  /** The largest number of actions that are not confirmed. Default: 1000. */
  readonly limit?: number;
}

export class Prediction<State, Action> {
  readonly #step: (state: State, action: Action) => State;
  readonly #limit: number;
  #confirmed: State;
  #predicted: State;
  #pending: { readonly number: number; readonly action: Action }[] = [];
  #count = 0;
  /** The largest number that a host has confirmed. */
  #done = 0;

  constructor({ init, step, limit = 1000 }: PredictionOptions<State, Action>) {
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

  /** True if so many own actions are not confirmed that no further one is taken. */
  get isFull(): boolean {
    return this.#pending.length >= this.#limit;
  }

  /** Does an own action at once. Throws if {@link Prediction.isFull}. Returns its number, which a host sends back with the state that has it. */
  act(action: Action): number {
    if (this.isFull) throw failure("not-now", "own", `${this.#limit} actions are not confirmed: wait for some of them`);
    this.#predicted = this.#step(this.#predicted, action);
    this.#pending.push({ number: ++this.#count, action });
    return this.#count;
  }

  /** Where the room's order decides: an action has come at its place, `own` as its message says. */
  ordered(action: Action, own: boolean): void {
    this.#confirmed = this.#step(this.#confirmed, action);
    if (own) this.#pending.shift();
    this.#replay();
  }

  /** Where a host decides: its state, which has this program's actions up to number `done`. States that are older are left out. */
  confirm(state: State, done: number): void {
    if (!(done <= this.#count) || done < this.#done) return;
    this.#confirmed = state;
    this.#pending = this.#pending.filter(({ number }) => number > done);
    this.#done = done;
    this.#replay();
  }

  /** Another state, such as a snapshot after a gap; own actions that are not confirmed stay, or are given up. */
  reset(state: State, { keep = false } = {}): void {
    if (!keep) this.#pending = [];
    this.#confirmed = state;
    this.#replay();
  }

  #replay(): void {
    this.#predicted = this.#pending.reduce((state, { action }) => this.#step(state, action), this.#confirmed);
  }
}
