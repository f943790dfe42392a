/** What users do with keys, pointers and wheels. */

import type { Stops } from "./element.js";
import { FIRST, listen } from "./listen.js";

/**
 * Calls `listener` when a key is pressed anywhere in the page, unless something else has taken it.
 */
export function onKey(key: string, listener: (event: KeyboardEvent) => void): () => void {
  return listen(window, {
    keydown: (event: KeyboardEvent) => {
      if (event.key === key && !event.defaultPrevented) listener(event);
    },
  });
}

/** True if a key is typed into a field, or has another meaning because of a modifier. */
export function isEditable(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.composedPath().some((target) => {
    if (!(target instanceof HTMLElement)) return false;
    return target.isContentEditable || /^(input|textarea|select)$/.test(target.localName);
  });
}

/** Keys that move nothing by themselves. */
const SILENT = /^(Tab|Shift|Control|Alt|Meta)$/;

/**
 * Calls `listener` when the user does something with an element, but not with a widget; Escape
 * counts anywhere in the page.
 */
export function onInput(element: Element, listener: () => void): Stops {
  const isWidget = (event: Event): boolean =>
    event.composedPath().some((target) => target instanceof Element && target.localName.startsWith("gw-"));
  const act = (event: Event): void => {
    if (!isWidget(event) && !SILENT.test((event as KeyboardEvent).key ?? "")) listener();
  };
  return [listen(element, { wheel: act, pointerdown: act, keydown: act }, FIRST), onKey("Escape", () => listener())];
}
