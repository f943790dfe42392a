/**
 * Motion: shows the movements of other participants smoothly although messages are late or lost,
 * and own actions at once. The classes are pure: the time is an argument. The functions run them on
 * channels.
 *
 * @packageDocumentation
 */

export type { TracePoint, TraceOptions } from "./motion/trace.js";
export type { Arrival, FollowedView, FollowersOptions, FollowMode, TraceView } from "./motion/followers.js";
export type { DueAction, LocalLagOptions } from "./motion/lag.js";
export type { LineOptions } from "./motion/line.js";
export type {
  Follow,
  FollowOptions,
  LocalLagChannel,
  LocalLagChannelOptions,
  Predicted,
  PredictOptions,
  Read,
  ReckonedSender,
  SendReckonedOptions,
} from "./motion/live.js";
export type { Place } from "./motion/numbers.js";
export type { PlayoutOptions } from "./motion/playout.js";
export type { PredictionOptions } from "./motion/prediction.js";
export type { Reckoned, ReckonedOptions, ReckoningOptions } from "./motion/reckon.js";
export { Damped } from "./motion/damped.js";
export { Followers } from "./motion/followers.js";
export { LocalLag } from "./motion/lag.js";
export { Line } from "./motion/line.js";
export { follow, localLag, predict, sendReckoned } from "./motion/live.js";
export { Playout } from "./motion/playout.js";
export { Prediction } from "./motion/prediction.js";
export { reckoned, ReckonedPlace, Reckoning } from "./motion/reckon.js";
export { Trace } from "./motion/trace.js";
