/**
 * Follows the movement of another participant: shows places that arrive at intervals, late, or not
 * at all as one smooth movement.
 */

import { checkOptions } from "../arguments.js";
import { between, type Sample } from "./curve.js";
import { Delay } from "./delay.js";
import { add, ageOf, checkIndex, checkTime, clamp, distance, isPlace, type Place } from "./numbers.js";
import { PLAYOUT } from "./options.js";

/** Options of {@link Playout}. */
export interface PlayoutOptions {
  /** The least playout delay in milliseconds. Default: 0. */
  readonly minDelay?: number;
  /**
   * The largest playout delay in milliseconds. With a longer one a movement feels disconnected.
   * Default: 300.
   */
  readonly maxDelay?: number;
}

/** Limit of kept places: more than arrive within the longest delay. */
const KEPT = 64;

/**
 * Without an index, a silence longer than this (ms) counts as a rest: a moving pointer sends about
 * 4 messages in this time.
 */
const REST = 160;

/** The interval (ms) of places before any was measured: a channel of 25 messages a second. */
const INTERVAL = 40;

/** The playout is corrected within about this time (ms), by running faster or slower. */
const CORRECTION = 120;

/**
 * The slowest and the fastest playout: a movement at half and at twice its speed still looks like
 * one.
 */
const [SLOWEST, FASTEST] = [0.5, 2];

/**
 * A playout that is further behind (ms) does not catch up but goes there at once: the page was
 * hidden.
 */
const FAR_BEHIND = 1000;

/**
 * Time constant (ms) in which a correction of the curve fades in. A smaller one makes jumps, a
 * larger one makes errors (lab/motion).
 */
const EASE = 50;

interface Numbered extends Sample {
  readonly index: number;
}

/** Shows places that arrive at intervals, late, or not at all as one smooth movement. */
export class Playout {
  readonly #delay: Delay;
  #samples: Numbered[] = [];
  #interval = INTERVAL;
  /** The time of the playout at `#shownAt`. It goes on after the last place is reached. */
  #clock = -Infinity;
  #shownAt = -Infinity;
  /**
   * The remaining difference between the shown place and the curve, as it was at `#correctedAt`.
   */
  #offset: Place = [];
  #correctedAt = 0;
  /** The bounding box of the kept places. */
  #least: Place = [];
  #most: Place = [];
  /** The time of the last computed frame. `#shown` is its place. */
  #frame: number | undefined;
  #shown: Place | undefined;

  constructor(options: PlayoutOptions = {}) {
    checkOptions(options, PLAYOUT, "`Playout`");
    const { minDelay = 0, maxDelay = 300 } = options;
    this.#delay = new Delay(minDelay, Math.max(minDelay, maxDelay));
  }

