/** What the person's system asks for, and the participants' colours. Those of the controls are in styles/base.css. */

/** Asked for when needed, so that the module can be imported where there is no window. */
export function isDark(): boolean {
  return dark().matches;
}

function dark(): MediaQueryList {
  darkQuery ??= matchMedia("(prefers-color-scheme: dark)");
  return darkQuery;
}
let darkQuery: MediaQueryList | undefined;
let stillQuery: MediaQueryList | undefined;

/** Nothing should move that need not. */
export function wantsStillness(): boolean {
  stillQuery ??= matchMedia("(prefers-reduced-motion: reduce)");
  return stillQuery.matches;
}

export function onThemeChanged(listener: () => void): void {
  dark().addEventListener("change", listener);
}

/** White letters are readable on all of these, and neighbours in the list are easily told apart. */
const PEOPLE = [
  "#4060d8",
  "#c2410c",
  "#0f766e",
  "#a21caf",
  "#4d7c0f",
  "#b4235a",
  "#0369a1",
  "#7c3aed",
  "#92600a",
  "#475569",
] as const;

/** A participant's colour follows from its id, so that all see the same and neighbours differ. */
export function colorOf(id: number): string {
  return PEOPLE[Math.max(id - 1, 0) % PEOPLE.length] ?? PEOPLE[0];
}
