/**
 * Devtools in the page, for development: what a room's client sends, receives and waits for, from
 * its own knowledge. Importing this module registers the element `<gw-devtools>`.
 *
 * @packageDocumentation
 */

import { check, checkOptions } from "./arguments.js";
import { Devtools, type DevtoolsElement } from "./devtools/element.js";
import { REGISTRY } from "./devtools/registry.js";
import type { AnyRoom } from "./devtools/rooms.js";
import type { Data } from "./devtools/watch.js";

export type { DevtoolsElement } from "./devtools/element.js";
export type { AnyRoom, JoinedRoom, RetainedRoom } from "./devtools/rooms.js";
export type { Data } from "./devtools/watch.js";

const NAME = "gw-devtools";

const registry = globalThis.customElements;
if (registry && !registry.get(NAME)) registry.define(NAME, Devtools);

export interface DevtoolsOptions {
  /**
   * Values to show beside the shared data of the room, by any names: documents of Yjs, stores with
   * `value` and `subscribe`, or whatever the application keeps.
   */
  readonly data?: Data;
}

/** The element that `devtools` has put into the page, and the calls that want it. */
let shown: DevtoolsElement | undefined;
let users = 0;

/**
 * Shows a room in the devtools of the page, with a badge in the corner that opens them. Several
 * rooms share one badge. Outside of a page it does nothing.
 *
 * @example
 * ```ts
 * const room = connect("wss://example.com", "demo");
 * if (import.meta.env.DEV) import("groupwire/devtools").then(({ devtools }) => devtools(room));
 * ```
 *
 * @param room - a room of `connect`, of `defineRoom(…).join`, or a `RoomHandle`
 * @returns a function that takes them away again
 */
export function devtools(room: AnyRoom, options: DevtoolsOptions = {}): () => void {
  check(room, "object", "the room of `devtools`");
  checkOptions(options, { data: "object" }, "`devtools`");
  if (typeof document === "undefined") return () => {};
  const forget = REGISTRY.add(room, options.data ?? {});
  users += 1;
  if (!document.querySelector(NAME)) {
    shown = document.createElement(NAME);
    // The module may be loaded before the body is parsed.
    (document.body ?? document.documentElement).append(shown);
  }
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    forget();
    users -= 1;
    if (users > 0) return;
    shown?.remove();
    shown = undefined;
  };
}

declare global {
  interface HTMLElementTagNameMap {
    "gw-devtools": DevtoolsElement;
  }
}
