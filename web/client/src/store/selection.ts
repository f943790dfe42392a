/** Parts of a room's state, as user interface frameworks show them. */

import { shallow } from "./equal.js";
import { Reads, type Change } from "./reads.js";

/** A value that can be shown: the same object until it changes. Its functions need no `this`. */
export interface Store<Value> {
  readonly get: () => Value;
  /** The value before there was a connection, which a server renders. */
  readonly first: () => Value;
  /** Calls `listener` when the value may have changed. Returns a function that removes the listener. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** What selectors read. */
export interface Source<Root> {
  /** What selectors get, and the same before there was a connection. */
  readonly root: () => Root;
  readonly firstRoot: () => Root;
  /** Another value after each change. */
  readonly version: () => unknown;
  /** Calls `listener` at each change; of shared data with what has changed. */
  readonly subscribe: (listener: (change?: Change) => void) => () => void;
}

export type Select<Root, Value> = (root: Root) => Value;
export type IsEqual<Value> = (a: Value, b: Value) => boolean;

/** A part of a source. The selector runs again only if the source has changed, and its value is replaced only by one that shows something else. */
export class Selection<Root, Value> implements Store<Value> {
  readonly reads = new Reads();
  readonly #source: Source<Root>;
  readonly #select: Select<Root, Value>;
  readonly #isEqual: IsEqual<Value>;
  #last: { readonly value: Value } | undefined;
  #version: unknown;
  #first: { readonly value: Value } | undefined;

  /** `before` is a value that is shown already: an equal one is not another one. */
  constructor(
    source: Source<Root>,
    select: Select<Root, Value>,
    isEqual: IsEqual<Value> = shallow,
    before?: { readonly value: Value },
  ) {
    this.#source = source;
    this.#select = select;
    this.#isEqual = isEqual;
    this.#last = before;
    // No version of a source is this object.
    this.#version = this;
  }

  readonly get = (): Value => {
    const version = this.#source.version();
    if (this.#last && version === this.#version) return this.#last.value;
    const value = this.reads.record(() => this.#select(this.#source.root()));
    this.#version = version;
    if (!this.#last || !this.#isEqual(this.#last.value, value)) this.#last = { value };
    return this.#last.value;
  };

  readonly first = (): Value => (this.#first ??= { value: this.#select(this.#source.firstRoot()) }).value;

  readonly subscribe = (listener: () => void): (() => void) => {
    // Only what has been read can concern the selector.
    this.get();
    return this.#source.subscribe((change) => {
      if (!change || this.reads.concern(change)) listener();
    });
  };
}
