/**
 * Web components for real-time collaboration. Importing this module registers all of them; each is
 * a module of its own, too, such as `groupwire-widgets/cursors`.
 *
 * @packageDocumentation
 */

export type { Person, PersonOf } from "./core/people.js";
export type { AnyRoom, JoinedRoom, RetainedRoom } from "./core/room.js";
export type { Settings } from "./core/settings.js";
export type { Texts } from "./core/texts.js";
export { configure } from "./core/settings.js";
export * from "./avatars.js";
export * from "./cursors.js";
export * from "./follow.js";
export * from "./lock.js";
export * from "./minimap.js";
export * from "./selection.js";
export * from "./status.js";
export * from "./typing.js";
