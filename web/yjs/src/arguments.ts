/** Checks the arguments of the provider. */

import { GroupwireError } from "groupwire";
import type { ProviderOptions } from "./provider.js";

/** The types of the options. */
const OPTIONS: Readonly<Record<keyof ProviderOptions, string>> = {
  connect: "boolean",
  awareness: "object",
  name: "string",
  updates: "object",
  presence: "object",
};

export function checkProvider(room: unknown, doc: unknown, options: unknown): void {
  if (typeof room !== "function") checkRoom(room, "the room");
  if (!has(doc, "on")) throw wrong("the document must be a `Y.Doc`");
  if (typeof options !== "object" || options === null) throw wrong("the options must be an object");
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(OPTIONS, name) && OPTIONS[name as keyof ProviderOptions];
    if (!type) throw wrong(`there is no option \`${name}\`. There are ${Object.keys(OPTIONS).join(", ")}`);
    if (value !== undefined && typeof value !== type) throw wrong(`the option \`${name}\` must be of type ${type}`);
  }
  const { awareness } = options as ProviderOptions;
  if (awareness && !has(awareness, "on")) throw wrong("`awareness` must be an `Awareness` of y-protocols, or null");
}

/** `what` names it in an error. A promise of a room is no room. */
export function checkRoom(room: unknown, what: string): void {
  if (!has(room, "channel"))
    throw wrong(`${what} must be what \`connect\` of groupwire returns, or a function that returns it`);
}

function has(value: unknown, method: string): boolean {
  return typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[method] === "function";
}

function wrong(message: string): GroupwireError {
  return new GroupwireError("invalid-argument", "own", `GroupwireProvider: ${message}`);
}
