/** The hooks that read and change the state of a room. */

import type { TypedMessage } from "groupwire/schema";
import { peopleOf, undoingOf, whole, type By, type IsEqual, type RoomHandle, type Source } from "groupwire/store";
import { useCallback, useEffect, useSyncExternalStore, type DependencyList } from "react";
import { checkFunction, useHandle, useLatest } from "./provider.js";
import { useSelected } from "./selected.js";
import type { Hooks, RoomProviderProps } from "./types.js";
import type { RoomDefinition } from "groupwire/schema";

type All = Hooks<RoomDefinition>;
type Handle = RoomHandle<RoomDefinition>;
/**
 * Makes all hooks of a room. `useReady` is called by each that reads: it may wait until the room is
 * ready.
 */
export function makeHooks(
  RoomProvider: (props: RoomProviderProps<RoomDefinition>) => unknown,
  useReady: () => Handle,
): All {
  function useSource<Root, Value>(
    sourceOf: (sources: Handle["sources"]) => Source<Root>,
    select: (root: Root) => Value = whole,
    isEqual?: IsEqual<Value>,
  ): Value {
    return useSelected(sourceOf(useReady().sources), select, isEqual);
  }

  const useOtherIds = ({ by }: { readonly by?: By<unknown> } = {}): readonly number[] => {
    const { self } = useReady().sources;
    return useSource(others, (others) => peopleOf(others, self.root().presence, by));
  };

  const useUndo = (): ReturnType<All["useUndo"]> => {
    const handle = useReady();
    const can = useSelected(handle.sources.shared as Source<unknown>, undoingOf);
    const undo = useCallback(() => handle.undo(), [handle]);
    const redo = useCallback(() => handle.redo(), [handle]);
    return { ...can, undo, redo };
  };

  return {
    RoomProvider,
    useRoom,
    useRoomStatus: (select?: never, isEqual?: never) => useSource(({ status }) => status, select, isEqual),
    useSelf: (select?: never, isEqual?: never) => useSource(({ self }) => self, select, isEqual),
    usePresence,
    useOthers: (select?: never, isEqual?: never) => useSource(others, select, isEqual),
    useOtherIds,
    useOther: (id: number, select: (other: never) => never, isEqual?: never) => {
      checkFunction(select, "the selector of useOther");
      return useSource(
        others,
        (others) => {
          const other = others.find((other) => other.id === id);
          return other && select(other as never);
        },
        isEqual,
      );
    },
    useShared: (select: never, isEqual?: never) => useSource(({ shared }) => shared, select, isEqual),
    useMutation,
    useUndo,
    useChannel,
    usePositions,
  } as unknown as All;
}

function useRoom(): ReturnType<All["useRoom"]> {
  const handle = useHandle();
  return useSyncExternalStore(
    useCallback((listener: () => void) => handle.each(() => (listener(), () => {})), [handle]),
    () => handle.room,
    () => undefined,
  );
}

function usePresence(): ReturnType<All["usePresence"]> {
  const handle = useHandle();
  const presence = useSelected(handle.sources.self, selectPresence);
  const setPresence = useCallback(
    (next: unknown) =>
      handle.setPresence(typeof next === "function" ? next(handle.sources.self.root().presence) : next),
    [handle],
  );
  return [presence, setPresence];
}

function useMutation<Rest extends readonly unknown[], Result>(
  mutate: (shared: never, ...all: Rest) => Result,
  deps: DependencyList,
): (...all: Rest) => Result {
  checkFunction(mutate, "the function of useMutation");
  const handle = useHandle();
  return useCallback(
    (...all: Rest) => handle.mutate((shared) => mutate(shared as never, ...all)),
    // As in useCallback, the caller names what the function uses.
    [handle, ...deps],
  );
}

function useChannel(name: string, listener?: (message: TypedMessage<unknown>) => void): (value: unknown) => unknown {
  const handle = useHandle();
  const latest = useLatest(listener);
  const listens = listener !== undefined;
  if (listens) checkFunction(listener, "the listener of useChannel");
  useEffect(() => {
    if (!listens) return;
    return handle.on(name as never, (message) => latest.current?.(message));
  }, [handle, latest, name, listens]);
  return useSend(name);
}

function usePositions(name: string, draw: (positions: never) => void): (value: unknown) => unknown {
  checkFunction(draw, "`draw` of usePositions");
  const handle = useHandle();
  const latest = useLatest(draw);
  useEffect(
    () => handle.positions(name as never, (positions) => latest.current(positions as never)),
    [handle, latest, name],
  );
  return useSend(name);
}

function useSend(name: string): (value: unknown, options?: never) => unknown {
  const handle = useHandle();
  return useCallback((value, options) => handle.send(name as never, value as never, options), [handle, name]);
}

const others = (sources: Handle["sources"]): Handle["sources"]["others"] => sources.others;
const selectPresence = ({ presence }: { readonly presence: unknown }): unknown => presence;
