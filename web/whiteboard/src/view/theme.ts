/** Colours for canvas and pointers; those of the controls are in styles/base.css. */

import type { Color } from "../model/shapes";

const LIGHT: Readonly<Record<Color, string>> = {
  ink: "#23262d",
  red: "#d9434a",
  orange: "#e8842a",
  green: "#2c9a63",
  teal: "#1397a6",
  blue: "#3b6fe0",
  violet: "#7f5bd6",
  pink: "#d64f94",
};

const DARK: Readonly<Record<Color, string>> = {
  ink: "#e8e8e4",
  red: "#ff7b7f",
  orange: "#ffab5c",
  green: "#5fce95",
  teal: "#4fcad6",
  blue: "#7fa6ff",
  violet: "#b39bff",
  pink: "#ff8cc3",
};

/** Asked for when needed, so that the module can be imported where there is no window. */
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

export function paint(color: Color): string {
  return (dark().matches ? DARK : LIGHT)[color];
}

export function accent(): string {
  return dark().matches ? "#8fa8ff" : "#4060d8";
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
