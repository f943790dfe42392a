/**
 * What an action sends on the `moves` channel. An operation is JSON of one of these forms:
 *
 *     {"by":"k3f9a2c1","n":7,"game":2,"grab":17}
 *     {"by":"k3f9a2c1","n":8,"game":2,"drop":17,"x":-120,"y":33}
 *     {"by":"k3f9a2c1","n":9,"game":2,"free":"m4d0q7zz"}
 *     {"by":"k3f9a2c1","n":10,"game":2,"start":{"picture":"reef","seed":5,"columns":8,"rows":6}}
 *     {"by":"k3f9a2c1","n":11,"game":2,"restore":{...}}
 *
 * `by` names the window that made it (random, so that it outlives a session), `n` counts its operations: one that
 * arrives twice is recognised and does nothing the second time. `game` is the puzzle it is meant for: what comes after
 * a new one was started does nothing.
 */

import { isCount, isId, isRecord } from "../../../common/parse";
import { parseSpec, type Spec } from "./spec";

export type Action =
  /** Takes up a piece and all that is joined to it. The first in the room's order has it until it is dropped. */
  | { readonly grab: number }
  /** Lets go of it, displaced by so much from its home. */
  | { readonly drop: number; readonly x: number; readonly y: number }
  /** A window that is gone holds nothing any more. */
  | { readonly free: string }
  | { readonly start: Spec }
  /** What a window remembers of a room that the server has lost; read by `State.decode`. */
  | { readonly restore: unknown };

export type Operation = { readonly by: string; readonly n: number; readonly game: number } & Action;

/** Whoever drags further than this from the table has lost the piece, and so has everybody else. */
const FAR = 20_000;

/** Reads what another participant sent; undefined if it is no operation. */
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

/** A whole number near enough to be found again: whole, so that all compute the same from it. */
export function isPlace(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(Number(value)) <= FAR;
}

export function toPlace(value: number): number {
  return Math.min(Math.max(Math.round(value), -FAR), FAR);
}
