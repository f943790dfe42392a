/** Helpers that create and update elements. */

type Child = Node | string | undefined;

/** A class of elements; on a server, which renders a page, there are none. */
export const Base = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

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

/** Sets an attribute only if it differs. */
export function set(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Lets the keyboard scroll an element that may have more than it shows. `name` is said aloud. */
export function scrollable<E extends HTMLElement>(element: E, name: string): E {
  element.tabIndex = 0;
  set(element, "role", "region");
  set(element, "aria-label", name);
  return element;
}

/** A row of a list, with the function that shows its item as it is now. */
export interface Row<Item> {
  readonly element: HTMLElement;
  update(item: Item): void;
}

/** Keeps the children of an element in step with a list, with one row for each key. */
export class Rows<Item> {
  readonly #parent: HTMLElement;
  readonly #keyOf: (item: Item) => unknown;
  readonly #make: (item: Item) => Row<Item>;
  #rows = new Map<unknown, Row<Item>>();

  constructor(parent: HTMLElement, keyOf: (item: Item) => unknown, make: (item: Item) => Row<Item>) {
    this.#parent = parent;
    this.#keyOf = keyOf;
    this.#make = make;
  }

  show(items: readonly Item[]): void {
    const before = this.#rows;
    this.#rows = new Map(items.map((item) => [this.#keyOf(item), before.get(this.#keyOf(item)) ?? this.#make(item)]));
    for (const [key, { element }] of before) if (!this.#rows.has(key)) element.remove();
    let next = this.#parent.firstChild;
    for (const item of items) {
      const row = this.#rows.get(this.#keyOf(item));
      if (!row) continue;
      row.update(item);
      if (row.element === next) next = next.nextSibling;
      else this.#parent.insertBefore(row.element, next);
    }
  }
}
