/** The templates of a participant's packets, with their holes. */

import { h, scrollable } from "../shared/dom.js";
import type { Template, Templates } from "./report.js";
import { number } from "./words.js";

/** Limit of listed templates. */
const LISTED = 24;

/** The participant whose templates are shown. */
export interface Whose {
  readonly name: string;
  /** True if everybody is selected, and this participant stands for all. */
  readonly isExample: boolean;
}

export class TemplatesView {
  readonly element = scrollable(h("section", "templates"), "Templates");
  private readonly title = h("p", "lead");
  private readonly list = h("div", "template-list");
  private shown = "";

  constructor() {
    this.list.dataset.testid = "templates";
    this.element.append(h("h2", "", "Templates"), this.title, this.list);
    this.show(undefined);
  }

  /** Shows the templates of a participant; without any, how to get there. */
  show(templates: Templates | undefined, whose: Whose = { name: "", isExample: false }): void {
    // Redrawn only if something changed, so that a selection of the user stays.
    const now = JSON.stringify([templates, whose]);
    if (now === this.shown) return;
    this.shown = now;
    if (!templates) {
      this.title.textContent = "Select a participant to see the templates of its packets.";
      this.list.replaceChildren();
      return;
    }
    const of = `The templates of messages to ${whose.name}, which both ends have learned. Only the contents of holes are sent.`;
    const example =
      "Each participant has its own templates; these are an example. Select a participant to see its own. ";
    this.title.textContent = `${whose.isExample ? example : ""}${of}`;
    // The template of the empty message is not shown.
    const groups = (
      [
        ["over the stream", templates.stream],
        ["in datagrams", templates.datagrams],
      ] as const
    ).map(([carrier, group]) => [carrier, group.filter(({ pieces }) => pieces.length > 0)] as const);
    const shown = groups.filter(([, group]) => group.length > 0);
    this.list.replaceChildren(
      ...shown.flatMap(([carrier, group]) => [
        h("h3", "", `Learned ${carrier}`),
        ...group.slice(0, LISTED).map(row),
        ...(group.length > LISTED ? [h("p", "empty", `and ${group.length - LISTED} more`)] : []),
      ]),
    );
    if (shown.length === 0) this.list.append(h("p", "empty", "Nothing was learned yet."));
  }
}

function row(template: Template): HTMLElement {
  const code = h("code");
  for (const piece of template.pieces) {
    if (typeof piece === "string") {
      code.append(piece);
      continue;
    }
    const [kind, example] = piece;
    const hole = h("span", "hole", `<${kind}>`);
    hole.title = `A ${kind}, such as ${example}`;
    code.append(hole);
  }
  return h("div", "template", h("span", "fits", `${number(template.fits)}×`), code);
}
