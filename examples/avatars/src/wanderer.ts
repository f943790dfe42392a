/**
 * A simulated person for demonstrations and tests: walks from place to place and rests in between.
 */

import { Walker, WORLD, type Point } from "./walker";

/** The longest rest in milliseconds. */
const REST = 1500;

export class Wanderer {
  readonly walker: Walker;
  #rest: number;

  constructor(readonly random: () => number = Math.random) {
    this.walker = new Walker(this.#somewhere());
    this.#rest = random() * REST;
  }

  /** Goes on by `ms` milliseconds. */
  step(ms: number): Point {
    if (!this.walker.isWalking && (this.#rest -= ms) <= 0) {
      this.walker.walkTo(this.#somewhere());
      this.#rest = this.random() * REST;
    }
    return this.walker.step(ms);
  }

  #somewhere(): Point {
    return [this.random() * WORLD.width, this.random() * WORLD.height];
  }
}
