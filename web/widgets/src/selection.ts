/** `<gw-selection>`: what others have selected. Importing this module registers it. */

import { define } from "./core/define.js";
import { SelectionFrames } from "./selection/element.js";

define("gw-selection", SelectionFrames);

export { SelectionFrames };

declare global {
  interface HTMLElementTagNameMap {
    "gw-selection": SelectionFrames;
  }
}
