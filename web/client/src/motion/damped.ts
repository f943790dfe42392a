/**
 * Plain easing: what is shown approaches the newest place exponentially. It needs no times, and
 * always lags behind.
 */

import { check } from "../arguments.js";
import { add, apart, isPlace, type Place } from "./numbers.js";
import { TIME } from "./options.js";

/** The distance below which the shown place has arrived at the target: a tenth of a pixel. */
const THERE = 0.1;

/** Approaches the newest place exponentially: plain easing, which always lags behind. */
export class Damped {
  #target: Place | undefined;
  #shown: Place | undefined;
  #shownAt = 0;

  /** `ease`: the time constant in milliseconds; 0 shows each place at once. */
  constructor(readonly ease = 60) {
    check(ease, TIME, "`ease`");
  }

  push(place: Place, now: number): boolean {
    if (!isPlace(place) || !Number.isFinite(now)) return false;
    if (this.#shown?.length === place.length) this.at(now);
    else [this.#shown, this.#shownAt] = [place, now];
    this.#target = place;
    return true;
  }

  at(now: number): number[] | undefined {
    if (!this.#target || !this.#shown || !Number.isFinite(now)) return undefined;
    const share = this.ease > 0 ? 1 - Math.exp(-Math.max(now - this.#shownAt, 0) / this.ease) : 1;
    this.#shownAt = Math.max(now, this.#shownAt);
    this.#shown = add(this.#shown, add(this.#target, this.#shown, -1), share);
    if (apart(this.#shown, this.#target) < THERE) this.#shown = this.#target;
    return [...this.#shown];
  }

  isSettled(now: number): boolean {
    this.at(now);
    return this.#shown === this.#target;
  }
}
