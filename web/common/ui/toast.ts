/** Short notes that disappear by themselves. */

import { make, part } from "./dom";

/** Time (ms) in which the longest note can be read twice. */
const STAY = 6000;

export function toast(text: string): void {
  // A repeated note replaces the older one.
  for (const shown of part("toasts").children) if (shown.textContent === text) shown.remove();
  const element = make("div", "toast", text);
  element.dataset.testid = "toast";
  part("toasts").append(element);
  setTimeout(() => element.remove(), STAY);
}
