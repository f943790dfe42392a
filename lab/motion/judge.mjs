// Judges the shown places of a pointer by its true places.

/**
 * The lags that are tried, in milliseconds: coarse steps up to the largest, then fine steps around
 * the best.
 */
const [LARGEST, COARSE, FINE] = [1500, 25, 5];

/**
 * Only frames count that have an event up to `BEFORE` ms before or `AFTER` ms after: every method
 * shows a rest well.
 */
const [BEFORE, AFTER] = [700, 300];

/**
 * A frame jumps if its step exceeds `FACTOR` times the longest true step within `AROUND` ms by more
 * than `PIXELS`.
 */
const [FACTOR, PIXELS, AROUND] = [1.5, 8, 150];

/**
 * A frame stops if its step is below `SHARE` of the shortest true step within `NEAR` ms, and that
 * true step is above `FAST` px.
 */
const [SHARE, FAST, NEAR] = [0.1, 2, 50];

const FRAME = 1000 / 60;

export class Judge {
  #recordings = [];

  /** Adds the shown places of a recording: `{ now, x, y }` for each frame. */
  add(recording, frames) {
    const isMoving = movements(recording);
    this.#recordings.push({ recording, frames, active: frames.filter(({ now }) => isMoving(now)) });
  }

  result() {
    const lag = this.#bestLag();
    const [shifted, now] = [this.errors(lag), this.errors(0)];
    const { jumps, stops, minutes } = this.#glitches(lag);
    return {
      lag_ms: lag,
      error_mean: round(mean(shifted)),
      error_p95: round(percentile(shifted, 0.95)),
      now_mean: round(mean(now)),
      now_p95: round(percentile(now, 0.95)),
      jumps_per_min: round(jumps / minutes),
      stops_per_min: round(stops / minutes),
    };
  }

  /** The mean error of each second of the first recording, at the best lag. */
  series() {
    const lag = this.#bestLag();
    const [{ recording, active }] = this.#recordings;
    const seconds = new Map();
    for (const frame of active) {
      const second = Math.floor(frame.now / 1000);
      const errors = seconds.get(second) ?? [];
      seconds.set(second, errors);
      errors.push(errorOf(recording, frame, lag));
    }
    return [...seconds].map(([second, errors]) => ({ second, error: round(mean(errors)) }));
  }

  #best;

  #bestLag() {
    const sum = (lag) => {
      let total = 0;
      for (const { recording, active } of this.#recordings)
        for (const frame of active) total += errorOf(recording, frame, lag);
      return total;
    };
    const best = (from, to, step) => {
      const lags = Array.from({ length: (to - from) / step + 1 }, (_, i) => from + step * i);
      return lags.map((lag) => [sum(lag), lag]).reduce((one, other) => (other[0] < one[0] ? other : one))[1];
    };
    if (this.#best === undefined) {
      const coarse = best(0, LARGEST, COARSE);
      this.#best = best(Math.max(coarse - COARSE, 0), coarse + COARSE, FINE);
    }
    return this.#best;
  }

  /**
   * The distances, in all frames around movements, between the drawn place and the true place `lag`
   * milliseconds before.
   */
  errors(lag) {
    return this.#recordings.flatMap(({ recording, active }) => active.map((frame) => errorOf(recording, frame, lag)));
  }

  #glitches(lag) {
    let [jumps, stops, count] = [0, 0, 0];
    for (const { recording, frames, active } of this.#recordings) {
      const isActive = new Set(active.map(({ now }) => now));
      for (let i = 1; i < frames.length; i++) {
        const { now, x, y } = frames[i];
        if (!isActive.has(now)) continue;
        count++;
        const step = Math.hypot(x - frames[i - 1].x, y - frames[i - 1].y);
        const [, most] = trueSteps(recording, now - lag, AROUND);
        if (step > FACTOR * most + PIXELS) jumps++;
        const [least] = trueSteps(recording, now - lag, NEAR);
        if (least > FAST && step < SHARE * least) stops++;
      }
    }
    return { jumps, stops, minutes: (count * FRAME) / 60_000 };
  }
}

/** Returns a function that tells whether the pointer moves shortly before or after a time. */
function movements({ events }) {
  let at = 0;
  return (now) => {
    while (events[at + 1]?.time <= now + AFTER) at++;
    return events[at].time >= now - BEFORE;
  };
}

function errorOf(recording, { now, x, y }, lag) {
  const [trueX, trueY] = recording.at(now - lag);
  return Math.hypot(x - trueX, y - trueY);
}

/** The shortest and the longest true step between two frames, around a time. */
function trueSteps(recording, time, around) {
  let [least, most] = [Infinity, 0];
  for (let at = time - around; at <= time + around; at += FRAME) {
    const [[x, y], [lastX, lastY]] = [recording.at(at), recording.at(at - FRAME)];
    const step = Math.hypot(x - lastX, y - lastY);
    [least, most] = [Math.min(least, step), Math.max(most, step)];
  }
  return [least, most];
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

export function percentile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

function round(value) {
  return Math.round(value * 100) / 100;
}
