/** Parses what other participants sent, which may be any JSON. */

import type { Message } from "groupwire";

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Ids are made by `newId`; any string of up to 40 characters is accepted. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 40;
}

/** Beyond ten million units, canvas coordinates lose whole pixels. */
export const FAR = 1e7;

export function isCoordinate(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= FAR;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The message parsed as JSON; undefined, which no parser accepts, if it is not JSON. */
export function readJson(message: Message): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}
