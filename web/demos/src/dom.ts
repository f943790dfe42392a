/** Small helpers for elements. */

type Child = Node | string;
type Attributes = Readonly<Record<string, string | number | boolean | ((event: never) => void)>>;

/**
 * Makes an element. A function is a listener for the event of its name; `false` leaves an attribute
 * out.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

let made = 0;

/** A name for an element that no other element of the page has. */
export function newId(what: string): string {
  return `gw-${what}-${(made += 1)}`;
}

/** Sets a text only if it differs, so that screen readers hear of changes only. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** True if the reader has asked for little movement. */
export function prefersStillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
