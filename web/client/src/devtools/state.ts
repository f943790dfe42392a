/** The state of rooms in one word, for the badge. */

import type { Watch } from "./watch.js";

export interface State {
  /** `good`, `wait` or `bad`: the colour. */
  readonly look: "good" | "wait" | "bad" | "none";
  readonly text: string;
}

/** From the worst to the best. */
const ORDER = ["bad", "wait", "good", "none"];

/** The state of the room that is worst off. */
export function stateOf(watches: readonly Watch[]): State {
  const states = watches.map((watch) => one(watch));
  states.sort((a, b) => ORDER.indexOf(a.look) - ORDER.indexOf(b.look));
  return states[0] ?? { look: "none", text: "No room" };
}

function one({ room, missed }: Watch): State {
  switch (room.status) {
    case "closed":
      return { look: "none", text: "Closed" };
    case "connecting":
      return { look: room.problem ? "bad" : "wait", text: room.problem ? "No connection" : "Connecting" };
    case "reconnecting":
      return { look: room.problem ? "bad" : "wait", text: "Reconnecting" };
    case "connected":
      return missed.length > 0 ? { look: "wait", text: "Contract missed" } : { look: "good", text: "Connected" };
  }
}
