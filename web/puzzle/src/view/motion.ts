/** Moves pieces smoothly to their places. */

import { cellOf, HEIGHT, home, isSameSpec, pieceCount, type Spec, WIDTH } from "../model/spec";
import type { State } from "../model/state";

interface Point {
  x: number;
  y: number;
}

/** Time constant (ms) of the movement: short enough to feel like a snap. */
const EASE = 55;
/** Time constant (ms) when pieces move across the table to a new puzzle. */
const FLIGHT = 160;

/** A piece that is nearer than this (units) has arrived. */
const THERE = 0.4;

export class Motion {
  private places: Point[] = [];
  private game = -1;
  private spec: Spec | undefined;
  private ease = EASE;
  private last = 0;

  /** The place where a piece is shown. */
  at(piece: number): Readonly<Point> {
    return this.places[piece] ?? { x: 0, y: 0 };
  }

  /**
   * Advances to `now`. `held` has the places of held pieces. Returns the pieces that have not
   * arrived.
   */
  advance(state: State, held: ReadonlyMap<number, Readonly<Point>>, now: number, isStill: boolean): Set<number> {
    this.begin(state);
    const share = isStill ? 1 : 1 - Math.exp(-Math.min(now - this.last, 100) / this.ease);
    this.last = now;
    const moving = new Set<number>();
    this.places.forEach((place, piece) => {
      const hand = held.get(piece);
      const target = hand ?? state.group(piece);
      const [dx, dy] = [target.x - place.x, target.y - place.y];
      const isThere = hand !== undefined || Math.max(Math.abs(dx), Math.abs(dy)) < THERE;
      place.x = isThere ? target.x : place.x + dx * share;
      place.y = isThere ? target.y : place.y + dy * share;
      if (!isThere) moving.add(piece);
    });
    if (moving.size === 0) this.ease = EASE;
    return moving;
  }

  /** Puts all pieces at their places at once. */
  arrive(state: State): void {
    this.begin(state);
    this.places.forEach((place, piece) => {
      const { x, y } = state.group(piece);
      Object.assign(place, { x, y });
    });
  }

  private begin(state: State): void {
    if (state.game === this.game && this.spec && isSameSpec(state.spec, this.spec)) return;
    this.game = state.game;
    this.spec = state.spec;
    this.ease = FLIGHT;
    // All pieces begin in one heap in the middle of the picture.
    const { w, h } = cellOf(state.spec);
    this.places = Array.from({ length: pieceCount(state.spec) }, (_, piece) => {
      const { x, y } = home(state.spec, piece);
      return { x: (WIDTH - w) / 2 - x, y: (HEIGHT - h) / 2 - y };
    });
  }
}
