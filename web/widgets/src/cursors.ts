/** `<gw-cursors>`: the pointers of others. Importing this module registers it. */

import { define } from "./core/define.js";
import { Cursors } from "./cursors/element.js";

define("gw-cursors", Cursors);

export type { Coords, Mapping, Point } from "./core/stage.js";
export { Cursors };

declare global {
  interface HTMLElementTagNameMap {
    "gw-cursors": Cursors;
  }
}
