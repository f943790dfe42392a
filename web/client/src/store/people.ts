/** People among participants: who has two pages open is one person. */

import type { Participant } from "../api.js";

/** What tells people apart: the user that the server has verified, or what a function makes of a participant. */
export type By<Presence> = "user" | ((participant: Pick<Participant<Presence>, "id" | "presence" | "user">) => unknown);

/**
 * The ids of the others, one for each person: the lowest one that is not away. Without `by`, or where it is undefined, each participant is
 * a person. Own further pages are left out if `by` is a function that knows them by the presence.
 */
export function peopleOf<Presence>(
  others: readonly Participant<Presence>[],
  own: Presence | undefined,
  by?: By<Presence>,
): readonly number[] {
  if (by === undefined) return others.map(({ id }) => id);
  const keyOf = by === "user" ? ({ user }: Pick<Participant<Presence>, "user">): unknown => user : by;
  const ownKey = by === "user" || own === undefined ? undefined : keyOf({ id: 0, presence: own });
  const people = new Map<unknown, Participant<Presence>>();
  for (const one of others) {
    const key = keyOf(one);
    if (key !== undefined && key === ownKey) continue;
    // No key of an application is the object of a participant.
    const person = key ?? one;
    const known = people.get(person);
    if (!known || (known.away && !one.away)) people.set(person, one);
  }
  return [...people.values()].map(({ id }) => id).sort((a, b) => a - b);
}
