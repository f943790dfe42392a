/** Animation frames while something moves, and none otherwise. */

import { guarded } from "../events.js";

/** Milliseconds, where there are no animation frames. */
const FRAME = 16;

export class Frames {
  #stop: (() => void) | undefined;
  #isOver = false;

  /** `draw` gets the time of `performance.now()`, and returns true if it needs another frame. */
  constructor(readonly draw: (now: number) => boolean) {}

  /** Asks for a frame, unless one is coming. */
  request(): void {
    if (this.#stop || this.#isOver) return;
    const run = (): void => {
      this.#stop = undefined;
      guarded(() => this.draw(performance.now()) && this.request());
    };
    // Both functions are looked up each time, because tests replace them.
    if (typeof requestAnimationFrame === "function") {
      const frame = requestAnimationFrame(run);
      this.#stop = () => cancelAnimationFrame(frame);
    } else {
      const timer = setTimeout(run, FRAME);
      this.#stop = () => clearTimeout(timer);
    }
  }

  stop(): void {
    this.#isOver = true;
    this.#stop?.();
    this.#stop = undefined;
  }
}
