/** The panel for voice, shown if the address has the parameter `voice`. */

import type { Room } from "groupwire";
import { part } from "../../../common/ui/dom";

/** Loads `<gw-voice>`, and shows it beside the people. */
export async function showVoice(room: Room): Promise<void> {
  await import("groupwire-widgets/voice");
  const panel = document.createElement("gw-voice");
  panel.room = room;
  // In a narrow window there is no place for more.
  panel.texts = { joinVoice: "Talk" };
  part("people").prepend(panel);
}
