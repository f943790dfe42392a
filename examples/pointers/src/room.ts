/** The room: who is here, and where each participant points. */

import { awareness } from "groupwire";
import { hooksOf } from "groupwire-react";
import { defineRoom } from "groupwire/schema";
import { z } from "zod";

/** Colours on which white text is readable. */
export const COLORS = ["#175cd3", "#b42318", "#067647", "#6938ef", "#c11574", "#b54708", "#0e7090", "#475467"];

export const NAME_LENGTH = 30;

/**
 * A place on the stage, in thousandths of its width and height: windows have different sizes, and
 * whole numbers make short messages. Null: the pointer has left the stage.
 */
export const Place = z.tuple([z.number(), z.number()]).nullable();
export type Place = z.infer<typeof Place>;

export const Person = z.object({ name: z.string().max(NAME_LENGTH), color: z.enum(COLORS) });
export type Person = z.infer<typeof Person>;

export const pointers = defineRoom({
  presence: Person,
  channels: { pointer: { ...awareness({ maxRate: 25, loss: 0.05, deadline: 250 }), schema: Place } },
});

export const { RoomProvider, useChannel, useOther, useOtherIds, usePositions, usePresence, useRoom, useRoomStatus } =
  hooksOf(pointers);
