/**
 * Hands frames to the decoder in the order in which they were made, because Opus predicts each
 * frame from the one before. A frame whose predecessor is missing waits for it a little.
 */

import { distance, FRAME_MS } from "./frame.js";

/** The most frames that wait, whatever the delay. */
const MOST = 25;
/** A frame that is further ahead does not wait. */
const FAR = 50;

/**
 * The number of frames for which a missing one is waited for, where frames are played `delay`
 * milliseconds after the fastest ones came: the frame behind the missing one is still decoded a
 * frame before its turn.
 */
export const holdFor = (delay: number): number => Math.max(Math.floor(delay / FRAME_MS) - 1, 0);

export interface Ordered {
  readonly sequence: number;
  /** True for the last frame before a pause: nothing waits for what follows. */
  readonly isLast: boolean;
}

export class DecodeOrder<T extends Ordered> {
  #waiting: T[] = [];
  /** The frame that is next; undefined before the first one, and after a pause began. */
  #next: number | undefined;
  /** The newest frame that was handed on. */
  #done: number | undefined;

  /**
   * Takes a frame, and returns those whose turn it is, or undefined if it is too late. `hold` is
   * the number of frames for which a missing one is waited for.
   */
  push(frame: T, hold: number): T[] | undefined {
    const behind = this.#done === undefined ? 1 : distance(frame.sequence, this.#done);
    const isNew = behind > FAR || behind < -FAR;
    if (!isNew && behind <= 0) return undefined;
    const ready = isNew ? this.flush() : [];
    if (isNew) this.#next = undefined;
    if (this.#waiting.some(({ sequence }) => sequence === frame.sequence)) return ready;
    const at = this.#waiting.findIndex(({ sequence }) => distance(sequence, frame.sequence) > 0);
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, frame);
    for (;;) {
      const [first] = this.#waiting;
      const newest = this.#waiting.at(-1);
      if (!first || !newest) return ready;
      const isNext = this.#next === undefined || first.sequence === this.#next;
      if (!isNext && distance(newest.sequence, this.#next ?? 0) <= Math.min(hold, MOST)) return ready;
      ready.push(this.#take());
    }
  }

  /** The frames that wait, when nothing follows them. */
  flush(): T[] {
    return Array.from(this.#waiting, () => this.#take());
  }

  #take(): T {
    const frame = this.#waiting.shift() as T;
    this.#done = frame.sequence;
    this.#next = frame.isLast ? undefined : (frame.sequence + 1) & 0xffff;
    return frame;
  }
}
