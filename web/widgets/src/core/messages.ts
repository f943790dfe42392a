/** Reads messages of other participants, who may send anything and may leave. */

import type { Message, Room } from "groupwire";
import type { Place } from "groupwire/motion";
import type { Stops } from "./element.js";

/** The JSON of a message; undefined if it is none. */
export function jsonOf(message: Message): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}

/**
 * Reads `[x, y]`, `{ x, y }`, or `null` for a pointer that has left. `follow` ignores other values.
 */
export function readPlace(message: Message): Place | null {
  const value = message.json();
  if (value === null || Array.isArray(value)) return value as Place | null;
  const { x, y } = value as { readonly x: number; readonly y: number };
  return [x, y];
}

/**
 * Calls `keep` when participants have left, or when ids may belong to others; `isHere` tells which
 * ids are still valid.
 */
export function onLeft(room: Room, keep: (isHere: (id: number) => boolean) => void): Stops {
  return [
    room.on("participants", (participants) => keep((id) => participants.has(id))),
    room.on("gap", ({ reason }) => reason !== "history" && reason !== "reset" && keep(() => false)),
  ];
}
