/** Checks what programs set as properties of widgets. */

import { GroupwireError } from "groupwire";

/** Values that are right, in words and as a check. */
export type Rule = readonly [expected: string, isRight: (value: any) => unknown];

/** Null counts as undefined, because user interface frameworks set both. */
export function check(value: unknown, what: string, [expected, isRight]: Rule): void {
  if (value === undefined || value === null || isRight(value)) return;
  const got = typeof value === "object" ? "another object" : `a ${typeof value}`;
  throw new GroupwireError("invalid-argument", "own", `${what} must be ${expected}, not ${got}`);
}

const isFunction = (value: unknown): boolean => typeof value === "function";

export const FUNCTION: Rule = ["a function", isFunction];
export const OBJECT: Rule = ["an object", (value) => typeof value === "object"];
export const ROOM: Rule = [
  "a room of `connect` or `defineRoom`, or a `RoomHandle`",
  ({ each, room, on }) => isFunction(each) || isFunction(room?.on) || isFunction(on),
];
