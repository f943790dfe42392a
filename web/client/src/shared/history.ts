/**
 * Undo and redo of this program's own operations. Undoing an operation is an operation, too: it
 * restores the values from before, except values that other participants have changed since.
 */

import type { Action } from "./operation.js";

/** The largest number of operations that can be undone: each keeps the values that it replaced. */
const MAX_STEPS = 200;

/** The actions that undo an own operation. */
export interface Part {
  inverse: readonly Action[];
}

/** Own operations that are undone together, in their order. */
export type Step = Part[];

export class History {
  #undo: Step[] = [];
  #redo: Step[] = [];
  readonly #perform: (actions: readonly Action[]) => Step;

  /** `perform` makes operations of actions, unless they would change nothing. */
  constructor(perform: (actions: readonly Action[]) => Step) {
    this.#perform = perform;
  }

  get canUndo(): boolean {
    return this.#undo.length > 0;
  }

  get canRedo(): boolean {
    return this.#redo.length > 0;
  }

  /** Adds an operation of the user. Operations undone before cannot be redone any more. */
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
      const actions = step.toReversed().flatMap(({ inverse }) => inverse);
      const reverse = this.#perform(actions);
      // A step without an effect is left out: others have changed the same values since.
      if (reverse.length === 0) continue;
      to.push(reverse);
      return true;
    }
    return false;
  }
}
