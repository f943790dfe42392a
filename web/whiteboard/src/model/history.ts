/**
 * Undo and redo of this window's actions. An undo is an ordinary operation, which restores the values that the action
 * changed, on top of later changes by others.
 */

import type { Change } from "./operations";
import { overwritten, type Shape } from "./shapes";

/** Limit of entries, because each may hold a long stroke. */
const DEPTH = 200;

export class History {
  private readonly undos: Change[] = [];
  private readonly redos: Change[] = [];

  /** Records how to undo `change`, before it is applied to the objects that `look` returns. */
  record(change: Change, look: (id: string) => Shape | undefined): void {
    this.undos.push(inverse(change, look));
    if (this.undos.length > DEPTH) this.undos.shift();
    this.redos.length = 0;
  }

  /** The change that undoes the last action; undefined if no action is left whose undo has an effect. */
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
    // Others may have deleted or changed the objects. A step without an effect is skipped.
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
