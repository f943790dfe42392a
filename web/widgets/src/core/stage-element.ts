/** The base of the widgets that show places of an element's content. */

import { FUNCTION, type Rule } from "./arguments.js";
import { Widget } from "./element.js";
import { Stage, targetOf, type Coords } from "./stage.js";

const ELEMENT: Rule = ["an element", (value) => value instanceof Element];
const COORDS: Rule = [
  '"px", "fraction" or a mapping with `toElement` and `toPlace`',
  (value) => value === "px" || value === "fraction" || (FUNCTION[1](value.toElement) && FUNCTION[1](value.toPlace)),
];

export abstract class StageWidget<Words extends object> extends Widget<Words> {
  #target: Element | undefined;
  #coords: Coords | undefined;

  /** The element whose content is meant, instead of the one that the attribute `for` names. */
  get target(): Element | undefined {
    return this.#target;
  }

  set target(target: Element | undefined) {
    this.check("target", target, ELEMENT);
    this.#target = target;
    this.restart();
  }

  /** How places are told: `px`, `fraction`, or an own mapping. */
  get coords(): Coords {
    return this.#coords ?? (this.getAttribute("coords") === "fraction" ? "fraction" : "px");
  }

  set coords(coords: Coords | undefined) {
    this.check("coords", coords, COORDS);
    this.#coords = coords;
    this.restart();
  }

  /** Draws everything at its place, because an own mapping, a camera or the page has changed. */
  abstract refresh(): void;

  /** The element; undefined if `for` names none. */
  protected makeStage(): Stage | undefined {
    const element = this.#target ?? targetOf(this);
    return element && new Stage(element, this.coords);
  }
}
