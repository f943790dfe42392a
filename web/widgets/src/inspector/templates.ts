/** The templates of a participant, with their holes. */

import { h } from "./dom";
import type { Template, Templates } from "./report";
import { number } from "./words";

/** Templates that are listed. */
const LISTED = 24;

export class TemplatesView {
  readonly element = h("section", "templates");
  private readonly title = h("p", "lead");
  private readonly list = h("div", "template-list");
  private shown = "";

  constructor() {
    this.list.dataset.testid = "templates";
    this.element.append(h("h2", "", "Templates"), this.title, this.list);
    this.show(undefined, "");
  }

  show(templates: Templates | undefined, name: string): void {
    // Redrawn only if something changed, so that text can be selected.
    const now = JSON.stringify([templates, name]);
    if (now === this.shown) return;
    this.shown = now;
    if (!templates) {
      this.title.textContent = "Select a participant to see what its packets take for granted.";
      this.list.replaceChildren();
      return;
    }
    this.title.textContent = `What both ends know of the messages that ${name} is sent. Only what fills the holes travels.`;
    // That of the empty message says nothing.
    const groups = (
      [
        ["over the stream", templates.stream],
        ["in datagrams", templates.datagrams],
      ] as const
    ).map(([way, group]) => [way, group.filter(({ pieces }) => pieces.length > 0)] as const);
    const shown = groups.filter(([, group]) => group.length > 0);
    this.list.replaceChildren(
      ...shown.flatMap(([way, group]) => [
        h("h3", "", `Learned ${way}`),
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
