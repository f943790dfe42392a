/** `<gw-minimap>`: where everybody is in the whole. Importing this module registers it. */

import { define } from "./core/define.js";
import { Minimap, type MoveEvent } from "./minimap/element.js";

define("gw-minimap", Minimap);

export type { MoveEvent };
export { Minimap };

declare global {
  interface HTMLElementTagNameMap {
    "gw-minimap": Minimap;
  }
  interface GlobalEventHandlersEventMap {
    "gw-move": CustomEvent<MoveEvent>;
  }
}
