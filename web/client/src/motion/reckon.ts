/**
 * Dead reckoning: a sender sends the place and velocity of something, all receivers extrapolate
 * from them, and the sender sends again only when this prediction errs by more than a threshold.
 * From distributed simulation (IEEE 1278, DIS); new states are blended in by projective velocity
 * blending (Murphy, "Believable dead reckoning for networked games", in Game Engine Gems 2, 2011).
 */

import { check, checkOptions, must } from "../arguments.js";
import { add, ageOf, apart, checkIndex, checkTime, clamp, distance, FAR, isPlace, type Place } from "./numbers.js";
import { place as placeOf, RECKONED, RECKONING } from "./options.js";

/** The state that a sender sends: a place, and a velocity in units per second. */
export interface Reckoned {
  readonly p: Place;
  readonly v: Place;
}

/** Options of {@link Reckoning}. */
export interface ReckoningOptions {
  /** The largest error, in the units of places, with which receivers may show the object. */
  readonly error: number;
  /**
   * A prediction continues for this time (ms), then it stops: a pointer whose last message was lost
   * does not fly away. All participants use the same value. Default: 400.
   */
  readonly horizon?: number;
  /**
   * The state is told again after this time (ms), for those who have lost it. Default: 1000; DIS
   * has 5000.
   */
  readonly heartbeat?: number;
  /** Decimal places of positions and velocities that are sent. Default: 1. */
  readonly digits?: number;
}

/**
 * The time (ms) over which velocity is measured: long enough to even out a mouse's whole pixels,
 * short enough to follow a turn.
 */
const MEASURED = 60;

/**
 * After this time (ms) without a new place something is at rest: a mouse that moves reports more
 * often.
 */
const STILL = 30;

/**
 * Limit of own places: more than a mouse that reports 1000 times a second makes while velocity is
 * measured.
 */
const KEPT = 128;

/**
 * The place that a state predicts after `passed` milliseconds. Sender and receivers compute the
 * same.
 */
export function reckoned(state: Reckoned, passed: number, horizon = 400): number[] {
  reckonedState(state, "`state`");
  checkTime(passed);
  checkTime(horizon);
  return add(state.p, state.v, clamp(passed, 0, horizon) / 1000);
}

/** The sending end. Call `update` for each movement, and `rest` in each frame while `isMoving`. */
export class Reckoning {
  readonly #error: number;
  readonly #horizon: number;
  readonly #heartbeat: number;
  readonly #scale: number;
  readonly #recent: { readonly time: number; readonly place: Place }[] = [];
  #told: { readonly state: Reckoned; readonly time: number } | undefined;

  constructor(options: ReckoningOptions) {
    checkOptions(options, RECKONING, "`Reckoning`");
    const { error, horizon = 400, heartbeat = 1000, digits = 1 } = options;
    check(error, RECKONING.error, "`error` of `Reckoning`");
    this.#error = error;
    this.#horizon = horizon;
    this.#heartbeat = heartbeat;
    this.#scale = 10 ** digits;
  }

