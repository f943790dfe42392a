/** A dialog with the list of keyboard shortcuts. */

import { button, make } from "./dom";

export interface HelpOptions {
  readonly rows: readonly (readonly [what: string, keys: string])[];
  readonly note: string;
  /** A link to the other application on this server. */
  readonly elsewhere: { readonly name: string; readonly href: string };
}

export function makeHelp({ rows, note, elsewhere }: HelpOptions): () => void {
  const dialog = make("dialog", "help");
  dialog.ariaLabel = "Keyboard shortcuts";
  dialog.dataset.testid = "help-dialog";
  const head = make("div", "help-head");
  const close = button({ icon: "close", label: "Close", testid: "help-close", onPress: () => dialog.close() });
  head.append(make("h2", "", "Shortcuts"), close);
  const list = make("dl", "help-list");
  for (const [what, keys] of rows) {
    const row = make("div", "help-row");
    const value = make("dd", "");
    // A plus between keys means that they are pressed together.
    for (const [i, key] of keys.split(" ").entries()) value.append(key === "+" && i > 0 ? "+" : make("kbd", "", key));
    row.append(make("dt", "", what), value);
    list.append(row);
  }
  const link = make("a", "", elsewhere.name);
  link.href = elsewhere.href;
  const foot = make("p", "help-note", "Also here: ");
  foot.append(link);
  dialog.append(head, list, make("p", "help-note", note), foot);
  // A press beside the dialog closes it.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  document.body.append(dialog);
  return () => (dialog.open ? dialog.close() : dialog.showModal());
}
