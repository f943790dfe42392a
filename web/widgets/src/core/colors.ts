/** The colours of participants. */

/** White text is readable on all of these, and neighbours in the list are easy to tell apart. */
const COLORS = [
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

/**
 * The colour of a participant that names none. It depends on the id only, so that all windows show
 * the same.
 */
export function colorOf(id: number): string {
  return COLORS[Math.max(id - 1, 0) % COLORS.length] ?? COLORS[0];
}
