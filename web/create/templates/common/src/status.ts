/** The status line, which tells whether all changes are saved. */

import type { Room } from "groupwire";

/** The part of `room.state` that the status line shows. */
export type Status = Pick<Room["state"], "status" | "pending" | "durability">;

export function statusText({ status, pending, durability }: Status): string {
  if (status === "closed") return "The room is closed. Load the page anew.";
  if (status === "connecting") return "Connecting to the server…";
  if (status === "reconnecting") return "No connection. Changes are kept here, and sent later.";
  if (pending) return "Saving…";
  // A server without --data keeps rooms in memory, and they are lost with it.
  return durability === "memory" ? "All is sent. The server keeps it while it runs." : "All is saved.";
}
