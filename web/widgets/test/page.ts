/** A page in Node with the widgets, and rooms in simulated time. */

import "../../common/test/dom.js";
import type { Room } from "groupwire";
import { simulate, type Simulation, type SimulationOptions } from "groupwire/testing";
import { afterEach } from "vitest";

for (const name of [
  "customElements",
  "CustomEvent",
  "Event",
  "KeyboardEvent",
  "MouseEvent",
  "MutationObserver",
  "HTMLButtonElement",
  "HTMLInputElement",
  "getComputedStyle",
  "addEventListener",
  "removeEventListener",
  "innerWidth",
  "innerHeight",
  "devicePixelRatio",
] as const) {
  const value: unknown = Reflect.get(window, name);
  const isFunction = typeof value === "function" && /^[a-z]/.test(name);
  Object.defineProperty(globalThis, name, {
    value: isFunction ? (value.bind(window) as unknown) : value,
    configurable: true,
    writable: true,
  });
}
// jsdom draws nothing.
window.HTMLCanvasElement.prototype.getContext = () => null;
// Once there is a page: without one the widgets have no elements.
const widgets = await import("../src/index.js");
// Parts that widgets load when they need them. Simulated time does not wait for a file to load.
await Promise.all([
  import("../src/avatars/activity.js"),
  import("../src/cursors/chat.js"),
  import("../src/cursors/traces.js"),
]);

export const { configure } = widgets;

/** What ends with the test that started it. */
export const ends: (() => void)[] = [];
afterEach(async () => {
  document.body.replaceChildren();
  configure({ room: undefined, rooms: {}, texts: {}, person: undefined });
  // Widgets end at the end of the task.
  await Promise.resolve();
  for (const end of ends.splice(0).reverse()) end();
});

/** A simulation, with timers of the page in simulated time. */
export function start(options: SimulationOptions = {}): Simulation {
  const net = simulate({ seed: 7, fakeTimers: true, ...options });
  ends.push(() => net.end());
  return net;
}

/** A participant with a name. */
export function join(net: Simulation, name: string, more: object = {}): Room<any> {
  return net.join({ room: "demo", presence: { name }, ...more });
}

/** Puts HTML into the page, and returns its first element. */
export function put<E extends Element>(html: string): E {
  document.body.insertAdjacentHTML("beforeend", html);
  return document.body.lastElementChild as E;
}

/** The parts of a widget that have this name and are not hidden. */
export function parts(widget: Element, name: string): HTMLElement[] {
  return [...(widget.shadowRoot?.querySelectorAll<HTMLElement>(`[part~="${name}"]`) ?? [])].filter(
    ({ hidden }) => !hidden,
  );
}

export function part(widget: Element, name: string): HTMLElement {
  const [found] = parts(widget, name);
  if (!found) throw new Error(`<${widget.localName}> has no part ${name}`);
  return found;
}

/** The texts of the parts of this name. */
export function textsOf(widget: Element, name: string): string[] {
  return parts(widget, name).map(({ textContent }) => textContent ?? "");
}

/** An event of a pointer. jsdom has no class for it. */
export function point(target: EventTarget, type: string, x = 0, y = 0, pointerType = "mouse"): void {
  const event = new MouseEvent(type, { clientX: x, clientY: y, bubbles: true, composed: true });
  Object.assign(event, { pointerType });
  target.dispatchEvent(event);
}

export function press(target: EventTarget, key: string): void {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true }));
}
