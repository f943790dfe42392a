/** Keyboard shortcuts. */

import type { Board } from "../board";
import { COLORS, WIDTHS } from "../model/shapes";
import { TOOL_KEYS } from "./toolbar";

/** Board units by which an arrow key moves the selection; ten times as many with Shift. */
const NUDGE = 2;

export function listenToKeys(board: Board, onHelp: () => void, onTalk: () => void): void {
  addEventListener("keydown", (event) => {
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === " " && !(event.target instanceof HTMLButtonElement)) {
      event.preventDefault();
      board.gestures.holdSpace(true);
      return;
    }
    const action = event.ctrlKey || event.metaKey ? withControl(board, event) : plain(board, event, onHelp, onTalk);
    if (!action) return;
    event.preventDefault();
    action();
  });
  addEventListener("keyup", ({ key }) => {
    if (key === " ") board.gestures.holdSpace(false);
  });
  // A button that was pressed with the mouse loses the focus, so that the space key moves the view
  // instead of pressing it again.
  addEventListener("click", ({ detail }) => {
    const focused = document.activeElement;
    if (detail > 0 && focused instanceof HTMLButtonElement) focused.blur();
  });
  addEventListener("blur", () => board.gestures.holdSpace(false));
}

function withControl(board: Board, { key, shiftKey }: KeyboardEvent): (() => void) | undefined {
  switch (key.toLowerCase()) {
    case "z":
      return () => (shiftKey ? board.redo() : board.undo());
    case "y":
      return () => board.redo();
    case "a":
      return () => {
        board.choose("select");
        board.select(board.document.shapes.keys());
      };
    case "d":
      return () => board.duplicate();
    default:
      return undefined;
  }
}

function plain(
  board: Board,
  { key, shiftKey, altKey }: KeyboardEvent,
  onHelp: () => void,
  onTalk: () => void,
): (() => void) | undefined {
  if (altKey) return undefined;
  const tool = TOOL_KEYS.find(([, , letter]) => letter === key.toUpperCase());
  if (tool) return () => board.choose(tool[0]);
  const step = shiftKey ? NUDGE * 10 : NUDGE;
  const actions: Readonly<Record<string, () => void>> = {
    Delete: () => board.deleteSelection(),
    Backspace: () => board.deleteSelection(),
    Escape: () => (board.gestures.isWorking ? board.gestures.cancel() : board.select([])),
    ArrowLeft: () => board.nudge(-step, 0),
    ArrowRight: () => board.nudge(step, 0),
    ArrowUp: () => board.nudge(0, -step),
    ArrowDown: () => board.nudge(0, step),
    "+": () => board.zoomBy(1.25),
    "=": () => board.zoomBy(1.25),
    "-": () => board.zoomBy(1 / 1.25),
    "0": () => board.zoomBy(1 / board.zoom),
    "1": () => board.fit(),
    f: () => board.setStyle({ fill: !board.style.fill }),
    c: () => board.setStyle({ color: next(COLORS, board.style.color, 1) }),
    "[": () => board.setStyle({ width: next(WIDTHS, board.style.width, -1) }),
    "]": () => board.setStyle({ width: next(WIDTHS, board.style.width, 1) }),
    m: onTalk,
    "?": onHelp,
  };
  return Object.hasOwn(actions, key) ? actions[key] : undefined;
}

function next<T>(list: readonly T[], current: T, step: number): T {
  return list[(list.indexOf(current) + step + list.length) % list.length] ?? current;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}
