/**
 * Moves: what windows do with the puzzle. They are actions of shared data, and look like this:
 *
 *     {"game":2,"grab":17}
 *     {"game":2,"drop":17,"x":-120,"y":33}
 *     {"game":2,"free":"m4d0q7zz"}
 *     {"game":2,"start":{"picture":"reef","seed":5,"columns":8,"rows":6}}
 *
 * `game` is the number of the puzzle that the move is meant for. The author of a move is the id of
 * a window, which outlives its sessions.
 */

import { isCount, isId, isRecord } from "../../../common/parse";
import { parseSpec, type Spec } from "./spec";

export type Action =
  /** Grabs a piece with its group. The first window in the room's order holds it until the drop. */
  | { readonly grab: number }
  /** Drops the piece at this displacement from its home. */
  | { readonly drop: number; readonly x: number; readonly y: number }
  /** Releases the pieces of a window that has left. */
  | { readonly free: string }
  | { readonly start: Spec };

export type Move = { readonly game: number } & Action;

/** Limit of coordinates: a piece that is dragged further is lost for everybody. */
const FAR = 20_000;

/** Parses a move of another participant; undefined if it is invalid. */
export function parseMove(value: unknown): Move | undefined {
  if (!isRecord(value)) return undefined;
  const { game, grab, drop, x, y, free, start } = value;
  if (!isCount(game)) return undefined;
  const head = { game };
  if (isCount(grab)) return { ...head, grab };
  if (isCount(drop)) return isPlace(x) && isPlace(y) ? { ...head, drop, x, y } : undefined;
  if (isId(free)) return { ...head, free };
  const spec = parseSpec(start);
  return spec && { ...head, start: spec };
}

/**
 * True for whole numbers within the limit. Whole numbers make all windows compute the same joins.
 */
export function isPlace(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(Number(value)) <= FAR;
}

export function toPlace(value: number): number {
  return Math.min(Math.max(Math.round(value), -FAR), FAR);
}
