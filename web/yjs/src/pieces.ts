/** Joins the pieces of large updates. */

import { createDecoder, readTailAsUint8Array, readVarUint, readVarUint8Array } from "lib0/decoding";
import { createEncoder, toUint8Array, writeUint8Array, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import type { Piece } from "./control.js";

/** The most bytes of updates of which pieces are missing. */
const MAX_BYTES = 64 << 20;

/** What a piece takes besides its bytes. */
const OVERHEAD = 100;

interface Series {
  readonly series: number;
  readonly count: number;
  readonly pieces: Uint8Array[];
}

export class Pieces {
  /** The update that each sender is sending: a sender sends one after the other. */
  readonly #begun = new Map<number, Series>();
  #bytes = 0;

  /** Takes a piece. Returns the update if this is its last piece. */
  add(sender: number, { series, index, count, bytes }: Piece): Uint8Array | undefined {
    if (index === 0) {
      this.drop(sender);
      this.#begun.set(sender, { series, count, pieces: [] });
    }
    const begun = this.#begun.get(sender);
    const isNext = begun?.series === series && begun.count === count && begun.pieces.length === index;
    if (!begun || !isNext || this.#bytes + costOf(bytes) > MAX_BYTES) {
      this.drop(sender);
      return undefined;
    }
    begun.pieces.push(bytes);
    this.#bytes += costOf(bytes);
    if (begun.pieces.length < count) return undefined;
    this.drop(sender);
    return join(begun.pieces);
  }

  /** Forgets what a sender has begun. */
  drop(sender: number): void {
    const begun = this.#begun.get(sender);
    this.#begun.delete(sender);
    this.#bytes -= begun?.pieces.reduce((sum, bytes) => sum + costOf(bytes), 0) ?? 0;
  }

  clear(): void {
    this.#begun.clear();
    this.#bytes = 0;
  }

  /** Makes a snapshot: the incomplete updates, and a document. */
  encode(update: Uint8Array): Uint8Array {
    const encoder = createEncoder();
    writeVarUint(encoder, this.#begun.size);
    for (const [sender, { series, count, pieces }] of this.#begun) {
      for (const number of [sender, series, count, pieces.length]) writeVarUint(encoder, number);
      for (const piece of pieces) writeVarUint8Array(encoder, piece);
    }
    writeUint8Array(encoder, update);
    return toUint8Array(encoder);
  }

  /**
   * Takes the incomplete updates of a snapshot, and returns its document. Throws an error if it is
   * malformed.
   */
  decode(snapshot: Uint8Array): Uint8Array {
    this.clear();
    const decoder = createDecoder(snapshot);
    for (let left = readVarUint(decoder); left > 0; left -= 1) {
      const [sender, series, count, length] = [0, 0, 0, 0].map(() => readVarUint(decoder)) as [
        number,
        number,
        number,
        number,
      ];
      for (let index = 0; index < length; index += 1)
        this.add(sender, { series, index, count, bytes: readVarUint8Array(decoder) });
    }
    return readTailAsUint8Array(decoder);
  }
}

function costOf(piece: Uint8Array): number {
  return piece.length + OVERHEAD;
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
