/** Which shared data a room has, for `groupwire/devtools`. */

import type { Room } from "../api.js";
import type { SharedControls } from "./shared.js";

/** Shared data that are open in a room. */
export interface Opened extends SharedControls {
  /** The maps, lists and other data, by their names. */
  readonly views: Readonly<Record<string, unknown>>;
}

/** The shared data of each room, by the names of their channels. */
export const OPENED = new WeakMap<Room, Readonly<Record<string, Opened>>>();
