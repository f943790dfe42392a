/** The options of simulations, and their checks. */

import type { Direction, NetworkConditions } from "./path.js";
import type { RoomSettings } from "./room-module.js";
import type { Identity, RestartOptions, Rights } from "./server.js";
import type { JoinOptions, SettleOptions, SimulationOptions } from "./simulate.js";
import {
  boolean,
  callable,
  checkOptions,
  isListOf,
  must,
  numberFrom,
  oneOf,
  textOf,
  wholeFrom,
  type Check,
  type Checks,
} from "../arguments.js";
import { CONNECT, roomName, transportList } from "../options.js";

/** Simulated milliseconds: at most thirty years, so that every simulation ends. */
export const duration = numberFrom(0, 1e12);

/** The same, or Infinity. */
export const anyDuration = numberFrom(0, Infinity);

/** More participants than this would take hours. */
export const participants = wholeFrom(0, 10_000);

export const seed = wholeFrom(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

/** How many times a test runs, and lines of the log. */
export const count = wholeFrom(0, Number.MAX_SAFE_INTEGER);

const DIRECTION: Checks<Direction> = {
  delay: duration,
  jitter: duration,
  loss: numberFrom(0, 1),
  // A byte in a day.
  rate: numberFrom(1 / 86_400, Infinity),
};

export const NETWORK: Checks<NetworkConditions> = { ...DIRECTION, up: options(DIRECTION), down: options(DIRECTION) };

const SETTINGS: Checks<RoomSettings> = {
  durability: oneOf("memory", "local", "cluster"),
  tick: duration,
  away: duration,
  snapshotAfter: wholeFrom(1, 2 ** 31),
  maxLogBytes: anyDuration,
  maxFormer: wholeFrom(0, 2 ** 31),
};

// Channel names are separated by these where rights are written.
const patterns = must("a list of patterns of channel names, without tabs and line breaks", (value) => {
  return isListOf(value, (one) => typeof one === "string" && !/[\t\r\n]/.test(one));
});

const RIGHTS: Checks<Rights> = { publish: patterns, subscribe: patterns, qos: patterns, snapshot: patterns };

export const IDENTITY: Checks<Identity> = { user: textOf(0, 256), rights: options(RIGHTS) };

export const SIMULATION: Checks<SimulationOptions> = {
  ...NETWORK,
  ...SETTINGS,
  seed,
  transports: transportList,
  authenticate: callable,
  fakeTimers: boolean,
};

export const JOIN: Checks<JoinOptions> = {
  ...NETWORK,
  ...IDENTITY,
  name: textOf(1, 256),
  room: roomName,
  presence: CONNECT.presence,
  token: CONNECT.token,
  transports: transportList,
};

export const SETTLE: Checks<SettleOptions> = { quiet: duration, limit: duration };
export const RESTART: Checks<RestartOptions> = { downFor: duration, keepsState: boolean, goodbye: boolean };

/** The check of an option that has options itself. */
function options(checks: Readonly<Record<string, Check>>): Check {
  return (value, argument) => checkOptions(value, checks, argument);
}