  /**
   * Takes a place that arrived at `now` and was made `age` milliseconds before. `index` counts its
   * sender's messages (`index` of a message); with it, places may come in any order, and a lost
   * place can be distinguished from a rest. Returns true if this is the newest place, false if it
   * is late or not a place.
   */
  push(place: Place, now: number, age = 0, index?: number): boolean {
    checkIndex(index);
    if (!isPlace(place) || !Number.isFinite(now)) return false;
    const newest = this.#samples.at(-1);
    const number = index ?? (newest?.index ?? 0) + 1;
    const step = newest ? distance(number, newest.index) : 1;
    const isAlike = newest?.place.length === place.length;
    if (step <= 0) {
      if (isAlike) this.#insert({ place, index: number, time: now - ageOf(age) });
      return false;
    }
    // A place with other dimensions belongs to another thing.
    const last = isAlike ? newest : undefined;
    if (!last) this.#samples = [];
    const before = last && this.at(now);
    // Times are estimates, but the order is certain.
    const time = Math.max(now - ageOf(age), (last?.time ?? -Infinity) + 1);
    if (last) this.#join(last, time, index === undefined ? undefined : step);
    const gap = time - (this.#samples.at(-1)?.time ?? time);
    this.#samples.push({ place, index: number, time });
    this.#delay.note(Math.max(now - time, 0) + gap);
    if (!last) [this.#clock, this.#shownAt, this.#offset] = [Math.min(now - this.#delay.current, time), now, []];
    // A hidden page does not show anything, while places continue to arrive.
    if (this.#samples.length > KEPT) this.#samples.splice(0, this.#samples.length - KEPT);
    this.#frame = undefined;
    if (before) this.#correct(before, now);
    return true;
  }

  /**
   * The place to show at `now`; undefined before the first place. The playout never goes back in
   * time.
   */
  at(now: number): Place | undefined {
    // Several parts of an application ask for the same frame.
    if (now === this.#frame) return this.#shown;
    const time = this.played(now);
    const curve = this.#on(time);
    const left = Math.exp(-Math.max(now - this.#correctedAt, 0) / EASE);
    const isCorrected = !curve || this.#offset.length !== curve.length || left < 0.001;
    // The correction stays within the bounding box, where places have been.
    this.#shown = isCorrected
      ? curve
      : curve.map((value, i) =>
          clamp(value + (this.#offset[i] ?? 0) * left, this.#least[i] ?? value, this.#most[i] ?? value),
        );
    this.#frame = now;
    return this.#shown;
  }

  /** The time at which the place that is shown at `now` was made. It never goes back. */
  played(now: number): number {
    return Math.min(this.clock(now), this.#samples.at(-1)?.time ?? -Infinity);
  }

  /**
   * The same, but it continues while the movement rests at its last place: the time of a {@link
   * Trace}, which fades then.
   */
  clock(now: number): number {
    checkTime(now);
    if (!(now > this.#shownAt)) return this.#clock;
    const passed = now - this.#shownAt;
    this.#shownAt = now;
    const target = now - this.#delay.current;
    const behind = target - this.#clock - passed;
    if (behind > FAR_BEHIND) this.#clock = target;
    else this.#clock += passed * clamp(1 + behind / CORRECTION, SLOWEST, FASTEST);
    // Only the places around `#clock` are still needed.
    while ((this.#samples[2]?.time ?? Infinity) <= this.#clock) this.#samples.shift();
    return this.#clock;
  }

  /** True if the last place has been reached. */
  isSettled(now: number): boolean {
    const newest = this.#samples.at(-1);
    const isCorrected = this.#offset.length === 0 || now - this.#correctedAt > 7 * EASE;
    return !newest || (this.played(now) >= newest.time && isCorrected);
  }

  /** The playout delay in milliseconds that jitter and loss require now. */
  get delay(): number {
    return this.#delay.current;
  }

  /**
   * Decides whether the movement rested since the last place. `step` is 1 if no message was lost
   * between, undefined if unknown.
   */
  #join(last: Numbered, time: number, step: number | undefined): void {
    const gap = time - last.time;
    const moving = this.#interval * clamp(step ?? 1, 1, 2 * KEPT);
    const rested = step === undefined ? gap > REST : gap > 2 * moving;
    if (rested) {
      const start = time - moving;
      this.#samples.push({ place: last.place, index: last.index, time: start });
      // A jump of the playout is invisible while the movement rests.
      if (this.#clock >= last.time) this.#clock = clamp(this.#shownAt - this.#delay.current, last.time, start);
    } else if (gap < REST) this.#interval += (gap / (step ?? 1) - this.#interval) / 8;
  }

  /** Inserts a late place into the curve if the playout has not passed it yet. */
  #insert(late: Numbered): void {
    const at = this.#samples.findIndex(({ index }) => distance(late.index, index) <= 0);
    const [to, from] = [this.#samples[at], this.#samples[at - 1]];
    if (!to || !from || to.index === late.index || to.index === from.index) return;
    const time = clamp(late.time, from.time, to.time);
    if (time <= this.#clock || time === from.time || time === to.time) return;
    const before = this.at(this.#shownAt);
    this.#samples.splice(at, 0, { ...late, time });
    this.#frame = undefined;
    if (before) this.#correct(before, this.#shownAt);
  }

  /** Starts to fade out the difference between the place that was shown and the changed curve. */
  #correct(before: Place, now: number): void {
    const curve = this.#on(this.played(now));
    if (!curve) return;
    this.#offset = before.some((value, i) => value !== curve[i]) ? add(before, curve, -1) : [];
    if (this.#offset.length === 0) return;
    this.#correctedAt = now;
    const reduced = (by: (a: number, b: number) => number): Place =>
      curve.map((value, i) => this.#samples.reduce((all, { place }) => by(all, place[i] ?? all), value));
    [this.#least, this.#most] = [reduced(Math.min), reduced(Math.max)];
  }

  /** The place on the curve at a time. */
  #on(time: number): Place | undefined {
    let next = 0;
    while ((this.#samples[next]?.time ?? Infinity) <= time) next++;
    const to = this.#samples[next];
    const from = this.#samples[next - 1];
    if (to && from) return between(this.#samples[next - 2], from, to, this.#samples[next + 1], time);
    return (to ?? this.#samples.at(-1))?.place;
  }
}
