/**
 * A page in Node. Not the environment of Vitest, which takes the packages of this repository for
 * files of a browser, and replaces the addresses of their WebAssembly. Import it before React.
 */

import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html>", { url: "http://localhost" });
const { Element, HTMLElement, SVGElement, Node, Text, Comment } = window;
const globals = {
  ...{ Element, HTMLElement, SVGElement, Node, Text, Comment },
  window,
  document: window.document,
  navigator: window.navigator,
  // In simulated time where a simulation has replaced the timers.
  requestAnimationFrame: (run: (now: number) => void) => setTimeout(() => run(performance.now()), 16),
  cancelAnimationFrame: (timer: number) => clearTimeout(timer),
};
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
