/** The tab about shared data: their values as a tree, as they change. */

import { h, Rows, say, type Row } from "../dom.js";
import type { Opened } from "../../shared/opened.js";
import { Tree } from "../tree.js";
import type { Watch } from "../watch.js";
import { many } from "../words.js";
import type { View } from "./view.js";

/** Large data are read and drawn at most this often, in milliseconds. */
const PAUSE_MS = 200;

type Part = readonly [name: string, opened: Opened];

export class DataView implements View {
  readonly title = "Data";
  readonly #parts = h("div");
  readonly #own = new Tree();
  readonly #empty = h("p", "quiet", "The room has no shared data. Other values are shown by devtools(room, { data }).");
  readonly #rows = new Rows<Part>(
    this.#parts,
    ([, opened]) => opened,
    (part) => this.#row(part),
  );
  readonly element = h("div", "", this.#parts, this.#own.element, this.#empty);
  #last = -Infinity;

  constructor(readonly watch: Watch) {}

  show(): void {
    const now = performance.now();
    if (now - this.#last < PAUSE_MS) return;
    this.#last = now;
    const { shared, data } = this.watch;
    const parts = Object.entries(shared);
    this.#rows.show(parts);
    this.#own.show(Object.entries(data).map(([key, value]) => ({ key, read: () => shown(value) })));
    this.#empty.hidden = parts.length + Object.keys(data).length > 0;
  }

  #row([name]: Part): Row<Part> {
    const state = h("span", "quiet");
    const tree = new Tree();
    return {
      element: h("section", "", h("h2", "", name, " ", state), tree.element),
      update: ([, { views, pending, isComplete, isRestoring }]) => {
        const facts = [
          isRestoring ? "being restored" : isComplete ? "complete" : "incomplete: something is lost",
          pending > 0 && `${many(pending, "operation")} not ordered yet`,
        ];
        say(state, facts.filter((fact) => fact !== false).join(", "));
        tree.show(Object.entries(views).map(([key, view]) => ({ key, read: () => shown(view) })));
      },
    };
  }
}

/** What a value holds: that of shared data, the JSON of a document of Yjs, or itself. */
function shown(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("subscribe" in value && "value" in value) return value.value;
  if ("toJSON" in value && typeof value.toJSON === "function") return value.toJSON() as unknown;
  return value;
}
