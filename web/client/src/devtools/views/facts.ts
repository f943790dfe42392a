/** A list of names and values. */

import { h, say } from "../dom.js";

export class Facts {
  readonly element = h("dl", "facts");
  readonly #values = new Map<string, HTMLElement>();

  /** Shows a fact, at the place where it was first shown. */
  tell(name: string, value: string): void {
    let shown = this.#values.get(name);
    if (!shown) {
      shown = h("dd");
      this.#values.set(name, shown);
      this.element.append(h("div", "", h("dt", "", name), shown));
    }
    say(shown, value);
  }
}
