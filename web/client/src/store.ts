/**
 * A room as stores, for user interface frameworks: the basis of the bindings for React, Vue, Svelte
 * and Solid. Connections are counted and shared, and opened only when a part of a page shows the
 * room.
 *
 * @packageDocumentation
 */

export type { InputOf, ValueOf } from "./store/channels.js";
export type { RoomOptions } from "./store/connection.js";
export type { Others, RoomStatus, Self, Sources, Undoing } from "./store/handle.js";
export type { By } from "./store/people.js";
export type { Positions } from "./store/positions.js";
export type { Change } from "./store/reads.js";
export type { IsEqual, Select, Source, Store } from "./store/selection.js";
export { shallow } from "./store/equal.js";
export { RoomHandle, undoingOf, whole } from "./store/handle.js";
export { peopleOf } from "./store/people.js";
export { Selection } from "./store/selection.js";
