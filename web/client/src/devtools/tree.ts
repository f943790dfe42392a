/** Any value as a tree that stays open where the user has opened it while the value changes. */

import { h, Rows, say, type Row } from "./dom.js";
import { short } from "./words.js";

/** Children that are shown of one value. */
const MOST_CHILDREN = 100;

interface Entry {
  readonly key: string;
  /** Reads the value: it may belong to the application, and throw. */
  readonly read: () => unknown;
}

/** A list of named values, each as a tree; with `isOpen`, their parts are shown from the start. */
export class Tree {
  readonly element = h("ul", "tree");
  readonly #rows = new Rows<Entry>(
    this.element,
    ({ key }) => key,
    (entry) => new Branch(entry, this.isOpen),
  );

  constructor(readonly isOpen = false) {}

  show(values: readonly Entry[]): void {
    this.#rows.show(values);
  }
}

class Branch implements Row<Entry> {
  readonly element = h("li");
  readonly #details = h("details");
  readonly #summary = h("summary");
  readonly #leaf = h("div", "leaf");
  readonly #children = h("ul");
  readonly #more = h("p", "quiet");
  readonly #rows = new Rows<Entry>(
    this.#children,
    ({ key }) => key,
    (entry) => new Branch(entry, false),
  );
  #entry: Entry;

  constructor(entry: Entry, isOpen: boolean) {
    this.#entry = entry;
    this.#details.open = isOpen;
    this.#details.append(this.#summary, this.#children, this.#more);
    this.#details.addEventListener("toggle", () => this.update(this.#entry));
  }

  update(entry: Entry): void {
    this.#entry = entry;
    const value = valueOf(entry);
    const children = childrenOf(value);
    const shown = children && children.length > 0 ? this.#details : this.#leaf;
    if (shown.parentNode !== this.element) this.element.replaceChildren(shown);
    label(shown === this.#details ? this.#summary : this.#leaf, entry.key, describe(value, children));
    if (shown !== this.#details || !this.#details.open || !children) return;
    this.#rows.show(children.slice(0, MOST_CHILDREN));
    const rest = children.length - MOST_CHILDREN;
    say(this.#more, rest > 0 ? `and ${rest} more` : "");
    this.#more.hidden = rest <= 0;
  }
}

function label(element: HTMLElement, key: string, text: string): void {
  if (!element.firstChild) element.append(h("b"), " ", h("span"));
  say(element.children[0] as Element, key);
  say(element.children[1] as Element, text);
}

function valueOf({ read }: Entry): unknown {
  try {
    return read();
  } catch (error) {
    return new Unreadable(error);
  }
}

/** Stands for a value that could not be read. */
class Unreadable {
  constructor(readonly error: unknown) {}
}

/** The parts of a value; undefined if it has none. */
function childrenOf(value: unknown): readonly Entry[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof Unreadable || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return undefined;
  if (value instanceof Map) return entriesOf([...value]);
  if (value instanceof Set) return entriesOf([...value].entries());
  if (Array.isArray(value)) return entriesOf(value.entries());
  return entriesOf(Object.entries(value));
}

function entriesOf(entries: Iterable<readonly [unknown, unknown]>): readonly Entry[] {
  return [...entries].map(([key, value]) => ({ key: short(key), read: () => value }));
}

function describe(value: unknown, children: readonly Entry[] | undefined): string {
  if (value instanceof Unreadable) return `cannot be read: ${String(value.error)}`;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (!children) return typeof value === "string" ? JSON.stringify(short(value)) : String(value);
  const kind = Array.isArray(value) ? "list" : value instanceof Map ? "map" : value instanceof Set ? "set" : "object";
  return children.length === 0 ? `empty ${kind}` : `${kind} of ${children.length}`;
}
