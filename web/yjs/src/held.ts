/**
 * Keeps, for each room object, the state of channels that a provider has released. A reopened
 * channel continues where it was and repeats nothing, so the next provider needs the state of the
 * one before (components of user interfaces replace providers in quick succession).
 */

import { GroupwireError, type Room } from "groupwire";

/** State that providers release and take over. */
export interface Held {
  readonly isFree: boolean;
}

const rooms = new WeakMap<Room, Map<string, Held>>();

/** The state that the room holds under this name, or a new one. Throws an error if it is in use. */
export function take<H extends Held>(room: Room, name: string, make: () => H): H {
  const held = rooms.get(room) ?? new Map<string, Held>();
  rooms.set(room, held);
  const known = held.get(name) as H | undefined;
  if (known && !known.isFree)
    throw new GroupwireError(
      "in-use",
      "own",
      `groupwire-yjs: the room "${room.name}" has a provider for "${name}" already: destroy that one, or take another name`,
    );
  const taken = known ?? make();
  held.set(name, taken);
  return taken;
}
