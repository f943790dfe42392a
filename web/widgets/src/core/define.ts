/** Registers elements. */

/**
 * A class of elements. On a server, which renders a page, there are none: importing widgets there
 * has no effect.
 */
export const Base = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

/** Registers an element, unless the page has one of this name. */
export function define(name: string, element: CustomElementConstructor): void {
  const registry = globalThis.customElements;
  if (registry && !registry.get(name)) registry.define(name, element);
}
