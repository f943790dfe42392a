/**
 * The part of a page on which people point, and the conversion between places of its content and
 * pixels of the window.
 */

import type { Place } from "groupwire/motion";
import type { Stops } from "./element.js";
import { FIRST, listen } from "./listen.js";
import type { Box } from "../shared/dom.js";

/** A point of the window, in CSS pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The conversion for an application with a view of its own, such as a canvas with a zoom. */
export interface Mapping {
  /** Where a place is, in pixels from the top left corner of the element. */
  toElement(place: Place): Point;
  /** The place at a point of the element. */
  toPlace(point: Point): Place;
}

/**
 * `px`: pixels from the top left corner of the element's content, also if it is scrolled.
 * `fraction`: shares of the content's width and height from 0 to 1, for windows that are not
 * equally wide.
 */
export type Coords = "px" | "fraction" | Mapping;

/** Digits of a fraction: a tenth of a pixel of a content that is 1,000 pixels wide. */
const FINE = 1e4;

export class Stage {
  readonly element: Element;
  readonly #coords: Coords;
  #measured: Measured | undefined;

  constructor(element: Element, coords: Coords) {
    this.element = element;
    this.#coords = coords;
  }

  /** True for the whole page, which moves itself when it is scrolled. */
  get isPage(): boolean {
    return this.element === document.documentElement;
  }

  /** The part of the window where the element is seen. */
  get box(): Measured["box"] {
    return this.#measure().box;
  }

  /**
   * The `clip-path` of a layer over the window that shows nothing outside of the element and a
   * margin around it.
   */
  clip(margin = 0): string {
    const { left, top, right, bottom } = this.box;
    const end = (at: number): string => `calc(100% - ${at + margin}px)`;
    return `inset(${top - margin}px ${end(right)} ${end(bottom)} ${left - margin}px)`;
  }

  toWindow(place: Place): Point {
    const [x = 0, y = 0] = place;
    if (typeof this.#coords === "object") {
      const corner = this.box;
      const at = this.#coords.toElement(place);
      return { x: corner.left + at.x, y: corner.top + at.y };
    }
    const { left, top, width, height } = this.#measure().content;
    const [w, h] = this.#coords === "px" ? [1, 1] : [width, height];
    return { x: left + x * w, y: top + y * h };
  }

  toPlace({ x, y }: Point): Place {
    if (typeof this.#coords === "object") {
      const corner = this.box;
      return this.#coords.toPlace({ x: x - corner.left, y: y - corner.top });
    }
    const { left, top, width, height } = this.#measure().content;
    if (this.#coords === "px") return [Math.round(x - left), Math.round(y - top)];
    const share = (part: number, whole: number): number => Math.round((part / Math.max(whole, 1)) * FINE) / FINE;
    return [share(x - left, width), share(y - top, height)];
  }

  /** The visible part of the content: left, top, width and height. */
  get view(): Place {
    const { left, top, right, bottom } = this.box;
    const [x = 0, y = 0] = this.toPlace({ x: left, y: top });
    const [x2 = 0, y2 = 0] = this.toPlace({ x: right, y: bottom });
    return [x, y, x2 - x, y2 - y];
  }

  /** Scrolls so that a place is in the middle, as far as the content reaches. */
  centre(place: Place): void {
    const { left, top, width, height } = this.box;
    const { x, y } = this.toWindow(place);
    this.#measured = undefined;
    this.element.scrollBy({ left: x - left - width / 2, top: y - top - height / 2, behavior: "instant" });
  }

  /** Calls `listener` when the element or its content may have moved. */
  onMoved(listener: () => void): Stops {
    const observer = globalThis.ResizeObserver && new ResizeObserver(listener);
    observer?.observe(this.element);
    return [listen(window, { scroll: listener, resize: listener }, FIRST), () => observer?.disconnect()];
  }

  /**
   * Measures the element, once in a task: to measure it for each of many pointers would lay out the
   * page for each.
   */
  #measure(): Measured {
    if (this.#measured) return this.#measured;
    queueMicrotask(() => (this.#measured = undefined));
    const { element } = this;
    const box = element.getBoundingClientRect();
    // A mapping handles scrolling itself.
    if (typeof this.#coords === "object" && !this.isPage) return (this.#measured = { box, content: box });
    const [width, height] = [element.scrollWidth, element.scrollHeight];
    if (this.isPage) {
      const seen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight, width: innerWidth, height: innerHeight };
      return (this.#measured = { box: seen, content: { left: box.left, top: box.top, width, height } });
    }
    // From right to left, `scrollLeft` is 0 at the right end, and negative.
    const start = getComputedStyle(element).direction === "rtl" ? element.clientWidth - width : 0;
    const left = box.left + element.clientLeft + start - element.scrollLeft;
    const top = box.top + element.clientTop - element.scrollTop;
    return (this.#measured = { box, content: { left, top, width, height } });
  }
}

/**
 * The part of the window where an element is seen, and its content in the window, which is larger
 * if the element is scrolled.
 */
interface Measured {
  readonly box: Box & Pick<DOMRect, "right" | "bottom">;
  readonly content: Box;
}

/**
 * The element that `for` names in the tree of `widget`; without it the whole page. Undefined if
 * there is none of this name.
 */
export function targetOf(widget: Element): Element | undefined {
  const id = widget.getAttribute("for");
  if (id === null) return document.documentElement;
  const found = (widget.getRootNode() as Document).getElementById?.(id) ?? document.getElementById(id);
  if (!found) console.error(`<${widget.localName} for="${id}">: no element of the page has this id`);
  return found ?? undefined;
}
