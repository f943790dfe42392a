/**
 * The playout delay that jitter requires. As in Moon, Kurose and Towsley, "Packet audio playout
 * delay adjustment" (1998), it is long enough for most of the last frames.
 */

import { FRAME_MS } from "./frame.js";

/** The number of frames that are remembered: ten seconds of speech. */
const KEPT = 500;

/**
 * The share of frames that arrive within the delay: all but one of those that are remembered. Later
 * ones are concealed, as lost ones are, and where packets are lost many frames are repeats, which
 * are all as late as the path requires. With a share of 0.97, at 5 % loss on both links 4 % of all
 * frames came too late for that, although the channel lost 1.5 % (lab/README.md).
 */
const SHARE = 0.998;

/** Before this many frames have come, the delay is at least `FIRST_MS`. */
const FEW = 50;
/** Milliseconds: a frame, and the tick of 40 ms of servers without the QoS `speakers`. */
const FIRST_MS = 60;

/** Added to what the frames needed (ms): a block of the audio device, twice. */
const MARGIN_MS = 6;

/**
 * A transit that differs from the usual one by more than this (ms) is no jitter: the sender's
 * device slept, or its program began to count anew.
 */
const FAR_MS = 1500;

/**
 * After this many frames in a row that needed more than the largest delay, the path has become
 * slower for good, and only they count.
 */
const SLOWER = 25;

export class VoiceDelay {
  /** Arrival times minus sending times in milliseconds, of the last frames, as a ring. */
  readonly #transits = new Float64Array(KEPT);
  /** The same in ascending order. */
  readonly #sorted = new Float64Array(KEPT);
  #count = 0;
  #at = 0;
  /** Frames in a row that needed more than the largest delay. */
  #slow = 0;

  constructor(
    readonly least: number,
    public most: number,
  ) {}

  /**
   * Records that a frame arrived at `now` (ms). `sequence` does not wrap here. Returns false if the
   * frame belongs to another time than those before, which are forgotten.
   */
  note(sequence: number, now: number): boolean {
    const transit = now - sequence * FRAME_MS;
    const isFar = this.#count > 0 && Math.abs(transit - this.#share(0.5)) > FAR_MS;
    this.#slow = this.#count > 0 && transit - this.#share(0) > this.most ? this.#slow + 1 : 0;
    if (isFar || this.#slow > SLOWER) this.#count = this.#at = this.#slow = 0;
    if (this.#count === KEPT) this.#remove(this.#transits[this.#at] ?? 0);
    this.#insert(transit);
    this.#transits[this.#at] = transit;
    this.#at = (this.#at + 1) % KEPT;
    return !isFar;
  }

  /** Milliseconds from the arrival of the fastest frames until they are played. */
  get target(): number {
    if (this.#count === 0) return Math.min(Math.max(this.least, FIRST_MS), this.most);
    const need = this.#share(SHARE) - this.#share(0) + MARGIN_MS;
    return Math.min(Math.max(need, this.least, this.#count < FEW ? FIRST_MS : 0), this.most);
  }

  /** When the frame would have arrived if it had been as fast as the fastest one. */
  soonest(sequence: number): number {
    return this.#share(0) + sequence * FRAME_MS;
  }

  /** The transit that a share of the frames did not exceed. */
  #share(share: number): number {
    return this.#sorted[Math.max(Math.ceil(this.#count * share) - 1, 0)] ?? 0;
  }

  #insert(transit: number): void {
    const at = this.#place(transit);
    this.#sorted.copyWithin(at + 1, at, this.#count);
    this.#sorted[at] = transit;
    this.#count += 1;
  }

  #remove(transit: number): void {
    const at = this.#place(transit);
    this.#sorted.copyWithin(at, at + 1, this.#count);
    this.#count -= 1;
  }

  /** The place of the first transit that is not below this one. */
  #place(transit: number): number {
    let [from, to] = [0, this.#count];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#sorted[middle] ?? 0) < transit) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
