/**
 * Measures how far behind a board is. At every moment a board shows the newest position that has
 * arrived. The position is true until the next one is made; from then on the board is behind. All
 * times are milliseconds of one clock, because the sender and both receivers are in one page.
 */

/** The numbers cover this time (ms). */
export const WINDOW = 20_000;

/**
 * The errors are sampled on this grid (ms), whenever the page runs, so that pauses of the page do
 * not change the samples.
 */
export const STEP = 10;

/** A longer time (ms) without a new position is visible as a stop. */
export const STALL = 100;

export interface Numbers {
  /** The seconds that the numbers cover. */
  readonly seconds: number;
  /** Milliseconds; undefined before the first position arrived. */
  readonly median: number | undefined;
  /** The error that is exceeded in one of a hundred moments. */
  readonly p99: number | undefined;
  readonly arrivalsPerSecond: number;
  /** How often nothing new arrived for more than {@link STALL}. */
  readonly stalls: number;
}

/**
 * The times when positions were made, and how long the page itself was stopped, which does not
 * count.
 */
export class Made {
  private readonly times: { readonly time: number; readonly paused: number }[] = [];
  private paused = 0;

  add(time: number): void {
    this.times.push({ time, paused: this.paused });
    if (this.times.length > KEPT) this.times.shift();
  }

  pause(duration: number): void {
    this.paused += duration;
  }

  /** For how long, at `now`, a newer position than the one of `time` has existed. */
  behind(time: number, now: number): number {
    let since = now;
    for (let i = this.times.length - 1; i >= 0; i -= 1) {
      const made = this.times[i];
      if (!made || made.time <= time) break;
      since = made.time + this.paused - made.paused;
    }
    return Math.max(now - since, 0);
  }
}

/** Limit of times: more than are made within the window. */
const KEPT = 2000;

export class Timeline {
  /** The errors on the grid, oldest first; the last one belongs to `read`. */
  private readonly ages: number[] = [];
  /** The arrival times of new positions, oldest first. */
  private readonly arrivals: number[] = [];
  private stalls: number[] = [];
  private made: number | undefined;
  /** The last point of the grid that has been sampled. */
  private read = 0;
  private began: number | undefined;
  /** The arrival time of the newest position, moved on by the page's own pauses. */
  private last = 0;

  constructor(private readonly sent: Made) {}

  /** The error in time at `now`. */
  behind(now: number): number {
    return this.made === undefined ? 0 : this.sent.behind(this.made, now);
  }

  /** The page itself was stopped from `from` to `now`, so that time is not sampled. */
  skip(from: number, now: number): void {
    this.advance(from);
    this.read = Math.max(this.read, Math.floor(now / STEP) * STEP);
    this.last += now - from;
  }

  /** A position that was made at `made` has arrived at `now`. Returns true if it is the newest. */
  arrive(now: number, made: number): boolean {
    this.advance(now);
    if (this.made !== undefined && made <= this.made) return false;
    if (this.made !== undefined && now - this.last > STALL) this.stalls.push(now);
    this.last = now;
    if (this.made === undefined) this.read = Math.floor(now / STEP) * STEP;
    this.made = made;
    this.arrivals.push(now);
    this.began ??= now;
    return true;
  }

  /** Samples all errors until `now`. */
  advance(now: number): void {
    if (this.made === undefined) return;
    // After a long stop of the page, only the last window is sampled.
    this.read = Math.max(this.read, Math.floor((now - WINDOW) / STEP) * STEP);
    for (let at = this.read + STEP; at <= now; at += STEP) {
      this.ages.push(this.behind(at));
      this.read = at;
    }
    this.ages.splice(0, this.ages.length - WINDOW / STEP);
    while ((this.arrivals[0] ?? now) < now - WINDOW) this.arrivals.shift();
    while ((this.stalls[0] ?? now) < now - WINDOW) this.stalls.shift();
  }

  /** Removes all samples; the newest position stays. */
  reset(now: number): void {
    this.advance(now);
    this.ages.length = 0;
    this.stalls.length = 0;
    this.arrivals.splice(0, this.arrivals.length - 1);
    this.began = this.made === undefined ? undefined : now;
  }

  numbers(now: number): Numbers {
    this.advance(now);
    const { ages, began } = this;
    const seconds = began === undefined ? 0 : Math.min(now - began, WINDOW) / 1000;
    const lasts = this.made !== undefined && now - this.last > STALL ? 1 : 0;
    const counted = this.arrivals.filter((at) => at > now - seconds * 1000).length;
    return {
      seconds: (ages.length * STEP) / 1000,
      median: quantile(ages, 0.5),
      p99: quantile(ages, 0.99),
      arrivalsPerSecond: seconds > 0.5 ? counted / seconds : 0,
      stalls: this.stalls.length + lasts,
    };
  }

  /**
   * The largest error in each of `count` equal parts of the window, oldest first; undefined where
   * there is no sample.
   */
  peaks(count: number): (number | undefined)[] {
    const per = WINDOW / STEP / count;
    const missing = WINDOW / STEP - this.ages.length;
    return Array.from({ length: count }, (_, part) => {
      const [from, to] = [part, part + 1].map((end) => Math.max(Math.round(end * per) - missing, 0));
      const ages = this.ages.slice(from, to);
      return ages.length > 0 ? Math.max(...ages) : undefined;
    });
  }
}

/** The smallest value that at least this share of `values` does not exceed. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)];
}
