/** Parts of a room's state, as user interface frameworks show them. */

import { check } from "../arguments.js";
import { shallow } from "./equal.js";
import { Reads, type Change } from "./reads.js";

/** A value that can be shown: the same object until it changes. Its functions need no `this`. */
export interface Store<Value> {
  readonly get: () => Value;
  /** The value before there was a connection, which a server renders. */
  readonly first: () => Value;
  /**
   * Calls `listener` when the value may have changed. Returns a function that removes the listener.
   */
  readonly subscribe: (listener: () => void) => () => void;
}

/** The input of selectors. */
export interface Source<Root> {
  /** The argument of selectors, now (`root`) and before the first connection (`firstRoot`). */
  readonly root: () => Root;
  readonly firstRoot: () => Root;
  /** Returns another value after each change. */
  readonly version: () => unknown;
  /** Calls `listener` at each change, for shared data with the change. */
  readonly subscribe: (listener: (change?: Change) => void) => () => void;
}

export type Select<Root, Value> = (root: Root) => Value;
export type IsEqual<Value> = (a: Value, b: Value) => boolean;

/**
 * The value of a selector. The selector runs again only if the source has changed; an equal result
 * does not replace the value.
 */
export class Selection<Root, Value> implements Store<Value> {
  readonly reads = new Reads();
  readonly #source: Source<Root>;
  readonly #select: Select<Root, Value>;
  readonly #isEqual: IsEqual<Value>;
  #last: { readonly value: Value } | undefined;
  #version: unknown;
  #first: { readonly value: Value } | undefined;

  /** `before` is a value that is shown already; an equal result does not replace it. */
  constructor(
    source: Source<Root>,
    select: Select<Root, Value>,
    isEqual: IsEqual<Value> = shallow,
    before?: { readonly value: Value },
  ) {
    check(select, "function", "a selector");
    check(isEqual, "function", "`isEqual`");
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
    check(listener, "function", "the listener");
    // Runs the selector, so that `reads` contains what it reads.
    this.get();
    return this.#source.subscribe((change) => {
      if (!change || this.reads.concern(change)) listener();
    });
  };
}
