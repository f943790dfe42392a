/** `<gw-lock>`: a button that takes and gives back a lock. Importing this module registers it. */

import { define } from "./core/define.js";
import { Lock, type LockEvent } from "./lock/element.js";

define("gw-lock", Lock);

export type { LockEvent };
export { Lock };

declare global {
  interface HTMLElementTagNameMap {
    "gw-lock": Lock;
  }
  interface GlobalEventHandlersEventMap {
    "gw-lock": CustomEvent<LockEvent>;
  }
}
