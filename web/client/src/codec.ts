/** Converts between the application's payloads and the text or bytes that travel. */

import type { Payload } from "./api.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A message as it travels; `bytes` are UTF-8 if `text` is true. */
export interface Encoded {
  readonly bytes: Uint8Array;
  readonly text: boolean;
}

export function encode(payload: Payload): Encoded {
  if (payload instanceof Uint8Array) return { bytes: payload, text: false };
  if (payload instanceof ArrayBuffer) return { bytes: new Uint8Array(payload), text: false };
  if (ArrayBuffer.isView(payload)) {
    const { buffer, byteOffset, byteLength } = payload;
    return { bytes: new Uint8Array(buffer, byteOffset, byteLength), text: false };
  }
  return { bytes: encoder.encode(typeof payload === "string" ? payload : toJson(payload)), text: true };
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** JSON as UTF-8 bytes; no bytes for undefined. */
export function encodeJson(value: unknown): Uint8Array {
  return value === undefined ? new Uint8Array() : encoder.encode(toJson(value));
}

export function decodeText(data: string | Uint8Array): string {
  return typeof data === "string" ? data : decoder.decode(data);
}

/** Parses JSON that another program wrote. Returns undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toJson(value: unknown): string {
  // The result is undefined for functions, symbols and undefined, although the declared type does not say so.
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) throw new TypeError(`${typeof value} cannot be sent: it has no JSON form`);
  return json;
}
