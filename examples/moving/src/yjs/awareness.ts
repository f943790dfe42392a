/** The names in an awareness, without the own one. */
import type { Awareness } from "y-protocols/awareness";

export function othersOf(awareness: Awareness | null | undefined): string[] {
  if (!awareness) return [];
  const others = [...awareness.getStates()].filter(([client]) => client !== awareness.clientID);
  return others.flatMap(([, { user }]) => (user ? [String(user.name)] : []));
}
