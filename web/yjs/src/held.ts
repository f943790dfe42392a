/**
 * What a room object holds for channels that a provider has let go. A channel that is opened again goes on where it was, and tells nothing
 * that it told before; so another provider, as components of user interfaces make them in quick succession, needs what the one before had.
 */

import type { Room } from "groupwire";

/** What can be let go and taken again. */
export interface Held {
  readonly isFree: boolean;
}

const rooms = new WeakMap<Room, Map<string, Held>>();

/** What the room holds under this name, or a new one. Throws an error if it is in use. */
export function take<H extends Held>(room: Room, name: string, make: () => H): H {
  const held = rooms.get(room) ?? new Map<string, Held>();
  rooms.set(room, held);
  const known = held.get(name) as H | undefined;
  if (known && !known.isFree)
    throw new Error(
      `groupwire-yjs: the room "${room.name}" has a provider for "${name}" already: destroy that one, or take another name`,
    );
  const taken = known ?? make();
  held.set(name, taken);
  return taken;
}
