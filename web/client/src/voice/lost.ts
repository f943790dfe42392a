/**
 * Lost frames, which the decoder makes up. Opus predicts each frame from the ones before, so a
 * decoder that is told of a lost frame both continues the sound and spoils less of what follows.
 */

import { distance } from "./frame.js";
import type { Ordered } from "./order.js";

/** Longer gaps are left to the playout, which fades out and begins anew with what comes. */
const MOST_LOST = 3;

/** Finds the frames that are lost, from those that are decoded. */
export class LostFrames {
  /** The number of the frame that follows; undefined before the first one, and in a pause. */
  #next: number | undefined;

  /** The numbers of the frames that are lost just before this one, which is decoded now. */
  before({ sequence, isLast }: Ordered): number[] {
    const first = this.#next ?? sequence;
    const count = distance(sequence, first);
    this.#next = isLast ? undefined : (sequence + 1) & 0xffff;
    if (count < 0 || count > MOST_LOST) return [];
    return Array.from({ length: count }, (_, at) => (first + at) & 0xffff);
  }
}

/**
 * The packet for which decoders make up a frame: the first byte of a packet with one frame of the
 * same kind, and a frame of the length 0, which means that it was lost (RFC 6716, section 3.2.1).
 */
export function lostPacket(packet: Uint8Array): Uint8Array {
  return packet.subarray(0, 1);
}
