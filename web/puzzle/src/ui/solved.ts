/** The note after the last piece. */

import { button, make } from "../../../common/ui/dom";
import { colorOf } from "../../../common/view/theme";
import { pieceCount, type Spec } from "../model/spec";

export interface Contributor {
  readonly name: string;
  readonly id: number | undefined;
  readonly joins: number;
}

export class Solved {
  private readonly card = make("section", "card solved");
  private readonly words = make("p", "");
  private readonly list = make("ul", "contributors");

  constructor(onNew: () => void) {
    this.card.dataset.testid = "solved";
    this.card.role = "status";
    const next = make("button", "primary", "New puzzle");
    next.type = "button";
    next.dataset.testid = "solved-new";
    next.addEventListener("click", onNew);
    const close = button({ icon: "close", label: "Close", testid: "solved-close", onPress: () => this.hide() });
    const text = make("div", "");
    text.append(this.words, this.list);
    this.card.append(make("h2", "", "Solved"), close, text, next);
    document.body.append(this.card);
    this.hide();
  }

  show(spec: Spec, contributors: readonly Contributor[]): void {
    const people = contributors.length;
    this.words.textContent =
      people > 1
        ? `${pieceCount(spec)} pieces, put together by ${people} people.`
        : `All ${pieceCount(spec)} pieces are in their place.`;
    const items = people > 1 ? contributors : [];
    this.list.replaceChildren(
      ...items.map(({ name, id, joins }) => {
        const item = make("li", "", name);
        if (id !== undefined) item.style.setProperty("--person", colorOf(id));
        item.append(make("span", "", String(joins)));
        return item;
      }),
    );
    this.card.hidden = false;
  }

  hide(): void {
    this.card.hidden = true;
  }
}
