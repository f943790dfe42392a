/** The tab about participants and their presence. */

import type { Participant } from "../../api.js";
import { h, Rows, say, type Row } from "../dom.js";
import { Tree } from "../tree.js";
import type { Watch } from "../watch.js";
import { many } from "../words.js";
import type { View } from "./view.js";

export class PeopleView implements View {
  readonly title = "People";
  readonly #count = h("p", "quiet");
  readonly #list = h("ul", "people");
  readonly #rows = new Rows<Participant>(
    this.#list,
    ({ id }) => id,
    (participant) => this.#row(participant),
  );
  readonly element = h("div", "", this.#count, this.#list);

  constructor(readonly watch: Watch) {}

  get mark(): string {
    const { room } = this.watch;
    return room.self ? `${room.count}` : "";
  }

  show(): void {
    const { self, participants, complete, count } = this.watch.room;
    const some = complete ? "" : "; in a large room only those who do something are named";
    say(this.#count, self ? `${many(count, "participant")}${some}` : "Not joined yet.");
    this.#rows.show([...(self ? [self] : []), ...participants.values()]);
  }

  #row({ id }: Participant): Row<Participant> {
    const who = h("span");
    const tree = new Tree(true);
    return {
      element: h("li", "", h("b", "", `Participant ${id}`), " ", who, tree.element),
      update: ({ user, away, presence }) => {
        const isSelf = id === this.watch.room.self?.id;
        const facts = [isSelf && "this page", user !== undefined && `user ${user}`, away && "away: connection broken"];
        say(who, facts.filter((fact) => fact !== false).join(", "));
        tree.show([{ key: "presence", read: () => presence }]);
      },
    };
  }
}
