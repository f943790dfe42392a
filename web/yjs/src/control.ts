/**
 * The messages of a document's channel. Bytes are a Yjs update. Text is one of the messages of this
 * file: participants agree with them who sends a long update, and send the pieces of an update that
 * is too large for one message.
 */

import { fromBase64, toBase64 } from "lib0/buffer";

export type Control =
  /**
   * The sender wants to send a long update that others may have, too. The first claim in the room's
   * order wins.
   */
  | { readonly kind: "claim" }
  /**
   * The sender has sent its update. It `isComplete` if it contains everything that the room ever
   * had.
   */
  | { readonly kind: "done"; readonly isComplete: boolean }
  /** The sender has only what this state vector covers, and the room no longer has the rest. */
  | { readonly kind: "ask"; readonly stateVector: Uint8Array }
  | { readonly kind: "piece"; readonly piece: Piece };

/** A piece of an update. */
export interface Piece {
  /** Which of its sender's large updates it belongs to. */
  readonly series: number;
  readonly index: number;
  readonly count: number;
  readonly bytes: Uint8Array;
}

/**
 * As base64 and with the other fields, a piece of this size fits into a message of 60,000 bytes.
 */
const PIECE = 44_000;

export const CLAIM = JSON.stringify(["claim"]);

export function done(isComplete: boolean): string {
  return JSON.stringify(["done", isComplete]);
}

export function ask(stateVector: Uint8Array): string {
  return JSON.stringify(["ask", toBase64(stateVector)]);
}

/** Cuts an update into messages. */
export function cut(update: Uint8Array, series: number): string[] {
  const count = Math.ceil(update.length / PIECE);
  return Array.from({ length: count }, (_, index) => {
    const bytes = update.subarray(index * PIECE, (index + 1) * PIECE);
    return JSON.stringify(["piece", series, index, count, toBase64(bytes)]);
  });
}

/** Reads a message of another program; undefined if it is malformed. */
export function parse(text: string): Control | undefined {
  try {
    const [kind, ...fields] = JSON.parse(text) as [unknown, ...unknown[]];
    if (kind === "claim") return { kind };
    if (kind === "done") return { kind, isComplete: fields[0] === true };
    if (kind === "ask") return { kind, stateVector: fromBase64(fields[0] as string) };
    if (kind !== "piece") return undefined;
    const [series, index, count, base64] = fields as [number, number, number, string];
    if (![series, index, count].every((number) => Number.isSafeInteger(number) && number >= 0)) return undefined;
    return { kind, piece: { series, index, count, bytes: fromBase64(base64) } };
  } catch {
    return undefined;
  }
}
