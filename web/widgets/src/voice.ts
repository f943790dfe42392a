/**
 * `<gw-voice>`: a conversation of the people in the room. Importing this module registers it; the
 * code for sound is loaded when the user joins.
 */

import { define } from "./core/define.js";
import { VoicePanel } from "./voice/element.js";

define("gw-voice", VoicePanel);

export type { VoiceEvent } from "./voice/element.js";
export { VoicePanel };

declare global {
  interface HTMLElementTagNameMap {
    "gw-voice": VoicePanel;
  }
}
