/** `<gw-typing>`: who is typing. Importing this module registers it. */

import { define } from "./core/define.js";
import { Typing } from "./typing/element.js";

define("gw-typing", Typing);

export { Typing };

declare global {
  interface HTMLElementTagNameMap {
    "gw-typing": Typing;
  }
}
