/**
 * Locks and turns. They are never optimistic: a lock has its holder only once the room has ordered
 * the operation.
 */

import type { Definition, Shown } from "./context.js";
import { LOCK, TURNS } from "./tables.js";

/**
 * A lock: the first one to acquire it, in the room's order, holds it until it releases it or leaves
 * for good.
 */
export interface SharedLock extends Shown<number | undefined> {
  /** The participant that holds it. */
  readonly holder: number | undefined;
  /** True if this participant holds it. */
  readonly isMine: boolean;
  /** Asks for the lock. If somebody else holds it, that has no effect. */
  acquire(): void;
  release(): void;
}

/** Turns: a queue of participants; the first one has the turn. */
export interface SharedTurns extends Shown<readonly number[]> {
  /** The participant whose turn it is. */
  readonly current: number | undefined;
  readonly isMine: boolean;
  /** Appends this participant to the queue. */
  join(): void;
  leave(): void;
  /** Ends this participant's turn. */
  next(): void;
}

const NOBODY: readonly number[] = [];

/** A lock of shared data. */
export function lock(): Definition<SharedLock> {
  return {
    open: (context, name) => {
      const holder = (): number | undefined =>
        context
          .tables()
          .table(LOCK + name)
          .get("") as number | undefined;
      return {
        get value() {
          return holder();
        },
        get holder() {
          return holder();
        },
        get isMine() {
          return holder() !== undefined && holder() === context.self();
        },
        subscribe: (listener) => context.onChange(LOCK + name, listener),
        acquire: () => context.perform([name, "l"]),
        release: () => context.perform([name, "f"]),
      };
    },
  };
}

/** Turns of shared data. */
export function turns(): Definition<SharedTurns> {
  return {
    open: (context, name) => {
      const line = (): readonly number[] =>
        (context
          .tables()
          .table(TURNS + name)
          .get("") as readonly number[] | undefined) ?? NOBODY;
      return {
        get value() {
          return line();
        },
        get current() {
          return line()[0];
        },
        get isMine() {
          return line().length > 0 && line()[0] === context.self();
        },
        subscribe: (listener) => context.onChange(TURNS + name, listener),
        join: () => context.perform([name, "j"]),
        leave: () => context.perform([name, "k"]),
        next: () => context.perform([name, "n"]),
      };
    },
  };
}
