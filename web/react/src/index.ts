"use client";
/**
 * Rooms of Groupwire in React. A component renders only if a value that it reads has changed.
 *
 * @packageDocumentation
 */

import type { DefinedRoom, RoomDefinition } from "groupwire/schema";
import { makeHooks } from "./hooks.js";
import { RoomProvider as Provider, useHandle } from "./provider.js";
import type { Hooks } from "./types.js";

export type { Hooks, RoomProviderProps, Send } from "./types.js";
export { shallow } from "groupwire/store";

/**
 * Says which room the hooks of this package are for, so that their types follow from it:
 *
 * ```ts
 * declare module "groupwire-react" {
 *   interface Register { room: typeof board }
 * }
 * ```
 */
export interface Register {}

/** The definition of the registered room. */
export type Registered = Register extends { readonly room: DefinedRoom<infer D> } ? D : RoomDefinition;

const hooks = makeHooks(Provider, useHandle);

/**
 * The hooks for a room, with its types; for programs with several kinds of rooms. They are the same
 * functions as those of this package.
 *
 * @example
 * ```tsx
 * export const { RoomProvider, useOthers } = hooksOf(board);
 * ```
 */
export function hooksOf<D extends RoomDefinition>(_room: DefinedRoom<D>): Hooks<D> {
  return hooks as unknown as Hooks<D>;
}

// Each with its type in full: in declarations a destructured one would have the types of no
// registered room.
type All = Hooks<Registered>;
const registered = hooks as unknown as All;
export const RoomProvider: All["RoomProvider"] = registered.RoomProvider;
export const useRoom: All["useRoom"] = registered.useRoom;
export const useRoomStatus: All["useRoomStatus"] = registered.useRoomStatus;
export const useSelf: All["useSelf"] = registered.useSelf;
export const usePresence: All["usePresence"] = registered.usePresence;
export const useOthers: All["useOthers"] = registered.useOthers;
export const useOtherIds: All["useOtherIds"] = registered.useOtherIds;
export const useOther: All["useOther"] = registered.useOther;
export const useShared: All["useShared"] = registered.useShared;
export const useMutation: All["useMutation"] = registered.useMutation;
export const useUndo: All["useUndo"] = registered.useUndo;
export const useChannel: All["useChannel"] = registered.useChannel;
export const usePositions: All["usePositions"] = registered.usePositions;
