/** The rooms that widgets show. */

import type { Room } from "groupwire";

/** A room that `defineRoom` has joined. */
export interface JoinedRoom {
  // Widgets read the presence of any room, and check it.
  readonly room: Room<any>;
  readonly shared?: unknown;
}

/** A room of `groupwire/store`, which connects while something shows it. */
export interface RetainedRoom {
  each(attach: (room: JoinedRoom) => () => void): () => void;
  retain(): () => void;
}

/**
 * What `connect` returns, what `defineRoom(…).join` returns, or a `RoomHandle` of
 * `groupwire/store`.
 */
export type AnyRoom = Room<any> | JoinedRoom | RetainedRoom;

/** Calls `attach` with the room, and with each one that replaces it; what it returns ends that. */
export function attachTo(room: AnyRoom, attach: (joined: JoinedRoom) => () => void): () => void {
  if (!("each" in room)) return attach("room" in room ? room : { room });
  const stop = room.each(attach);
  const release = room.retain();
  return () => {
    stop();
    release();
  };
}
