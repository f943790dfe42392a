/** Helpers that create elements. */

import { colorOf } from "../../../common/view/theme";

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
