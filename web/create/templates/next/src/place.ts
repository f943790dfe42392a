/** The server of this page, and the own name and colour. */

import { useSyncExternalStore } from "react";

export const url = process.env.NEXT_PUBLIC_GROUPWIRE_URL ?? "http://127.0.0.1:8080";

export interface Person {
  readonly name: string;
  readonly color: string;
}

const ANIMALS = ["Badger", "Crane", "Fox", "Heron", "Lynx", "Otter", "Seal", "Wren"];
const COLORS = ["#c2410c", "#a16207", "#15803d", "#0f766e", "#1d4ed8", "#7e22ce", "#be185d", "#b91c1c"];

/** The person in pages that the server renders, which does not know the window. */
const NOBODY: Person = { name: "", color: "#5b6472" };

let me: Person | undefined;

/** Each window has a name of its own, which it keeps when it is loaded anew. */
export function useMe(): Person {
  return useSyncExternalStore(neverChanges, ownPerson, () => NOBODY);
}

export function rename(name: string): void {
  sessionStorage.setItem("name", name);
}

function ownPerson(): Person {
  return (me ??= {
    name: kept("name", () => `${oneOf(ANIMALS)} ${Math.floor(Math.random() * 90) + 10}`),
    color: kept("color", () => oneOf(COLORS)),
  });
}

function neverChanges(): () => void {
  return () => {};
}

function kept(key: string, make: () => string): string {
  const value = sessionStorage.getItem(key) ?? make();
  sessionStorage.setItem(key, value);
  return value;
}

function oneOf(values: readonly string[]): string {
  return values[Math.floor(Math.random() * values.length)] ?? "";
}
