/** The rooms that an application may give to the devtools. */

import type { Room } from "../api.js";
import { failure } from "../errors.js";
import type { Inside } from "../room.js";

/** A room that `defineRoom` has joined. */
export interface JoinedRoom {
  readonly room: Room<any>;
}

/** A room of `groupwire/store`, which connects while something shows it. */
export interface RetainedRoom {
  each(attach: (room: JoinedRoom) => () => void): () => void;
}

/**
 * What `connect` returns, what `defineRoom(…).join` returns, or a `RoomHandle` of
 * `groupwire/store`.
 */
export type AnyRoom = Room<any> | JoinedRoom | RetainedRoom;

/** A room of this package, with the parts that the devtools look into. */
export type OpenRoom = Room<any> & { readonly inside: Inside };

/**
 * Calls `attach` with the room, and with each one that replaces it. Returns a function that ends
 * it.
 */
export function eachOf(room: AnyRoom, attach: (room: OpenRoom) => () => void): () => void {
  if ("each" in room) return room.each(({ room }) => attach(opened(room)));
  return attach(opened("room" in room ? room.room : room));
}

function opened(room: Room<any>): OpenRoom {
  if ("inside" in room) return room as OpenRoom;
  const hint = "pass a room of `connect` or `defineRoom` or a `RoomHandle`, of the same version of `groupwire`";
  throw failure("invalid-argument", "own", `devtools cannot look into this room: ${hint}`);
}
