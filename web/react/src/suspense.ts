"use client";
/**
 * The same hooks for suspense: those that read wait until the room is ready. Where a room is closed
 * for good before that, they throw the reason for the error boundary around them. A server renders
 * the fallback of `RoomProvider`.
 *
 * @packageDocumentation
 */

import { GroupwireError } from "groupwire";
import type { DefinedRoom, RoomDefinition } from "groupwire/schema";
import type { RoomHandle } from "groupwire/store";
import { createElement, Suspense, useSyncExternalStore, type ReactNode } from "react";
import { makeHooks } from "./hooks.js";
import { RoomContext, useHandle, useRoomHandle } from "./provider.js";
import type { Registered } from "./index.js";
import type { Hooks, RoomProviderProps } from "./types.js";

export type { Hooks, RoomProviderProps, Send } from "./types.js";
export { shallow } from "groupwire/store";

const waiting = new WeakMap<RoomHandle<RoomDefinition>, Promise<void>>();

/** The room, once it is ready. */
function useReady(): RoomHandle<RoomDefinition> {
  const handle = useHandle();
  const { isReady, status, error } = handle.sources.status.root();
  if (isReady) return handle;
  if (status === "closed") throw error ?? new GroupwireError("closed", "own", "the room was left before it was ready");
  let promise = waiting.get(handle);
  if (!promise) waiting.set(handle, (promise = handle.whenReady()));
  // Components throw a promise to wait, in React 18 as in 19.
  throw promise;
}

/**
 * Suspends inside of the provider: a component that suspends before it was first shown runs no
 * effects, and would not connect.
 */
function Provider({ children, fallback = null, ...props }: RoomProviderProps<RoomDefinition>): ReactNode {
  const handle = useRoomHandle(props);
  // False while a server renders, and in the browser while React still hydrates the page.
  const isMounted = useSyncExternalStore(never, isTrue, isFalse);
  const inner = isMounted ? createElement(Suspense, { fallback }, children) : fallback;
  return createElement(RoomContext.Provider, { value: handle }, inner);
}

const hooks = makeHooks(Provider, useReady);

/** The hooks for a room, with its types. */
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

const never = (): (() => void) => () => {};
const isTrue = (): boolean => true;
const isFalse = (): boolean => false;
