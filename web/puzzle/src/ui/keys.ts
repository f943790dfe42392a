/** Keyboard shortcuts. */

import type { Table } from "../table";

/** CSS pixels by which an arrow key moves the view; four times as many with Shift. */
const STEP = 60;

export const SHORTCUTS: readonly (readonly [what: string, keys: string])[] = [
  ["Move the view", "← ↑ ↓ →"],
  ["Zoom", "+ -"],
  ["Show all", "1"],
  ["Real size", "0"],
  ["The picture", "P"],
  ["New puzzle", "N"],
  ["Connection", "S"],
  ["Put back what you hold", "Esc"],
];

export interface KeyActions {
  help(): void;
  preview(isOpen?: boolean): void;
  chooser(): void;
  settings(): void;
}

export function listenToKeys(table: Table, actions: KeyActions): void {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (isTyping(target) || document.querySelector("dialog[open]")) return;
    if (key === " " && !(target instanceof HTMLButtonElement)) {
      event.preventDefault();
      table.gestures.holdSpace(true);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = find(table, actions, event);
    if (!action) return;
    event.preventDefault();
    action();
  });
  addEventListener("keyup", ({ key }) => {
    if (key === " ") table.gestures.holdSpace(false);
  });
  // A button that was pressed with the mouse loses the focus, so that the space key moves the view
  // instead of pressing it again.
  addEventListener("click", ({ detail }) => {
    const focused = document.activeElement;
    if (detail > 0 && focused instanceof HTMLButtonElement) focused.blur();
  });
  addEventListener("blur", () => table.gestures.holdSpace(false));
}

function find(table: Table, actions: KeyActions, { key, shiftKey }: KeyboardEvent): (() => void) | undefined {
  const step = shiftKey ? STEP * 4 : STEP;
  const byKey: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => table.camera.pan(step, 0),
    ArrowRight: () => table.camera.pan(-step, 0),
    ArrowUp: () => table.camera.pan(0, step),
    ArrowDown: () => table.camera.pan(0, -step),
    "+": () => table.zoomBy(1.25),
    "=": () => table.zoomBy(1.25),
    "-": () => table.zoomBy(1 / 1.25),
    "0": () => table.zoomBy(1 / table.camera.zoom),
    "1": () => table.fit(),
    p: () => actions.preview(),
    n: () => actions.chooser(),
    s: () => actions.settings(),
    "?": () => actions.help(),
    Escape: () => (table.gestures.isWorking ? table.gestures.cancel() : actions.preview(false)),
  };
  const name = key.length === 1 ? key.toLowerCase() : key;
  return Object.hasOwn(byKey, name) ? byKey[name] : undefined;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}
