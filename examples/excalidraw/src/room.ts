/** The room: who draws, where they point, what they look at, and the scene. */

import { awareness } from "groupwire";
import { defineRoom, type TypedRoom } from "groupwire/schema";
import { reducer, shared } from "groupwire/shared";
import { z } from "zod";
import { Element, merge, type Scene } from "./elements";

const Person = z.object({
  name: z.string().max(40),
  /** The id of the participant whose view this one follows. */
  follows: z.number().optional(),
});
export type Person = z.infer<typeof Person>;

/** A pointer: its place in the scene, whether a button is down, and whether it is the laser. */
export const Pointer = z.tuple([z.number(), z.number(), z.boolean(), z.boolean()]);

/**
 * The view of a person: left, top, right and bottom in the scene, and the ids of selected elements.
 */
export const View = z.object({
  bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]),
  selected: z.array(z.string()).max(200),
});
export type View = z.infer<typeof View>;

const definition = {
  presence: Person,
  channels: {
    pointer: { ...awareness({ maxRate: 25, loss: 0.05, deadline: 250 }), schema: Pointer },
    view: { ...awareness({ maxRate: 10, loss: 0.05 }), schema: View },
  },
  shared: shared({ scene: reducer({} as Scene, merge, { schema: Element }) }),
};
export const drawing = defineRoom(definition);
export type Drawing = TypedRoom<typeof definition>;
