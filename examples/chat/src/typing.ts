/**
 * The names of the people who are typing. Each client reports it at most every two seconds, and a
 * name disappears soon if no report comes.
 */

import { useCallback, useEffect, useRef, useState } from "react";
import { useChannel, useOthers, useRoom } from "./room";

/** Milliseconds between two messages that say that the user still types. */
const REPEAT_MS = 2000;
/** Two of these messages may be lost before others think that the user has stopped. */
const FORGET_MS = 3 * REPEAT_MS;

/** The names of the others who are typing. */
export function useTypists(): readonly string[] {
  const [typists, setTypists] = useState<ReadonlySet<number>>(new Set());
  const timers = useRef(new Map<number, ReturnType<typeof setTimeout>>());
  const set = (id: number, isTyping: boolean): void =>
    setTypists((before) => {
      if (before.has(id) === isTyping) return before;
      const after = new Set(before);
      if (isTyping) after.add(id);
      else after.delete(id);
      return after;
    });
  useChannel("typing", ({ value, sender, age }) => {
    clearTimeout(timers.current.get(sender));
    const left = FORGET_MS - age;
    set(sender, value && left > 0);
    if (value)
      timers.current.set(
        sender,
        setTimeout(() => set(sender, false), left),
      );
  });
  const room = useRoom()?.room;
  useEffect(() => {
    const { current } = timers;
    const forget = (): void => {
      current.forEach((timer) => clearTimeout(timer));
      current.clear();
      setTypists(new Set());
    };
    // After a loss of the room, and in another room, these ids may belong to other participants.
    const stop = room?.on("gap", ({ reason }) => reason === "incarnation" && forget());
    return () => {
      stop?.();
      forget();
    };
  }, [room]);
  // A participant that has left does not type.
  return useOthers((others) =>
    others.filter(({ id }) => typists.has(id)).map(({ presence }) => presence?.name ?? "Somebody"),
  );
}

/** Returns a function to call with the text that is being written. */
export function useTyping(): (text: string) => void {
  const send = useChannel("typing");
  const told = useRef({ isTyping: false, at: 0 });
  return useCallback(
    (text) => {
      const isTyping = text !== "";
      const { current } = told;
      const isOld = Date.now() - current.at >= REPEAT_MS;
      if (isTyping === current.isTyping && !(isTyping && isOld)) return;
      told.current = { isTyping, at: Date.now() };
      send(isTyping);
    },
    [send],
  );
}
