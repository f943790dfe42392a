/** Groups participants into persons: two pages of one user are one person. */

import type { Participant } from "../api.js";
import { check, must, type Rule } from "../arguments.js";

/** The key that distinguishes persons: the verified user, or the result of a function. */
export type By<Presence> = "user" | ((participant: Pick<Participant<Presence>, "id" | "presence" | "user">) => unknown);

export const personKey = must('"user" or a function', (value) => value === "user" || typeof value === "function");
const LIST: Rule = { each: "object" };

/**
 * The ids of the others, one for each person: the lowest id that is not away. Without `by`, or
 * where its key is undefined, each participant is a person. If `by` is a function of the presence
 * alone, the own further pages are left out, too.
 */
export function peopleOf<Presence>(
  others: readonly Participant<Presence>[],
  own: Presence | undefined,
  by?: By<Presence>,
): readonly number[] {
  check(others, LIST, "`others`");
  if (by === undefined) return others.map(({ id }) => id);
  personKey(by, "`by`");
  const keyOf = by === "user" ? ({ user }: Pick<Participant<Presence>, "user">): unknown => user : by;
  const ownKey = by === "user" || own === undefined ? undefined : keyOf({ id: 0, presence: own });
  const people = new Map<unknown, Participant<Presence>>();
  for (const one of others) {
    const key = keyOf(one);
    if (key !== undefined && key === ownKey) continue;
    // The participant object is a key that no application can return.
    const person = key ?? one;
    const known = people.get(person);
    if (!known || (known.away && !one.away)) people.set(person, one);
  }
  return [...people.values()].map(({ id }) => id).sort((a, b) => a - b);
}
