/** The component that shows a room to the hooks. */

import { connect, GroupwireError } from "groupwire";
import type { RoomDefinition } from "groupwire/schema";
import { RoomHandle } from "groupwire/store";
import {
  createContext,
  createElement,
  useContext,
  useEffect,
  useInsertionEffect,
  useMemo,
  useRef,
  type ReactNode,
} from "react";
import { useSelected } from "./selected.js";
import type { RoomProviderProps } from "./types.js";

type Any = RoomHandle<RoomDefinition>;

const Room = createContext<Any | undefined>(undefined);

/** The room of the provider around a component. */
export function useHandle(): Any {
  const handle = useContext(Room);
  if (!handle)
    throw new GroupwireError(
      "no-provider",
      "own",
      "a hook of groupwire-react is outside of a RoomProvider: put one around the component",
    );
  return handle;
}

/**
 * Checks a function that is called later, when nobody could tell where it came from. `what` names
 * it in the error.
 */
export function checkFunction(value: unknown, what: string): void {
  if (typeof value !== "function") throw new GroupwireError("invalid-argument", "own", `${what} must be a function`);
}

/** The value of the last rendering that was shown, for effects and events. */
export function useLatest<Value>(value: Value): { readonly current: Value } {
  const latest = useRef(value);
  // Runs before all effects that may use the value.
  useInsertionEffect(() => {
    latest.current = value;
  });
  return latest;
}

export function RoomProvider({ children, fallback, ...props }: RoomProviderProps<RoomDefinition>): ReactNode {
  const handle = useRoomHandle(props);
  const isReady = useSelected(handle.sources.status, selectReady);
  return createElement(Room.Provider, { value: handle }, fallback === undefined || isReady ? children : fallback);
}

export function useRoomHandle(props: Omit<RoomProviderProps<RoomDefinition>, "children" | "fallback">): Any {
  const latest = useLatest(props);
  const { room, url, name, token, identity, presence } = props;
  const handle = useMemo(
    () => makeHandle(props, latest),
    // A change of these properties means another room; other changes do not.
    [room, String(url), name, typeof token === "function" ? undefined : token, identity],
  );
  useEffect(() => handle.retain(), [handle]);
  useEffect(() => {
    const stops = [
      handle.each((room) => room.onInvalid((invalid) => latest.current.onInvalid?.(invalid))),
      latest.current.onError ? handle.onError((error) => latest.current.onError?.(error)) : () => {},
    ];
    return () => stops.forEach((stop) => stop());
  }, [handle, latest, props.onError === undefined]);

  // A new presence object with equal contents is not sent again.
  const text = textOf(presence);
  const told = useRef({ handle, text });
  useEffect(() => {
    const isNew = told.current.handle === handle && told.current.text !== text;
    told.current = { handle, text };
    if (isNew && text !== undefined) handle.setPresence(latest.current.presence);
  }, [handle, latest, text]);
  return handle;
}

/**
 * A text that is another one for another presence. What JSON cannot carry is told once it is to be
 * sent.
 */
function textOf(presence: unknown): string | undefined {
  try {
    return JSON.stringify(presence);
  } catch {
    return "no JSON";
  }
}

export const RoomContext = Room;

function makeHandle(props: RoomProviderProps<RoomDefinition>, latest: { readonly current: typeof props }): Any {
  const { onError: _, onInvalid: __, connect: own, token, ...options } = props;
  const given =
    typeof token === "function" ? { token: () => askForToken(latest.current.token) } : token !== undefined && { token };
  return new RoomHandle({ ...options, ...given, connect: own ?? connect });
}

/** Calls the function `token` of the last rendering. */
function askForToken(token: RoomProviderProps<RoomDefinition>["token"]): string | Promise<string> {
  return typeof token === "function" ? token() : (token ?? "");
}

const selectReady = ({ isReady }: { readonly isReady: boolean }): boolean => isReady;
