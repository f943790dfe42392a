/** The options of motion, and their checks. */

import { must, type Rule, type Rules } from "../arguments.js";
import type { FollowersOptions } from "./followers.js";
import type { LocalLagOptions } from "./lag.js";
import type { LineOptions } from "./line.js";
import { isPlace } from "./numbers.js";
import type { PlayoutOptions } from "./playout.js";
import type { PredictionOptions } from "./prediction.js";
import type { ReckonedOptions, ReckoningOptions } from "./reckon.js";
import type { TraceOptions } from "./trace.js";

/** Milliseconds: an hour is more than anybody waits to see a movement. */
export const TIME: Rule = [0, 3_600_000];
const ANY: Rule = [0, Infinity];

export const place = must("a list of numbers, such as [x, y]", isPlace);

/** A room or a channel. */
export const withEvents = must("one of groupwire", (value) => {
  return typeof (value as { readonly on?: unknown } | null | undefined)?.on === "function";
});

export const PLAYOUT: Rules<PlayoutOptions> = { minDelay: TIME, maxDelay: TIME };
export const RECKONED: Rules<ReckonedOptions> = { horizon: ANY, blend: TIME };
export const FOLLOWERS: Rules<FollowersOptions> = {
  ...PLAYOUT,
  ...RECKONED,
  mode: ["curve", "reckon", "damped", "raw"],
  trace: [1, 3_600_000],
};
export const TRACE: Rules<TraceOptions> = { length: FOLLOWERS.trace };
export const LINE: Rules<LineOptions> = { dimensions: [1, 64, 1], reveal: TIME, limit: ANY };
export const LAG: Rules<LocalLagOptions> = { lag: TIME, limit: ANY };
export const PREDICTION: Rules<PredictionOptions<unknown, unknown>> = {
  init: () => {},
  step: "function",
  limit: ANY,
};
export const RECKONING: Rules<ReckoningOptions> = {
  error: ANY,
  horizon: ANY,
  heartbeat: ANY,
  digits: [0, 6, 1],
};
