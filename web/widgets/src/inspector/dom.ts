/** Making elements. */

type Child = Node | string | undefined;

/** An element of a class, with what is in it. */
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

/** Puts text into an element unless it is there: what a person selects stays selected. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Participants' colours, as in the applications. */
const PEOPLE = [
  "#4060d8",
  "#c2410c",
  "#0f766e",
  "#a21caf",
  "#4d7c0f",
  "#b4235a",
  "#0369a1",
  "#7c3aed",
  "#92600a",
  "#475569",
];

export function dot(id: number): HTMLElement {
  const element = h("span", "dot");
  element.style.background = PEOPLE[Math.max(id - 1, 0) % PEOPLE.length] ?? "";
  element.ariaHidden = "true";
  return element;
}