  /**
   * Records the place at `now`; returns the state to send, if the prediction errs by more than the
   * threshold or a heartbeat is due.
   */
  update(place: Place, now: number): Reckoned | undefined {
    if (!isPlace(place) || !Number.isFinite(now)) return undefined;
    if (place.length !== this.#recent.at(-1)?.place.length) this.#recent.length = 0;
    this.#note(place, now);
    const isDue = now - (this.#told?.time ?? -Infinity) >= this.#heartbeat;
    if (!isDue && this.errorAt(place, now) <= this.#error) return undefined;
    const state = { p: this.#rounded(place), v: this.#rounded(this.#velocity(now)) };
    this.#told = { state, time: now };
    return state;
  }

  /**
   * Call it while nothing moves; returns the state to send, as `update` does. It does nothing
   * within `STILL` of the last `update`: a mouse that is moving may be between two reports.
   */
  rest(now: number): Reckoned | undefined {
    checkTime(now);
    const last = this.#recent.at(-1);
    return last && now - last.time > STILL ? this.update(last.place, now) : undefined;
  }

  /**
   * The error of the receivers' prediction at `now` without further messages; Infinity before the
   * first one.
   */
  errorAt(place: Place, now: number): number {
    placeOf(place, "`place`");
    checkTime(now);
    if (this.#told?.state.p.length !== place.length) return Infinity;
    return apart(reckoned(this.#told.state, now - this.#told.time, this.#horizon), place);
  }

  /** True while receivers predict a movement. */
  isMoving(now: number): boolean {
    checkTime(now);
    if (!this.#told) return false;
    return now - this.#told.time < this.#horizon && this.#told.state.v.some((value) => value !== 0);
  }

  #note(place: Place, now: number): void {
    const last = this.#recent.at(-1);
    if (last && last.time >= now) this.#recent.pop();
    this.#recent.push({ place: [...place], time: Math.max(now, last?.time ?? now) });
    // Keeps one place from before the measured time.
    while ((this.#recent[1]?.time ?? Infinity) <= now - MEASURED || this.#recent.length > KEPT) this.#recent.shift();
  }

  /** The velocity of the last places, in units per second. */
  #velocity(now: number): Place {
    const [first, last] = [this.#recent[0], this.#recent.at(-1)];
    if (!first || !last) return [];
    const moved = this.#recent.findLast(({ place }) => apart(place, last.place) > 0);
    const isStill = !moved || now - moved.time > STILL || last.time <= first.time;
    return last.place.map((value, i) =>
      isStill ? 0 : clamp(((value - (first.place[i] ?? value)) / (last.time - first.time)) * 1000, -FAR, FAR),
    );
  }

  #rounded(place: Place): Place {
    return place.map((value) => Math.round(value * this.#scale) / this.#scale);
  }
}

/** Options of {@link ReckonedPlace}. */
export interface ReckonedOptions {
  /** As the sender has it: see {@link ReckoningOptions.horizon}. */
  readonly horizon?: number;
  /** Milliseconds in which a new state is worked in. Default: 100. */
  readonly blend?: number;
}

/** The receiving end. */
export class ReckonedPlace {
  readonly #horizon: number;
  readonly #blend: number;
  #known: { readonly state: Reckoned; readonly time: number; readonly index: number } | undefined;
  /** The shown place and velocity at the time when the newest state arrived. */
  #from: { readonly state: Reckoned; readonly time: number } | undefined;

  constructor(options: ReckonedOptions = {}) {
    checkOptions(options, RECKONED, "`ReckonedPlace`");
    const { horizon = 400, blend = 100 } = options;
    this.#horizon = horizon;
    this.#blend = blend;
  }

  /**
   * Takes a state that was sent `age` ms before `now`. Returns false if it is invalid, or a newer
   * state came before it.
   */
  push(state: unknown, now: number, age = 0, index?: number): boolean {
    checkIndex(index);
    if (!isReckoned(state) || !Number.isFinite(now)) return false;
    const number = index ?? (this.#known?.index ?? 0) + 1;
    if (this.#known && distance(number, this.#known.index) <= 0) return false;
    const shown = this.at(now);
    const v = this.#velocity(now);
    this.#from = shown?.length === state.p.length ? { state: { p: shown, v }, time: now } : undefined;
    this.#known = { state, time: now - ageOf(age), index: number };
    return true;
  }

  /** The place to show at `now`; undefined before the first state. */
  at(now: number): number[] | undefined {
    if (!this.#known || !Number.isFinite(now)) return undefined;
    const target = reckoned(this.#known.state, now - this.#known.time, this.#horizon);
    const passed = this.#from ? Math.max(now - this.#from.time, 0) : Infinity;
    if (!this.#from || passed >= this.#blend) return target;
    // Projects the old place with a velocity that approaches the new one, and blends it with the
    // new path.
    const share = passed / this.#blend;
    const { p, v } = this.#from.state;
    const velocity = add(v, add(this.#velocityOf(now), v, -1), share);
    const projected = add(p, velocity, passed / 1000);
    return add(projected, add(target, projected, -1), share);
  }

  /** True if nothing moves until another state comes. */
  isSettled(now: number): boolean {
    checkTime(now);
    if (!this.#known) return true;
    const isStill = this.#known.state.v.every((value) => value === 0) || now - this.#known.time >= this.#horizon;
    return isStill && now - (this.#from?.time ?? -Infinity) >= this.#blend;
  }

  /** The velocity of the state. */
  #velocityOf(now: number): Place {
    const { state, time } = this.#known ?? { state: { v: [] }, time: 0 };
    return now - time < this.#horizon ? state.v : state.v.map(() => 0);
  }

  /** The velocity that is shown. */
  #velocity(now: number): Place {
    const v = this.#velocityOf(now);
    if (!this.#from || now - this.#from.time >= this.#blend) return v;
    const share = Math.max(now - this.#from.time, 0) / this.#blend;
    return add(this.#from.state.v, add(v, this.#from.state.v, -1), share);
  }
}

/** True for a state that can be shown. Other programs wrote it. */
export function isReckoned(value: unknown): value is Reckoned {
  if (typeof value !== "object" || value === null) return false;
  const { p, v } = value as Partial<Reckoned>;
  return isPlace(p) && isPlace(v) && p.length === v.length;
}

const reckonedState = must("a place and a velocity, as `{ p: [x, y], v: [x, y] }`", isReckoned);
