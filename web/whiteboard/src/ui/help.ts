/** The list of shortcuts, in a dialog of the browser's own. */

import { button, make } from "./dom";
import { TOOL_KEYS } from "./toolbar";

const ROWS: readonly (readonly [what: string, keys: string])[] = [
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
];

export function makeHelp(): () => void {
  const dialog = make("dialog", "help");
  dialog.ariaLabel = "Keyboard shortcuts";
  dialog.dataset.testid = "help-dialog";
  const head = make("div", "help-head");
  const close = button({ icon: "close", label: "Close", testid: "help-close", onPress: () => dialog.close() });
  head.append(make("h2", "", "Shortcuts"), close);
  const list = make("dl", "help-list");
  for (const [what, keys] of ROWS) {
    const row = make("div", "help-row");
    const value = make("dd", "");
    for (const key of keys.split(" ")) value.append(key === "+" ? "+" : make("kbd", "", key));
    row.append(make("dt", "", what), value);
    list.append(row);
  }
  const touch = make("p", "help-note", "On a touch screen: one finger draws, two fingers move and zoom.");
  dialog.append(head, list, touch);
  // A press beside the dialog closes it.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  document.body.append(dialog);
  return () => (dialog.open ? dialog.close() : dialog.showModal());
}
