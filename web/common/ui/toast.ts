/** Short notes that come and go by themselves. */

import { make, part } from "./dom";

/** Long enough to read a sentence twice. */
const STAY = 6000;

export function toast(text: string): void {
  // Said again, it is not news.
  for (const shown of part("toasts").children) if (shown.textContent === text) shown.remove();
  const element = make("div", "toast", text);
  element.dataset.testid = "toast";
  part("toasts").append(element);
  setTimeout(() => element.remove(), STAY);
}
