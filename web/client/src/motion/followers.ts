/**
 * The movements of other participants, one for each participant and key: their pointers, or the
 * objects that they drag.
 */

import type { Message } from "../api.js";
import { check, checkOptions } from "../arguments.js";
import { Damped } from "./damped.js";
import { ageOf, checkIndex, checkTime, distance, isPlace, type Place } from "./numbers.js";
import { FOLLOWERS } from "./options.js";
import { Playout, type PlayoutOptions } from "./playout.js";
import { isReckoned, ReckonedPlace, type Reckoned, type ReckonedOptions } from "./reckon.js";
import { Trace, type TracePoint } from "./trace.js";

/**
 * How a movement is shown. `curve`: smoothly through its places, with a delay that adapts ({@link
 * Playout}). `reckon`: predicted from places and velocities ({@link ReckonedPlace}). `damped`: by
 * plain easing. `raw`: as places arrive.
 */
export type FollowMode = "curve" | "reckon" | "damped" | "raw";

/** How the movements of others are followed: {@link Followers}. */
export interface FollowersOptions extends PlayoutOptions, ReckonedOptions {
  /** Default: `curve`. */
  readonly mode?: FollowMode;
  /** Milliseconds for which a trace is kept. Default: none. Only with the mode `curve`. */
  readonly trace?: number;
}

/** The fields of a message that describe its arrival. */
export type Arrival = Pick<Message, "sender" | "key" | "age" | "index">;

/** How a thing that another participant moves is shown now. */
export interface FollowedView {
  readonly sender: number;
  readonly key: string | undefined;
  readonly place: Place;
  /** True once the newest message said that it is gone, such as a pointer that left the page. */
  readonly isGone: boolean;
  /** Milliseconds since the newest place was made. */
  readonly rested: number;
}

/** How the trace of a pointer is shown now. */
export interface TraceView {
  readonly sender: number;
  readonly key: string | undefined;
  /** From the oldest point to the newest. */
  readonly points: readonly TracePoint[];
}

/**
 * Limit of keys of a participant: nobody moves more things at once. Beyond it, the one that moved
 * least recently is forgotten.
 */
const KEYS = 200;

interface Mover {
  push(value: Place, now: number, age?: number, index?: number): boolean;
  at(now: number): Place | undefined;
  isSettled(now: number): boolean;
}

interface Followed {
  readonly sender: number;
  readonly key: string | undefined;
  mover: Mover | ReckonedPlace;
  readonly trace: Trace | undefined;
  value: Place | Reckoned | undefined;
  index: number;
  isGone: boolean;
  movedAt: number;
}

/** Follows the movements of all others, one for each participant and key. */
export class Followers {
  readonly #options: FollowersOptions;
  /** The followed objects, by sender and then by key. */
  readonly #followed = new Map<number, Map<string | undefined, Followed>>();

  constructor(options: FollowersOptions = {}) {
    checkOptions(options, FOLLOWERS, "`Followers`");
    this.#options = { ...options };
  }

  /**
   * Takes a place, or with the mode `reckon` a place with its velocity; null stands for the last
   * known place. `isGone`: the moving thing went away at this place. Returns false if the place is
   * late or invalid.
   */
  receive(arrival: Arrival, given: Place | Reckoned | null, now: number, isGone = given === null): boolean {
    check(arrival, "object", "`arrival`");
    const { sender, key, age, index } = arrival;
    checkIndex(index);
    const keys = this.#followed.get(sender) ?? new Map<string | undefined, Followed>();
    const known = keys.get(key);
    const value = given ?? known?.value;
    const isValid = this.#options.mode === "reckon" ? isReckoned(value) : isPlace(value);
    if (!isValid || !value || !Number.isFinite(now)) return false;
    // A participant that has moved many things, one after the other, goes on with another one.
    if (!known && keys.size >= KEYS) keys.delete([...keys].reduce((a, b) => (b[1].movedAt < a[1].movedAt ? b : a))[0]);
    const followed = known ?? this.#begin(sender, key, index);
    const isLate = known !== undefined && distance(index, known.index) <= 0;
    // A thing that comes back at another place did not move there, so it gets a new mover.
    if (!isLate && known?.isGone && !isGone) followed.mover = this.#mover();
    followed.trace?.add(value as Place, now, age, { isLate, isEnd: isGone });
    followed.mover.push(value as Place & Reckoned, now, age, index);
    if (isLate) return false;
    Object.assign(followed, { value, index, isGone, movedAt: now - ageOf(age) });
    this.#followed.set(sender, keys.set(key, followed));
    return true;
  }

  /** Forgets the movements of participants that are not present any more. */
  keep(isHere: (sender: number) => boolean): void {
    check(isHere, "function", "`isHere`");
    for (const sender of this.#followed.keys()) if (!isHere(sender)) this.#followed.delete(sender);
  }

  /** Forgets one thing that a participant moved, after it was dropped. */
  drop(sender: number, key?: string): void {
    this.#followed.get(sender)?.delete(key);
  }

  views(now: number): FollowedView[] {
    checkTime(now);
    const views: FollowedView[] = [];
    this.#each(({ sender, key, mover, isGone, movedAt }) => {
      const place = mover.at(now);
      if (place) views.push({ sender, key, place, isGone, rested: Math.max(now - movedAt, 0) });
    });
    return views;
  }

  traces(now: number): TraceView[] {
    checkTime(now);
    const traces: TraceView[] = [];
    this.#each(({ sender, key, mover, trace, isGone }) => {
      if (!trace || !(mover instanceof Playout)) return;
      const lines = trace.at(mover.clock(now), isGone ? undefined : mover.at(now));
      for (const points of lines) traces.push({ sender, key, points });
    });
    return traces;
  }

  /** Removes the traces of a participant whose movement is now shown in another form. */
  clearTraces(sender: number): void {
    for (const { trace } of this.#followed.get(sender)?.values() ?? []) trace?.clear();
  }

  /** True if nothing moves or fades until another message comes. */
  isSettled(now: number): boolean {
    checkTime(now);
    for (const keys of this.#followed.values())
      for (const { mover, trace } of keys.values()) {
        if (!mover.isSettled(now)) return false;
        if (trace && !trace.isGone(mover instanceof Playout ? mover.clock(now) : now)) return false;
      }
    return true;
  }

  #each(what: (followed: Followed) => void): void {
    for (const keys of this.#followed.values()) for (const followed of keys.values()) what(followed);
  }

  #begin(sender: number, key: string | undefined, index: number): Followed {
    const { mode = "curve", trace: length } = this.#options;
    const trace = length !== undefined && mode === "curve" ? new Trace({ length }) : undefined;
    return { sender, key, mover: this.#mover(), trace, value: undefined, index, isGone: false, movedAt: 0 };
  }

  #mover(): Mover | ReckonedPlace {
    const { mode, minDelay, maxDelay, horizon, blend } = this.#options;
    if (mode === "reckon") return new ReckonedPlace({ horizon, blend } as ReckonedOptions);
    if (mode === "damped" || mode === "raw") return new Newest(mode === "raw" ? 0 : undefined);
    return new Playout({ minDelay, maxDelay } as PlayoutOptions);
  }
}

/** Approaches the newest place, and leaves out late ones. */
class Newest extends Damped {
  #index: number | undefined;

  override push(place: Place, now: number, _age?: number, index = 0): boolean {
    if (this.#index !== undefined && distance(index, this.#index) <= 0) return false;
    this.#index = index;
    return super.push(place, now);
  }
}
