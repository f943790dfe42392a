/** Opus, by the browser's WebCodecs, or where it has none, by WebAssembly, which is loaded then. */

import { voiceError } from "./errors.js";
import { webCodecs } from "./webcodecs.js";

/** Makes the encoders and decoders of voice, of frames of 20 ms. */
export interface Codec {
  /** `bitrate`: bits per second. Calls `out` for each call of `encode`, in the same order. */
  encoder<T>(bitrate: number, out: (of: T, payload: Uint8Array) => void, failed: Failed): Encoder<T>;
  /** A decoder of one participant's frames, in their order. */
  decoder<T>(out: (of: T, samples: Float32Array<ArrayBuffer>) => void, failed: () => void): Decoder<T>;
}

export type Failed = (error: unknown) => void;

export interface Encoder<T> {
  /** Encodes 960 samples. Without samples, `out` gets an empty payload, after the frames before. */
  encode(of: T, samples: Float32Array<ArrayBuffer> | undefined): void;
  set bitrate(bitrate: number);
  close(): void;
}

export interface Decoder<T> {
  /** Makes up a frame that is lost before the one with this payload, if the codec can. */
  lost(of: T, payload: Uint8Array): void;
  decode(of: T, payload: Uint8Array): void;
  /** Ends it. What is still being decoded is forgotten. */
  close(): void;
}

/** Loads the codec. Rejects with `no-codec`. */
export async function loadCodec(): Promise<Codec> {
  const found = await webCodecs();
  if (found) return found;
  try {
    const { opus } = await import("./opus.js");
    return await opus();
  } catch (error) {
    throw voiceError("no-codec", error);
  }
}
