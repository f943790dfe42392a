/**
 * The preferences of the user's system, and the colours of participants. The colours of controls are in
 * styles/base.css.
 */

/** Evaluated on use, so that the module can be imported without a window. */
export function isDark(): boolean {
  return dark().matches;
}

function dark(): MediaQueryList {
  darkQuery ??= matchMedia("(prefers-color-scheme: dark)");
  return darkQuery;
}
let darkQuery: MediaQueryList | undefined;
let stillQuery: MediaQueryList | undefined;

/** True if the user prefers reduced motion. */
export function wantsStillness(): boolean {
  stillQuery ??= matchMedia("(prefers-reduced-motion: reduce)");
  return stillQuery.matches;
}

export function onThemeChanged(listener: () => void): void {
  dark().addEventListener("change", listener);
}

/** White text is readable on all of these, and neighbours in the list are easy to tell apart. */
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

/** The colour of a participant depends on its id only, so that all windows show the same. */
export function colorOf(id: number): string {
  return PEOPLE[Math.max(id - 1, 0) % PEOPLE.length] ?? PEOPLE[0];
}
