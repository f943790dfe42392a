/**
 * Loads the widgets that show others once somebody else is in the room, and tells tests of the page
 * where pointers are shown.
 */

import type { Room } from "groupwire";
import type { Cursors } from "groupwire-widgets/cursors";

/**
 * Calls `load` once there are other participants: the page of a user who is alone does not need the
 * widgets that show others.
 */
export function whenOthersCome(room: Room, load: () => Promise<void>): void {
  let isAsked = false;
  const look = (): void => {
    if (isAsked || room.participants.size === 0) return;
    isAsked = true;
    // If loading fails, the next change of participants tries again.
    load().catch(() => (isAsked = false));
  };
  room.on("participants", look);
  look();
}

/** A pointer as it is shown, in board units. */
export interface ShownPointer {
  readonly id: number;
  readonly x: number;
  readonly y: number;
}

/** The pointers of these participants that are shown, for tests of the page. */
export function pointersOf(cursors: Cursors | undefined, ids: Iterable<number>): ShownPointer[] {
  return [...ids].flatMap((id) => {
    const [x, y] = cursors?.placeOf(id) ?? [];
    return x === undefined || y === undefined ? [] : [{ id, x, y }];
  });
}
