/** Helpers that create elements. */

import { colorOf } from "../core/colors.js";

/** A rectangle in CSS pixels. */
export type Box = Pick<DOMRect, "left" | "top" | "width" | "height">;

type Child = Node | string | undefined;

/** Creates an element with a class name and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = "",
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

export function button(className: string, label: string, onPress: () => void): HTMLButtonElement {
  const element = h("button", className, label);
  element.type = "button";
  element.addEventListener("click", onPress);
  return element;
}

/** Sets an attribute only if it differs; null removes it. */
export function set(element: Element, name: string, value: string | null): void {
  if (value === element.getAttribute(name)) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** Names an element for `::part` of a page's styles; a name that is false is left out. */
export function setPart(element: Element, ...names: readonly (string | false)[]): void {
  set(element, "part", names.filter((name) => name !== false).join(" "));
}

/** Creates an element with a part name, and children. */
export function made<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  part: string,
  className = "",
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = h(tag, className, ...children);
  setPart(element, part);
  return element;
}

/** Places an element in the window, or in what it is positioned in. */
export function placeAt({ style }: HTMLElement, { left, top, width, height }: Box): void {
  Object.assign(style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
}

/** Lets the keyboard scroll an element that may have more than it shows. `name` is said aloud. */
export function scrollable<E extends HTMLElement>(element: E, name: string): E {
  element.tabIndex = 0;
  element.setAttribute("role", "region");
  element.ariaLabel = name;
  return element;
}

/** Sets the text of an element only if it differs, so that a selection of the user stays. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function dot(id: number): HTMLElement {
  const element = h("span", "dot");
  element.style.background = colorOf(id);
  element.ariaHidden = "true";
  return element;
}
