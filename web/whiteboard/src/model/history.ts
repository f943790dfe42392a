/**
 * Undo and redo of one's own actions. An undo is an ordinary operation: it sets what the action changed back to
 * what it was, on top of whatever the others have done since.
 */

import type { Change } from "./operations";
import { overwritten, type Shape } from "./shapes";

/** Nobody walks back further; every entry may hold a long stroke. */
const DEPTH = 200;

export class History {
  private readonly undos: Change[] = [];
  private readonly redos: Change[] = [];

  /** Remembers how to take back `change`, which is about to be applied to what `look` sees. */
  record(change: Change, look: (id: string) => Shape | undefined): void {
    this.undos.push(inverse(change, look));
    if (this.undos.length > DEPTH) this.undos.shift();
    this.redos.length = 0;
  }

  /** The change that takes back the last action; undefined if there is none with any effect. */
  undo(look: (id: string) => Shape | undefined): Change | undefined {
    return step(this.undos, this.redos, look);
  }

  redo(look: (id: string) => Shape | undefined): Change | undefined {
    return step(this.redos, this.undos, look);
  }

  get canUndo(): boolean {
    return this.undos.length > 0;
  }

  get canRedo(): boolean {
    return this.redos.length > 0;
  }
}

function step(from: Change[], to: Change[], look: (id: string) => Shape | undefined): Change | undefined {
  for (let change = from.pop(); change !== undefined; change = from.pop()) {
    // Others may have deleted or changed what it speaks of: only what still does something counts as a step.
    const effect = effective(change, look);
    if (effect === undefined) continue;
    to.push(inverse(effect, look));
    return effect;
  }
  return undefined;
}

function effective(change: Change, look: (id: string) => Shape | undefined): Change | undefined {
  const revive = change.revive?.filter(([id]) => look(id) === undefined) ?? [];
  const del = change.del?.filter((id) => look(id) !== undefined) ?? [];
  const set =
    change.set?.filter(([id, patch]) => {
      const shape = look(id);
      return shape !== undefined && Object.keys(overwritten(shape, patch)).length > 0;
    }) ?? [];
  if (revive.length + del.length + set.length === 0) return undefined;
  return { ...(revive.length > 0 && { revive }), ...(set.length > 0 && { set }), ...(del.length > 0 && { del }) };
}

function inverse(change: Change, look: (id: string) => Shape | undefined): Change {
  const { add = [], revive = [], set = [], del = [] } = change;
  return {
    revive: del.flatMap((id) => pairWith(id, look(id))),
    set: set.flatMap(([id, patch]) => {
      const shape = look(id);
      return shape ? pairWith(id, overwritten(shape, patch)) : [];
    }),
    del: [...add, ...revive].map(([id]) => id),
  };
}

function pairWith<T>(id: string, value: T | undefined): [string, T][] {
  return value === undefined ? [] : [[id, value]];
}
