/** The tab about own transactions that are not confirmed. */

import { h, Rows, say, type Row } from "../dom.js";
import type { Waiting } from "../pending.js";
import type { Watch } from "../watch.js";
import { bytes, clock, many, span } from "../words.js";
import type { View } from "./view.js";

/** Rows that are shown. */
const MOST_ROWS = 200;

export class PendingView implements View {
  readonly title = "Pending";
  readonly #summary = h("p");
  readonly #list = h("ol", "waiting");
  readonly #rows = new Rows<Waiting>(
    this.#list,
    ({ number }) => number,
    (waiting) => this.#row(waiting),
  );
  readonly #more = h("p", "quiet");
  readonly element = h("div", "", this.#summary, this.#list, this.#more);

  constructor(readonly watch: Watch) {}

  get mark(): string {
    const count = this.watch.room.pending;
    return count > 0 ? `${count}` : "";
  }

  show(): void {
    const { list, earlier } = this.watch.pending;
    const { durability = "memory", pending } = this.watch.room;
    const done = durability === "memory" ? "ordered by the room" : "ordered and stored";
    say(this.#summary, pending > 0 ? `${many(pending, "transaction")} not ${done} yet.` : `Everything is ${done}.`);
    this.#rows.show(list.slice(0, MOST_ROWS));
    const hidden = earlier + Math.max(0, list.length - MOST_ROWS);
    this.#more.hidden = hidden === 0;
    say(this.#more, `and ${hidden} more`);
  }

  #row({ channel, bytes: size, text, since, to }: Waiting): Row<Waiting> {
    const state = h("b");
    const age = h("span", "quiet");
    const whom = to === undefined ? "" : ` to participant ${to}`;
    const element = h("li", "", state, ` ${channel}${whom}, ${bytes(size)} `, age, h("code", "", text));
    return {
      element,
      update: ({ isSent }) => {
        state.className = isSent ? "sent" : "waits";
        say(state, isSent ? "sent, not confirmed" : "waiting");
        say(age, `since ${clock(since)} (${span(Date.now() - since)})`);
      },
    };
  }
}
