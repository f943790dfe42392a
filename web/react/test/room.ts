/** What the tests need to show the room. */

import { counted, board, ends, join, start, type Definition } from "../../common/test/board.js";
import "../../common/test/dom.js";
import type { Simulation } from "groupwire/testing";
import type { ReactNode } from "react";
import { flushSync } from "react-dom";
import { createRoot, type Root } from "react-dom/client";
import { vi } from "vitest";
import { hooksOf, type RoomProviderProps } from "../src/index.js";

export { board, counted, join, start, type Definition };

export const hooks = hooksOf(board);

/** The properties of a provider in a simulation. */
export function props(net: Simulation, connect = net.connect): RoomProviderProps<Definition> {
  return { room: board, url: "http://test", name: "demo", presence: { name: "Ada" }, connect };
}

/** A page on which React shows something. */
export class Page {
  readonly element = document.createElement("div");
  readonly #root: Root;

  constructor(shown: ReactNode, root?: (element: HTMLElement) => Root) {
    document.body.append(this.element);
    this.#root = root?.(this.element) ?? createRoot(this.element);
    if (!root) this.show(shown);
    ends.push(() => this.close());
  }

  get text(): string {
    return this.element.textContent ?? "";
  }

  show(shown: ReactNode): void {
    flushSync(() => this.#root.render(shown));
  }

  close(): void {
    flushSync(() => this.#root.unmount());
    this.element.remove();
  }
}

/** The warnings that React writes to the console. */
export function warnings(): unknown[][] {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  ends.push(() => error.mockRestore());
  return error.mock.calls;
}

// Of Node, whose types the tests do not have.
declare const setImmediate: (run: (value: unknown) => void) => void;

/** Lets React do what it has scheduled. */
export async function rendered(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
