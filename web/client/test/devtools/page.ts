/** A page in Node with devtools, and rooms in simulated time. */

import "../../../common/test/dom.js";
import { afterEach } from "vitest";
import { simulate, type Room, type Simulation, type SimulationOptions } from "../../src/testing.js";

for (const name of ["customElements", "Event", "KeyboardEvent", "MouseEvent", "localStorage", "innerHeight"] as const) {
  Object.defineProperty(globalThis, name, { value: Reflect.get(window, name), configurable: true, writable: true });
}
// Once there is a page: without one there is no element.
export const { devtools } = await import("../../src/devtools.js");

/** What ends with the test that started it. */
export const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
  localStorage.clear();
});

/** A simulation, with the timers of the page in simulated time. */
export function start(options: SimulationOptions = {}): Simulation {
  const net = simulate({ seed: 7, fakeTimers: true, ...options });
  ends.push(() => net.end());
  return net;
}

/** Shows a room, until the test ends. */
export function show(...all: Parameters<typeof devtools>): () => void {
  const end = devtools(...all);
  ends.push(end);
  return end;
}

export function join(net: Simulation, name: string): Room<any> {
  return net.join({ room: "demo", presence: { name } });
}

/** The elements of the devtools that a selector finds and that are not hidden. */
export function all<E extends HTMLElement = HTMLElement>(selector: string): E[] {
  const found = document.querySelector("gw-devtools")?.shadowRoot?.querySelectorAll<E>(selector) ?? [];
  return [...found].filter((element) => !element.closest("[hidden]"));
}

export function one<E extends HTMLElement = HTMLElement>(selector: string): E {
  const [found] = all<E>(selector);
  if (!found) throw new Error(`the devtools show no ${selector}`);
  return found;
}

export function texts(selector: string): string[] {
  return all(selector).map(({ textContent }) => textContent ?? "");
}

/** Opens a tab, and the panel before it if needed. */
export async function tab(net: Simulation, title: string): Promise<void> {
  all(".badge")[0]?.click();
  one(`#tab-${title.toLowerCase()}`).click();
  await net.run(600);
}

export function press(target: EventTarget, key: string): void {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true }));
}
