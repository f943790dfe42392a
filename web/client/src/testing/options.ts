/** The options of simulations, and their checks. */

import type { Direction, NetworkConditions } from "./path.js";
import type { RoomSettings } from "./room-module.js";
import type { Identity, RestartOptions, Rights } from "./server.js";
import type { JoinOptions, SettleOptions, SimulationOptions } from "./simulate.js";
import { checkOptions, must, type Rule, type Rules } from "../arguments.js";
import { checkRoomName, CONNECT, TRANSPORTS } from "../options.js";

/** Simulated milliseconds: at most thirty years, so that every simulation ends. */
export const DURATION: Rule = [0, 1e12];

/** A duration in ms, or Infinity. */
export const ANY_DURATION: Rule = [0, Infinity];

/** More participants than this would take hours. */
export const PARTICIPANTS: Rule = [0, 10_000, 1];

const SEED: Rule = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 1];

/** How many times a test runs, and lines of the log. */
export const COUNT: Rule = [0, Number.MAX_SAFE_INTEGER, 1];

const DIRECTION: Rules<Direction> = {
  delay: DURATION,
  jitter: DURATION,
  loss: [0, 1],
  // A byte in a day.
  rate: [1 / 86_400, Infinity],
};

export const NETWORK: Rules<NetworkConditions> = { ...DIRECTION, up: options(DIRECTION), down: options(DIRECTION) };

const SETTINGS: Rules<RoomSettings> = {
  durability: ["memory", "local", "cluster"],
  tick: DURATION,
  away: DURATION,
  snapshotAfter: [1, 2 ** 31, 1],
  maxLogBytes: ANY_DURATION,
  maxFormer: [0, 2 ** 31, 1],
};

// Channel names are separated by these where rights are written.
const patterns: Rule = {
  each: must("a pattern of channel names, without tabs and line breaks", (one) => {
    return typeof one === "string" && !/[\t\r\n]/.test(one);
  }),
};

const RIGHTS: Rules<Rights> = { publish: patterns, subscribe: patterns, qos: patterns, snapshot: patterns };

export const IDENTITY: Rules<Identity> = { user: 256, rights: options(RIGHTS) };

export const SIMULATION: Rules<SimulationOptions> = {
  ...NETWORK,
  ...SETTINGS,
  seed: SEED,
  transports: TRANSPORTS,
  authenticate: "function",
  fakeTimers: "boolean",
  onPacket: "function",
};

export const JOIN: Rules<JoinOptions> = {
  ...NETWORK,
  ...IDENTITY,
  name: checkRoomName,
  room: checkRoomName,
  presence: CONNECT.presence,
  token: CONNECT.token,
  transports: TRANSPORTS,
};

export const SETTLE: Rules<SettleOptions> = { quiet: DURATION, limit: DURATION };
export const RESTART: Rules<RestartOptions> = { downFor: DURATION, keepsState: "boolean", goodbye: "boolean" };

/** The check of an option that has options itself. */
function options(rules: Readonly<Record<string, Rule>>): Rule {
  return (value, argument) => checkOptions(value, rules, argument);
}
