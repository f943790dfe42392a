/**
 * Shared data: maps, lists, counters, reducers, locks and turns with the same value for all
 * participants of a room. Changes are applied at once; the room's order decides conflicts.
 *
 * @packageDocumentation
 */

export type { Invalid, Versions } from "./schema/check.js";
export type { StandardSchema } from "./schema/standard.js";
export type { SharedList, SharedMap } from "./shared/cells.js";
export type { Definition, Shown } from "./shared/context.js";
export type { SharedLock, SharedTurns } from "./shared/holders.js";
export type { Lost, OpenOptions, Ordered, Shared, SharedControls, SharedData, SharedOptions } from "./shared/shared.js";
export type { ReducerOptions, SharedCounter, SharedReducer } from "./shared/values.js";
export { list, map } from "./shared/cells.js";
export { lock, turns } from "./shared/holders.js";
export { shared } from "./shared/shared.js";
export { counter, reducer } from "./shared/values.js";
