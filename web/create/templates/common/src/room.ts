/**
 * The definition of the room: its schemas give everything else its types, and received values are
 * checked by them.
 */

import { awareness } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { list, shared } from "groupwire/shared";
import { z } from "zod";

const Task = z.object({ text: z.string().max(200), done: z.boolean() });

export type Task = z.infer<typeof Task>;

export const board = defineRoom({
  // What each participant tells the others about itself.
  presence: z.object({ name: z.string().max(30), color: z.string().regex(/^#[0-9a-f]{6}$/) }),
  channels: {
    // Where a pointer is; null if it has left. Only the newest place matters, so old ones may be
    // lost.
    cursor: { ...awareness({ maxRate: 25, deadline: 250 }), schema: z.tuple([z.number(), z.number()]).nullable() },
  },
  // The tasks are the same for everybody, and none is lost.
  shared: shared({ tasks: list(Task) }),
});

/** A room that one has joined. */
export type BoardRoom = ReturnType<typeof board.join>;
