/** A list of what happened, the newest first. */

import { h, Rows } from "../dom.js";
import type { Entry } from "../watch.js";
import { clock } from "../words.js";

export class Log {
  readonly element = h("ol", "log");
  readonly #rows = new Rows<Entry>(
    this.element,
    ({ number }) => number,
    (entry) => this.#make(entry),
  );

  show(entries: readonly Entry[]): void {
    this.#rows.show(entries);
  }

  #make({ at, kind, code, text }: Entry): { element: HTMLElement; update(): void } {
    const element = h(
      "li",
      kind,
      h("time", "", clock(at)),
      h("span", "kind", kind),
      code === "" ? undefined : h("code", "", code),
      h("span", "", text),
    );
    return { element, update() {} };
  }
}
