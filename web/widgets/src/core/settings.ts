/** The settings of all widgets of a page, which single widgets can override. */

import { check, FUNCTION, OBJECT, ROOM, type Rule } from "./arguments.js";
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
  /** Returns the person of a participant. Fields that it leaves out have their defaults. */
  readonly person?: PersonOf | undefined;
}

const RULES: Readonly<Record<keyof Settings, Rule>> = { room: ROOM, rooms: OBJECT, texts: OBJECT, person: FUNCTION };

const listeners = new Set<() => void>();
let current: Settings = {};

/**
 * Changes the settings of all widgets of the page. Settings that are left out stay as they are.
 *
 * @example
 * ```ts
 * configure({ room: connect("wss://example.com", "demo", { presence: { name: "Ada" } }) });
 * ```
 */
export function configure(settings: Settings): void {
  check(settings ?? 0, "the argument of `configure`", OBJECT);
  for (const [name, value] of Object.entries(settings))
    check(value, `\`${name}\` of \`configure\``, RULES[name as keyof Settings] ?? NONE);
  current = { ...current, ...settings };
  for (const listener of [...listeners]) listener();
}

const NONE: Rule = [`one of ${Object.keys(RULES).join(", ")}`, () => false];

export function settings(): Settings {
  return current;
}

/** Calls `listener` after each `configure`. Returns a function that removes the listener. */
export function onConfigured(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
