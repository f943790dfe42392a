"use client";
/**
 * Rooms of Groupwire in React. Nothing of it renders for what is not shown.
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
 * The hooks for a room, with its types; for programs with several kinds of rooms. They are the same functions as those of this package.
 *
 * @example
 * ```tsx
 * export const { RoomProvider, useOthers } = hooksOf(board);
 * ```
 */
export function hooksOf<D extends RoomDefinition>(_room: DefinedRoom<D>): Hooks<D> {
  return hooks as unknown as Hooks<D>;
}

export const {
  RoomProvider,
  useRoom,
  useRoomStatus,
  useSelf,
  usePresence,
  useOthers,
  useOtherIds,
  useOther,
  useShared,
  useMutation,
  useUndo,
  useChannel,
  usePositions,
} = hooks as unknown as Hooks<Registered>;
