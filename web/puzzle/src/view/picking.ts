/** Finds pieces at points of the table. */

import { home } from "../model/spec";
import type { Group, State } from "../model/state";
import type { Motion } from "./motion";
import type { Sprites } from "./sprites";

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Groups from the lowest to the topmost: large groups lie below single pieces, and held groups
 * above all.
 */
export function stacked(state: State): Group[] {
  const height = ({ holder }: Group): number => (holder === undefined ? 0 : 1);
  return [...state.all()].sort((a, b) => height(a) - height(b) || b.pieces.length - a.pieces.length || a.z - b.z);
}

/** The topmost piece at a point of the table, otherwise one within `reach` of it. */
export function pieceAt(
  point: Point,
  reach: number,
  state: State,
  motion: Motion,
  sprites: Sprites,
): number | undefined {
  const groups = stacked(state).reverse();
  const hit = (x: number, y: number): number | undefined => {
    for (const { pieces } of groups)
      for (const piece of pieces) {
        const [at, moved] = [home(state.spec, piece), motion.at(piece)];
        const path = sprites.paths[piece];
        if (path && context().isPointInPath(path, x - at.x - moved.x, y - at.y - moved.y)) return piece;
      }
    return undefined;
  };
  const middle = hit(point.x, point.y);
  if (middle !== undefined || reach === 0) return middle;
  for (let i = 0; i < 8; i++) {
    const angle = (i * Math.PI) / 4;
    const piece = hit(point.x + Math.cos(angle) * reach, point.y + Math.sin(angle) * reach);
    if (piece !== undefined) return piece;
  }
  return undefined;
}

/** The canvas has no size, because it is used only to test paths. */
function context(): CanvasRenderingContext2D {
  known ??= document.createElement("canvas").getContext("2d") ?? undefined;
  if (!known) throw new Error("this browser gives no canvas");
  return known;
}
let known: CanvasRenderingContext2D | undefined;
