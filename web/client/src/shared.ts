/**
 * Shared data: maps, lists, counters and reducers that all participants of a room see alike. Changes are applied at once, and
 * the room's order decides.
 *
 * @packageDocumentation
 */

export type { Invalid, Versions } from "./schema/check.js";
export type { StandardSchema } from "./schema/standard.js";
export type { SharedList, SharedMap } from "./shared/cells.js";
export type { Definition, Shown } from "./shared/context.js";
export type { Lost, Shared, SharedControls, SharedData, SharedOptions } from "./shared/shared.js";
export type { ReducerOptions, SharedCounter, SharedReducer } from "./shared/values.js";
export { list, map } from "./shared/cells.js";
export { shared } from "./shared/shared.js";
export { counter, reducer } from "./shared/values.js";
