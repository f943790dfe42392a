/**
 * Undo and redo of this program's own operations. The undo of an operation is an operation, too, which brings back what the first one
 * changed, except for what others have changed since.
 */

import type { Action } from "./operation.js";

/** The operations that can be undone: each keeps the values that it replaced. */
const MAX_STEPS = 200;

/** What undoes an own operation. */
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

  /** Adds what the user did. What was undone before cannot be redone any more. */
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
      // Others may have changed the same since. Such a step is left out.
      if (reverse.length === 0) continue;
      to.push(reverse);
      return true;
    }
    return false;
  }
}
