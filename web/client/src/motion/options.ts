/** The options of motion, and their checks. */

import { callable, must, numberFrom, oneOf, wholeFrom, type Check, type Checks } from "../arguments.js";
import type { FollowersOptions } from "./followers.js";
import type { LocalLagOptions } from "./lag.js";
import type { LineOptions } from "./line.js";
import { isPlace } from "./numbers.js";
import type { PlayoutOptions } from "./playout.js";
import type { PredictionOptions } from "./prediction.js";
import type { ReckonedOptions, ReckoningOptions } from "./reckon.js";
import type { TraceOptions } from "./trace.js";

/** Milliseconds: an hour is more than anybody waits to see a movement. */
export const time = numberFrom(0, 3_600_000);
const anyNumber = numberFrom(0, Infinity);

export const place = must("a list of numbers, such as [x, y]", isPlace);

/** A room or a channel. */
export const withEvents: Check = must("one of groupwire", (value) => {
  return typeof (value as { readonly on?: unknown } | null | undefined)?.on === "function";
});

export const PLAYOUT: Checks<PlayoutOptions> = { minDelay: time, maxDelay: time };
export const RECKONED: Checks<ReckonedOptions> = { horizon: anyNumber, blend: time };
export const FOLLOWERS: Checks<FollowersOptions> = {
  ...PLAYOUT,
  ...RECKONED,
  mode: oneOf("curve", "reckon", "damped", "raw"),
  trace: numberFrom(1, 3_600_000),
};
export const TRACE: Checks<TraceOptions> = { length: FOLLOWERS.trace };
export const LINE: Checks<LineOptions> = { dimensions: wholeFrom(1, 64), reveal: time, limit: anyNumber };
export const LAG: Checks<LocalLagOptions> = { lag: time, limit: anyNumber };
export const PREDICTION: Checks<PredictionOptions<unknown, unknown>> = {
  init: () => {},
  step: callable,
  limit: anyNumber,
};
export const RECKONING: Checks<ReckoningOptions> = {
  error: anyNumber,
  horizon: anyNumber,
  heartbeat: anyNumber,
  digits: wholeFrom(0, 6),
};
