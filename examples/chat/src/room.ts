/** The room: who is here, what was written, who has seen it, and who is typing. */

import { awareness } from "groupwire";
import { defineRoom, type StandardSchema } from "groupwire/schema";
import { map, reducer, shared } from "groupwire/shared";
import { hooksOf } from "groupwire-react";
import { append, EMPTY, isMark, MAX_NAME } from "./log";

/**
 * A person in the room. The `id` is that of the browser's tab, so that a page which is loaded anew
 * is the same person.
 */
export interface Person {
  readonly id: string;
  readonly name: string;
}

export const chat = defineRoom({
  presence: schema(isPerson, "a person"),
  channels: {
    typing: { ...awareness({ maxRate: 4 }), schema: schema(isBoolean, "true or false") },
  },
  shared: shared({ log: reducer(EMPTY, append), marks: map(schema(isMark, "a mark")) }, { previews: false }),
});

export const { RoomProvider, useChannel, useMutation, useOthers, usePresence, useRoom, useRoomStatus, useShared } =
  hooksOf(chat);

function isPerson(value: unknown): value is Person {
  const { id, name } = (value ?? {}) as Partial<Record<keyof Person, unknown>>;
  return isName(id) && isName(name);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME;
}

/** A schema of one question. Applications with more data take zod, valibot or arktype. */
function schema<Value>(fits: (value: unknown) => value is Value, what: string): StandardSchema<Value> {
  const validate = (value: unknown) => (fits(value) ? { value } : { issues: [{ message: `it is not ${what}` }] });
  return { "~standard": { version: 1, vendor: "groupwire-example-chat", validate } };
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}
