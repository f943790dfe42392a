/**
 * The playout delay that jitter and loss require. Like audio receivers (Moon, Kurose and Towsley,
 * "Packet audio playout delay adjustment", 1998) it keeps the delays that the last messages needed,
 * and chooses a delay that is long enough for most of these messages.
 */

import { clamp } from "./numbers.js";

/**
 * The number of messages whose delays are kept: six seconds. With two seconds, changes of the delay
 * raise the error by a third.
 */
const KEPT = 150;

/**
 * The share of messages for which the delay is long enough. With 0.95, lag and errors are larger
 * (lab/motion).
 */
const SHARE = 0.9;

/**
 * The delay (ms) assumed for ten messages before the first one: the server's tick, and one position
 * of a pointer.
 */
const FIRST = Array<number>(10).fill(80);

/**
 * Added to the needed delay (ms): half a frame, because a position that arrives between two frames
 * is shown by the second one.
 */
const MARGIN = 8;

export class Delay {
  readonly #needs = [...FIRST];
  /** The needed delays in ascending order. */
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

  /**
   * Records a message that needed this delay (ms) to arrive before the playout began to move to its
   * place.
   */
  note(need: number): void {
    const after = this.#sorted.findIndex((other) => other > need);
    this.#sorted.splice(after < 0 ? this.#sorted.length : after, 0, need);
    this.#needs.push(need);
    if (this.#needs.length <= KEPT) return;
    const [oldest = 0] = this.#needs.splice(0, 1);
    this.#sorted.splice(this.#sorted.indexOf(oldest), 1);
  }
}
