/** One pointer: an arrow, a name, and what its person says. */

import type { Shown } from "../core/people.js";
import type { Point } from "../core/stage.js";
import { made, say, setPart } from "../shared/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const ARROW = "M2 2 L2.9 17.4 L7.2 13.4 L13.2 13.3 Z";

export class Figure {
  readonly element = made("div", "cursor");
  readonly #name = made("span", "name");
  readonly #bubble = made("span", "bubble");
  readonly #badge = made("span", "badge", "", "AI");
  // What is shown, because to ask the page for it in each frame takes time.
  #isIdle = false;
  #text = "";

  constructor() {
    const arrow = document.createElementNS(SVG, "svg");
    const path = document.createElementNS(SVG, "path");
    for (const [name, value] of Object.entries({ width: "20", height: "22", viewBox: "0 0 20 22", part: "arrow" })) {
      arrow.setAttribute(name, value);
    }
    path.setAttribute("d", ARROW);
    arrow.append(path);
    const label = made("div", "label", "person", this.#badge, this.#name, this.#bubble);
    // A name may be written in another direction than the page.
    for (const text of [this.#name, this.#bubble]) text.dir = "auto";
    this.#badge.hidden = true;
    this.element.append(arrow, label);
  }

  show(person: Shown | undefined): void {
    if (!person) return;
    say(this.#name, person.name);
    this.#badge.hidden = !person.isAgent;
    this.element.style.setProperty("--_person", person.color);
  }

  place({ x, y }: Point, isIdle: boolean, text: string): void {
    this.element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    if (isIdle === this.#isIdle && text === this.#text) return;
    [this.#isIdle, this.#text] = [isIdle, text];
    setPart(this.element, "cursor", isIdle && text === "" && "idle");
    say(this.#bubble, text);
  }
}
