/** The texts in the list of keyboard shortcuts. */

import { TOOL_KEYS } from "./toolbar";

export const SHORTCUTS: readonly (readonly [what: string, keys: string])[] = [
  ...TOOL_KEYS.map(([, label, key]) => [label, key] as const),
  ["Next colour", "C"],
  ["Thinner, thicker", "[ ]"],
  ["Fill", "F"],
  ["Undo", "Ctrl Z"],
  ["Redo", "Ctrl Shift Z"],
  ["Select all", "Ctrl A"],
  ["Duplicate", "Ctrl D"],
  ["Delete", "Del"],
  ["Square, circle, in proportion", "Shift"],
  ["Move the view", "Space + drag"],
  ["Zoom", "Ctrl + wheel"],
  ["Show all", "1"],
  ["We are talking", "M"],
];
