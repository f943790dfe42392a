/** Opus in WebAssembly. */

import type { Codec, Decoder, Encoder, Failed } from "./codec.js";
import {
  Application,
  createDecoder,
  createEncoder,
  loadLibopus,
  type OpusDecoderHandle,
  type OpusEncoderHandle,
} from "./opus-bundle.js";

/**
 * The samples of a frame, as in frame.ts. This file imports nothing that pages without it load, so
 * that bundlers leave that in one piece.
 */
const FRAME = 960;

/** The payload of what has no sound. */
const NONE = new Uint8Array();

/** Loads the codec. Rejects where WebAssembly does not run. */
export async function opus(): Promise<Codec> {
  await loadLibopus();
  return {
    encoder: (bitrate, out, failed) => new OpusEncoder(bitrate, out, failed),
    decoder: (out, failed) => new OpusDecoder(out, failed),
  };
}

class OpusEncoder<T> implements Encoder<T> {
  readonly #handle: Handle<OpusEncoderHandle>;
  readonly #out: (of: T, payload: Uint8Array) => void;

  constructor(bitrate: number, out: (of: T, payload: Uint8Array) => void, failed: Failed) {
    const options = {
      channels: 1,
      application: Application.Voip,
      bitrate: Math.round(bitrate),
      frameSize: FRAME,
    } as const;
    this.#handle = new Handle(createEncoder(options), failed);
    this.#out = out;
  }

  encode(of: T, samples: Float32Array<ArrayBuffer> | undefined): void {
    this.#handle.use((handle) => this.#out(of, samples ? handle.encodeFloat(samples) : NONE));
  }

  set bitrate(bitrate: number) {
    this.#handle.use((handle) => handle.setBitrate(Math.round(bitrate)));
  }

  close(): void {
    this.#handle.close();
  }
}

class OpusDecoder<T> implements Decoder<T> {
  readonly #handle: Handle<OpusDecoderHandle>;
  readonly #out: (of: T, samples: Float32Array<ArrayBuffer>) => void;

  constructor(out: (of: T, samples: Float32Array<ArrayBuffer>) => void, failed: () => void) {
    this.#handle = new Handle(createDecoder({ channels: 1, maxFrameSize: FRAME }), failed);
    this.#out = out;
  }

  lost(of: T): void {
    this.#handle.use((handle) => this.#out(of, owned(handle.decodePacketLossFloat(FRAME))));
  }

  decode(of: T, payload: Uint8Array): void {
    this.#handle.use((handle) => this.#out(of, owned(handle.decodeFloat(payload))));
  }

  close(): void {
    this.#handle.close();
  }
}

/** An encoder or decoder that the library makes soon. Its uses stay in order. */
class Handle<H extends { free(): void }> {
  readonly #made: Promise<H>;
  readonly #failed: Failed;
  #isClosed = false;

  constructor(made: Promise<H>, failed: Failed) {
    this.#made = made;
    this.#failed = failed;
  }

  use(run: (handle: H) => void): void {
    this.#made.then((handle) => this.#isClosed || run(handle)).catch((error) => this.#isClosed || this.#failed(error));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#made.then((handle) => handle.free()).catch(() => {});
  }
}

/** Samples that the library has copied out of its memory. */
const owned = (samples: Float32Array): Float32Array<ArrayBuffer> => samples as Float32Array<ArrayBuffer>;
