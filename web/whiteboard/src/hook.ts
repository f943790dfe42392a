/**
 * `window.groupwireBoard`: read-only access to the board for end-to-end tests. Not an API for
 * applications: it may change with any version.
 */

import type { Status } from "groupwire";
import { pointersOf, type ShownPointer } from "../../common/ui/company";
import type { Board } from "./board";
import type { Shape } from "./model/shapes";
import type { Session } from "./net/session";

export interface BoardHook {
  readonly status: Status;
  readonly self: number | undefined;
  /** The other participants. */
  readonly participants: readonly { readonly id: number; readonly name: string; readonly away: boolean }[];
  /** The number of own operations that the room has not ordered yet. */
  readonly waiting: number;
  /** Confirmed and pending objects, lowest first. */
  objects(): ({ readonly id: string } & Shape)[];
  /** The positions at which the other participants' pointers are shown, in board units. */
  pointers(): ShownPointer[];
  /** The number of strokes that others are drawing, and of objects that they are dragging. */
  live(): { readonly strokes: number; readonly drags: number };
  /** Converts board coordinates to CSS pixels in the page, where a test can press. */
  toScreen(x: number, y: number): { readonly x: number; readonly y: number };
}

declare global {
  interface Window {
    groupwireBoard?: BoardHook;
  }
}

export function expose(board: Board, session: Session): void {
  window.groupwireBoard = {
    get status() {
      return session.room.status;
    },
    get self() {
      return session.room.self?.id;
    },
    get participants() {
      return [...session.room.participants.values()].map(({ id, away }) => ({ id, away, name: board.nameOf(id) }));
    },
    get waiting() {
      return board.document.waiting;
    },
    objects: () =>
      [...board.document.shapes]
        .map(([id, shape]) => ({ id, ...shape }))
        .sort((a, b) => a.z - b.z || (a.id < b.id ? -1 : 1)),
    pointers: () => pointersOf(board.cursors, session.room.participants.keys()),
    live: () => ({
      strokes: board.live.strokeViews().length,
      drags: board.live.dragViews(performance.now(), (id) => board.document.shapes.get(id)).size,
    }),
    toScreen: (x, y) => board.camera.toScreen({ x, y }),
  };
}
