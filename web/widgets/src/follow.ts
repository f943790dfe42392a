/**
 * `<gw-follow>`: follows what somebody else sees, until one moves oneself. Importing this module
 * registers it.
 */

import { define } from "./core/define.js";
import { Follower, type ViewEvent } from "./follow/element.js";

define("gw-follow", Follower);

export type { ViewEvent };
export { Follower };

declare global {
  interface HTMLElementTagNameMap {
    "gw-follow": Follower;
  }
  interface GlobalEventHandlersEventMap {
    "gw-view": CustomEvent<ViewEvent>;
  }
}
