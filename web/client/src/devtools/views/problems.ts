/** The tab about what went wrong, in the words and with the codes of the product. */

import { h, say } from "../dom.js";
import type { Watch } from "../watch.js";
import { Log } from "./log.js";
import type { View } from "./view.js";

export class ProblemsView implements View {
  readonly title = "Problems";
  readonly #now = h("p");
  readonly #log = new Log();
  readonly #empty = h("p", "quiet", "Nothing else went wrong since the devtools began to look.");
  readonly element = h("div", "", this.#now, this.#log.element, this.#empty);

  constructor(readonly watch: Watch) {}

  get mark(): string {
    return this.watch.room.problem ? "now" : "";
  }

  show(): void {
    const { room, log } = this.watch;
    const { problem } = room;
    say(this.#now, problem ? `${problem.message} (${problem.code})` : "The connection has no problem.");
    this.#now.className = problem ? "missed" : "";
    const entries = log.newestFirst().filter(({ kind }) => kind !== "connection");
    this.#log.show(entries);
    this.#empty.hidden = entries.length > 0;
  }
}
