/**
 * `window.groupwirePuzzle`: read-only access to the puzzle for end-to-end tests and measurements.
 * Not an API for applications: it may change with any version.
 */

import type { Status, Transport } from "groupwire";
import { pointersOf, type ShownPointer } from "../../common/ui/company";
import { cellOf, home, type Spec } from "./model/spec";
import type { Group } from "./model/state";
import type { Figures, Meter } from "./net/meter";
import type { Session } from "./net/session";
import type { Table } from "./table";

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PuzzleHook {
  readonly status: Status;
  readonly self: number | undefined;
  /** The other participants. */
  readonly participants: readonly { readonly id: number; readonly name: string; readonly away: boolean }[];
  /** The number of own operations that the room has not ordered yet. */
  readonly waiting: number;
  readonly spec: Spec;
  /** The number of the room's current puzzle. */
  readonly game: number;
  readonly isSolved: boolean;
  /** The document's groups of pieces, in the order of their first pieces. */
  readonly groups: readonly Group[];
  /** The piece that this window holds. */
  readonly holding: number | undefined;
  /** The pieces that others are holding. */
  readonly drags: readonly {
    readonly sender: number;
    readonly piece: number;
    readonly x: number;
    readonly y: number;
  }[];
  /** The positions at which the other participants' pointers are shown, in table units. */
  readonly pointers: readonly ShownPointer[];
  /** The figures in the settings panel. */
  readonly figures: Figures;
  readonly transport: Transport | undefined;
  /**
   * True if all pieces that nobody holds are shown where the document has them, so that no piece
   * glides.
   */
  readonly isStill: boolean;
  /** The centre of each piece on the screen, in CSS pixels of the page. */
  readonly centers: readonly Point[];
  /** Pixels per table unit. */
  readonly zoom: number;
}

declare global {
  interface Window {
    groupwirePuzzle?: PuzzleHook;
  }
}

export function expose(table: Table, session: Session, meter: Meter): void {
  const { document } = table;
  window.groupwirePuzzle = {
    get status() {
      return session.room.status;
    },
    get self() {
      return session.room.self?.id;
    },
    get participants() {
      return [...session.room.participants.values()].map(({ id, away }) => ({ id, away, name: table.nameOf(id) }));
    },
    get waiting() {
      return document.waiting;
    },
    get spec() {
      return document.state.spec;
    },
    get game() {
      return document.state.game;
    },
    get isSolved() {
      return document.state.isSolved;
    },
    get groups() {
      return document.state.all();
    },
    get holding() {
      return document.holding;
    },
    get drags() {
      return table.drags(performance.now());
    },
    get pointers() {
      return pointersOf(table.cursors, session.room.participants.keys());
    },
    get figures() {
      return meter.figures;
    },
    get transport() {
      return session.room.transport;
    },
    get isStill() {
      const free = document.state.all().filter(({ holder }) => holder === undefined);
      return free.every(({ pieces, x, y }) =>
        pieces.every((piece) => {
          const at = table.placeOf(piece);
          return at.x === x && at.y === y;
        }),
      );
    },
    get centers() {
      const { spec } = document.state;
      const { w, h } = cellOf(spec);
      return Array.from({ length: spec.columns * spec.rows }, (_, piece) => {
        const at = home(spec, piece);
        const { x, y } = table.placeOf(piece);
        return table.camera.toScreen({ x: at.x + x + w / 2, y: at.y + y + h / 2 });
      });
    },
    get zoom() {
      return table.camera.zoom;
    },
  };
}
