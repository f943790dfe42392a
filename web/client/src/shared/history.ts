/**
 * Undo and redo of this program's own operations. The undo of an operation is an operation, too, which brings back what the first one
 * changed, except for what others have changed since.
 */

import type { Action } from "./operation.js";

/** The operations that can be undone: each keeps the values that it replaced. */
const MAX_STEPS = 200;

/** An own operation, and what undoes it. */
export interface Step {
  inverse: readonly Action[];
}

export class History {
  #undo: Step[] = [];
  #redo: Step[] = [];
  readonly #perform: (actions: readonly Action[], step: Step) => boolean;

  /** `perform` makes an operation of actions, unless they would change nothing: then it returns false. */
  constructor(perform: (actions: readonly Action[], step: Step) => boolean) {
    this.#perform = perform;
  }

  get canUndo(): boolean {
    return this.#undo.length > 0;
  }

  get canRedo(): boolean {
    return this.#redo.length > 0;
  }

  /** Adds an operation of the user. What was undone before cannot be redone any more. */
  add(step: Step): void {
    this.#undo.push(step);
    if (this.#undo.length > MAX_STEPS) this.#undo.shift();
    this.#redo = [];
  }

  /** Undoes the last operation that can be undone. Returns false if there is none. */
  undo(): boolean {
    return this.#go(this.#undo, this.#redo);
  }

  redo(): boolean {
    return this.#go(this.#redo, this.#undo);
  }

  #go(from: Step[], to: Step[]): boolean {
    for (let step = from.pop(); step; step = from.pop()) {
      const reverse: Step = { inverse: [] };
      // Others may have changed the same since. Such a step is left out.
      if (!this.#perform(step.inverse, reverse)) continue;
      to.push(reverse);
      return true;
    }
    return false;
  }
}
