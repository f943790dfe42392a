/**
 * The playout delay that jitter and loss require. Like the receivers of audio (Moon, Kurose and Towsley, "Packet audio playout delay
 * adjustment", 1998) it keeps the delays that the last messages needed, and takes one that is long enough for most of them.
 */

import { clamp } from "./numbers.js";

/** The messages that are kept: six seconds of movement. With two, the delay changes so often that the movement errs by a third more. */
const KEPT = 150;

/** The share of messages for which the delay is long enough. With 0.95 the movement is later, and errs more while that changes (lab/motion). */
const SHARE = 0.9;

/** What is assumed of ten messages before the first one (ms): the server's tick, and one position of a pointer. */
const FIRST = Array<number>(10).fill(80);

/** More than is needed (ms): half a frame, because a position that arrives between two frames is shown by the second. */
const MARGIN = 8;

export class Delay {
  readonly #needs = [...FIRST];
  /** The same, ascending. */
  readonly #sorted = [...FIRST];

  constructor(
    readonly least: number,
    readonly most: number,
  ) {}

  /** Milliseconds. */
  get current(): number {
    const need = this.#sorted[Math.ceil(this.#sorted.length * SHARE) - 1] ?? 0;
    return clamp(need + MARGIN, this.least, this.most);
  }

  /** A message arrived that needed this delay (ms) to be there when the playout began to move to it. */
  note(need: number): void {
    const after = this.#sorted.findIndex((other) => other > need);
    this.#sorted.splice(after < 0 ? this.#sorted.length : after, 0, need);
    this.#needs.push(need);
    if (this.#needs.length <= KEPT) return;
    const [oldest = 0] = this.#needs.splice(0, 1);
    this.#sorted.splice(this.#sorted.indexOf(oldest), 1);
  }
}
