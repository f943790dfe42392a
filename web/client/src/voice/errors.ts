/** The errors of voice: what is wrong, and what to do about it. */

import { GroupwireError } from "../errors.js";
import type { VoiceCode, VoiceError } from "./api.js";

const TEXTS: Readonly<Record<VoiceCode, readonly [fault: GroupwireError["fault"], message: string]>> = {
  "no-codec": [
    "incompatible",
    "this browser has no Opus (WebCodecs), and the one in WebAssembly cannot be loaded: serve all files of the application, and permit `wasm-unsafe-eval` in `script-src`",
  ],
  "no-worklet": [
    "incompatible",
    "this browser does not load the code for sound: permit `blob:` in `script-src`, or pass `worklet`",
  ],
  insecure: [
    "own",
    "a page may use the microphone and audio worklets only from https or localhost: serve it from there",
  ],
  "microphone-refused": [
    "refused",
    "the microphone is not permitted: permit it beside the page's address, and try again",
  ],
  "no-microphone": ["own", "there is no such microphone: plug one in, or choose another one"],
  "microphone-busy": ["own", "the microphone cannot be opened: close other programs that use it, and try again"],
  "microphone-lost": ["own", "the microphone is gone: plug it in again, or choose another one"],
  blocked: ["refused", "the browser plays no sound before a click: call `resume` in a listener of a click"],
  interrupted: ["refused", "the system has stopped the sound: call `resume` in a listener of a click"],
  encoder: ["incompatible", "the encoder has failed: choose the microphone again"],
  key: ["peer", "frames of a participant cannot be decrypted: give all participants the same `key`"],
};

export function voiceError(code: VoiceCode, cause?: unknown): VoiceError {
  const [fault, message] = TEXTS[code];
  return new GroupwireError(code, fault, message, { cause }) as VoiceError;
}

/** Why `getUserMedia` failed, by the names of its errors. */
export function microphoneError(cause: unknown): VoiceError {
  switch ((cause as Error | undefined)?.name) {
    case "NotAllowedError":
    case "SecurityError":
      return voiceError("microphone-refused", cause);
    case "NotReadableError":
    case "AbortError":
      return voiceError("microphone-busy", cause);
    default:
      return voiceError("no-microphone", cause);
  }
}
