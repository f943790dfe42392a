/**
 * `<gw-status>`: the state of the connection, and what is unsaved. Importing this module registers
 * it.
 */

import { define } from "./core/define.js";
import { StatusLine } from "./status/element.js";

define("gw-status", StatusLine);

export { StatusLine };

declare global {
  interface HTMLElementTagNameMap {
    "gw-status": StatusLine;
  }
}
