/** Converts between the application's payloads and the text or bytes that travel. */

import type { Payload } from "./api.js";
import { checkText } from "./arguments.js";
import { toJson } from "./json.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A message as it travels; `bytes` are UTF-8 if `text` is true. */
export interface Encoded {
  readonly bytes: Uint8Array;
  readonly text: boolean;
}

export function encode(payload: Payload): Encoded {
  if (typeof payload === "string") {
    checkText(payload, MESSAGE);
    return { bytes: encodeText(payload), text: true };
  }
  const isBuffer = payload instanceof ArrayBuffer;
  if (isBuffer || ArrayBuffer.isView(payload)) return { bytes: bytesOf(payload, isBuffer), text: false };
  return { bytes: encoder.encode(toJson(payload, MESSAGE)), text: true };
}

const MESSAGE = "the message";

function bytesOf(payload: ArrayBuffer | ArrayBufferView, isBuffer: boolean): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  // Bytes that another thread has now cannot be viewed.
  if (payload.byteLength === 0) return new Uint8Array();
  if (isBuffer) return new Uint8Array(payload as ArrayBuffer);
  const { buffer, byteOffset, byteLength } = payload as ArrayBufferView;
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** JSON as UTF-8 bytes; no bytes for undefined. `argument` names the value in an error. */
export function encodeJson(value: unknown, argument: string): Uint8Array {
  return value === undefined ? new Uint8Array() : encoder.encode(toJson(value, argument));
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
