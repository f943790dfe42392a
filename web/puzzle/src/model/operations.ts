/**
 * Operations: the messages of actions on the channel `moves`. An operation is JSON of one of these forms:
 *
 *     {"by":"k3f9a2c1","n":7,"game":2,"grab":17}
 *     {"by":"k3f9a2c1","n":8,"game":2,"drop":17,"x":-120,"y":33}
 *     {"by":"k3f9a2c1","n":9,"game":2,"free":"m4d0q7zz"}
 *     {"by":"k3f9a2c1","n":10,"game":2,"start":{"picture":"reef","seed":5,"columns":8,"rows":6}}
 *     {"by":"k3f9a2c1","n":11,"game":2,"restore":{...}}
 *
 * `by` is the random id of the window, which outlives its sessions, and `n` counts its operations, so that an operation
 * that arrives twice is applied once. `game` is the number of the puzzle that the operation is meant for; an operation
 * for an earlier puzzle has no effect.
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
  | { readonly start: Spec }
  /** The state that a window remembers of a room that the server has lost; parsed by `State.decode`. */
  | { readonly restore: unknown };

export type Operation = { readonly by: string; readonly n: number; readonly game: number } & Action;

/** Limit of coordinates: a piece that is dragged further is lost for everybody. */
const FAR = 20_000;

/** Parses an operation of another participant; undefined if it is invalid. */
export function parseOperation(value: unknown): Operation | undefined {
  if (!isRecord(value)) return undefined;
  const { by, n, game, grab, drop, x, y, free, start, restore } = value;
  if (!isId(by) || !isCount(n) || !isCount(game)) return undefined;
  const head = { by, n, game };
  if (isCount(grab)) return { ...head, grab };
  if (isCount(drop)) return isPlace(x) && isPlace(y) ? { ...head, drop, x, y } : undefined;
  if (isId(free)) return { ...head, free };
  if (isRecord(restore)) return { ...head, restore };
  const spec = parseSpec(start);
  return spec && { ...head, start: spec };
}

/** True for whole numbers within the limit. Whole numbers make all windows compute the same joins. */
export function isPlace(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(Number(value)) <= FAR;
}

export function toPlace(value: number): number {
  return Math.min(Math.max(Math.round(value), -FAR), FAR);
}
