/** `<gw-avatars>`: who is in a room. Importing this module registers it. */

import { Avatars } from "./avatars/element.js";
import { define } from "./core/define.js";
import type { FollowEvent } from "./core/following.js";

define("gw-avatars", Avatars);

export type { FollowEvent };
export { Avatars };

declare global {
  interface HTMLElementTagNameMap {
    "gw-avatars": Avatars;
  }
  interface GlobalEventHandlersEventMap {
    "gw-follow": CustomEvent<FollowEvent>;
  }
}
