/** The user's name and colour, remembered for the next visit. */

import { COLORS, Person } from "./room";

const KEYS = { name: "groupwire-name", color: "groupwire-pointer-color" };

type Memory = Pick<Storage, "getItem" | "setItem">;

/** The person of the last visit, or a guest. */
export function remembered(memory: Memory, random = Math.random): Person {
  const guest = {
    name: `Guest ${100 + Math.floor(random() * 900)}`,
    color: COLORS[Math.floor(random() * COLORS.length)],
  };
  const { name, color } = Person.shape;
  const saved = (key: string): string | undefined => memory.getItem(key)?.trim() || undefined;
  return Person.parse({
    name: name.safeParse(saved(KEYS.name)).data ?? guest.name,
    color: color.safeParse(saved(KEYS.color)).data ?? guest.color,
  });
}

export function remember(memory: Memory, { name, color }: Person): void {
  memory.setItem(KEYS.name, name);
  memory.setItem(KEYS.color, color);
}

/** The first letters of the first and the last word: "AL" of "Ada Lovelace". */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean);
  const letters = [words.at(0), words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase() || "?";
}
