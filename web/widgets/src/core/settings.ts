/** What all widgets of a page have in common, unless one of them has a setting of its own. */

import type { PersonOf } from "./people.js";
import type { AnyRoom } from "./room.js";
import type { Texts } from "./texts.js";

export interface Settings {
  /** The room of widgets without a room of their own. */
  readonly room?: AnyRoom | undefined;
  /** The rooms that the attribute `room` names. */
  readonly rooms?: Readonly<Record<string, AnyRoom>>;
  /** Replaces the English texts. */
  readonly texts?: Partial<Texts>;
  /** Tells who a participant is. What it leaves out is as without it. */
  readonly person?: PersonOf | undefined;
}

const listeners = new Set<() => void>();
let current: Settings = {};

/**
 * Sets what all widgets of the page have in common. What is left out stays as it is.
 *
 * @example
 * ```ts
 * configure({ room: connect("wss://example.com", "demo", { presence: { name: "Ada" } }) });
 * ```
 */
export function configure(settings: Settings): void {
  current = { ...current, ...settings };
  for (const listener of [...listeners]) listener();
}

export function settings(): Settings {
  return current;
}

/** Calls `listener` after each `configure`. Returns a function that removes the listener. */
export function onConfigured(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
