/** The interface that the kinds of shared data have to their room. */

import type { Invalid } from "../schema/check.js";
import type { Action } from "./operation.js";
import type { Previews } from "./previews.js";
import type { Reducer, Tables } from "./tables.js";

/** Data that can be shown: its value stays the same object until it changes. */
export interface Shown<Value> {
  readonly value: Value;
  /**
   * Calls `listener` after changes, once for each task, with the keys that may have changed.
   * Returns a function that removes the listener. It needs no `this`.
   */
  readonly subscribe: (listener: (keys: ReadonlySet<string>) => void) => () => void;
}

/** One kind of shared data, with its schema. */
export interface Definition<View> {
  /** The application's reducer, for data that has one. */
  readonly reducer?: Reducer;
  /** Makes the view of this data in a room. */
  open(context: Context, name: string): View;
}

export interface Context {
  readonly previews: Previews | undefined;
  /** The tables, with own operations applied. */
  tables(): Tables;
  /** Sends an operation, or adds to the batch that is being made. */
  perform(action: Action): void;
  /** Makes one operation of all actions in `run`. */
  batch<Result>(run: () => Result): Result;
  /** The id of the item that the next action would insert. */
  nextId(): string;
  /** Calls a function at each change, with its key, before anything else can read the table. */
  watch(table: string, changed: (key: string) => void): void;
  onChange(table: string, listener: (keys: ReadonlySet<string>) => void): () => void;
  /** Reports a message of another participant that was dropped because it is not valid. */
  dropped(invalid: Omit<Invalid, "sender">): void;
  /** This participant; undefined before it has joined. */
  self(): number | undefined;
}
