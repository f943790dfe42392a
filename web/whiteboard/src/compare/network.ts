/** The network between the server and the two boards, and what the page says about it. */

import type { Settings } from "./emulation";

/**
 * The settings that the server emulates; `own` if it emulates nothing, so that the boards use the
 * user's own network.
 */
export type Network = Settings | "own";

/**
 * The texts at the top and at the bottom of the page. `undefined`: the server has not answered yet.
 */
export function said(network: Network | undefined): { readonly note: string; readonly foot: string } {
  const numbers = "Numbers are of the last 20 seconds.";
  if (network === undefined) return { note: "", foot: numbers };
  if (network === "own") {
    return {
      note: "This server emulates no bad network, so loss and delay are those of your own. To choose them here, start it with --emulate.",
      foot: `Both boards use the network between this browser and the server as it is. ${numbers}`,
    };
  }
  return {
    note: "",
    foot: `The server emulates the network between itself and the two boards. Datagrams are really dropped. What loss does to a TCP stream is a model: a lost segment comes after a round trip or a timeout, and all behind it waits. ${numbers}`,
  };
}
