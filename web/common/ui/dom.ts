/** Helpers that create the elements of controls. */

import { type IconName, icon } from "./icons";

/** The element of index.html with this id. A missing element is a mistake in the page. */
export function part(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element;
}

export interface ButtonOptions {
  readonly icon: IconName;
  /** The accessible name, which is also shown on hover together with the key. */
  readonly label: string;
  readonly key?: string;
  readonly testid: string;
  readonly onPress: () => void;
}

export function button(options: ButtonOptions): HTMLButtonElement {
  const element = make("button", "icon-button");
  element.type = "button";
  element.innerHTML = icon(options.icon);
  element.ariaLabel = options.label;
  element.title = options.key ? `${options.label} (${options.key})` : options.label;
  element.dataset.testid = options.testid;
  if (options.key) element.ariaKeyShortcuts = options.key.replace("Ctrl", "Control");
  element.addEventListener("click", options.onPress);
  return element;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  text = "",
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== "") element.textContent = text;
  return element;
}

export function divider(): HTMLElement {
  return make("span", "divider");
}
