/** The users and tokens that are kept out, and how to let them in again. */

import { button, h } from "../shared/dom.js";
import type { Actions } from "./actions.js";
import type { Ban } from "./requests.js";
import { Table } from "./table.js";
import { date } from "./units.js";

export class BansView {
  readonly element = h("section", "card bans");
  private readonly table: Table<Ban>;

  constructor(private readonly actions: Actions) {
    this.table = new Table<Ban>("Bans", this.columns(), ({ id }) => String(id));
    this.element.dataset.testid = "bans";
    this.element.append(h("div", "head", h("h2", "", "Bans")), this.table.element);
  }

  /** Asks the server for the bans. */
  async poll(): Promise<void> {
    this.table.show(await this.actions.requests.bans(), "Nobody is kept out.");
  }

  private columns() {
    return [
      { title: "Whom", cell: whom },
      { title: "Rooms", cell: ({ room }: Ban) => (room === "*" ? "all" : room) },
      { title: "Since", isMinor: true, cell: ({ since }: Ban) => date(since) },
      { title: "Until", cell: ({ until }: Ban) => (until === null ? "removed" : date(until)) },
      { title: "Reason", isMinor: true, cell: ({ reason }: Ban) => reason ?? "–" },
      {
        title: "",
        cell: (ban: Ban) => {
          const remove = button("small", "Remove…", () => void this.remove(ban));
          remove.ariaLabel = `Remove the ban of ${whom(ban)}`;
          return h("span", "row-actions", remove);
        },
      },
    ];
  }

  private async remove(ban: Ban): Promise<void> {
    const { requests, ask, attempt } = this.actions;
    const text = "Whom it kept out can join again at once.";
    if (!(await ask({ title: `Remove the ban of ${whom(ban)}?`, text, action: "Remove" }))) return;
    await attempt(requests.unban(ban.id), `The ban of ${whom(ban)} is removed.`);
  }
}

function whom({ user, token, issued_before }: Ban): string {
  if (token !== null) return `token ${token}`;
  return issued_before === null ? `${user}` : `${user}, tokens before ${date(issued_before)}`;
}
