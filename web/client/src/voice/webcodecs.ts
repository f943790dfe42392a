/** Opus by the browser's WebCodecs. */

import type { Codec, Decoder, Encoder } from "./codec.js";
import { FRAME, FRAME_MS, RATE } from "./frame.js";
import { lostPacket } from "./lost.js";

/** Microseconds in a millisecond: WebCodecs counts in microseconds. */
const US = 1000;

/** The options of Opus that TypeScript's types may lack. */
interface OpusConfig extends AudioEncoderConfig {
  readonly opus: { readonly frameDuration: number; readonly application: "voip" };
}

const config = (bitrate: number): OpusConfig => ({
  ...{ codec: "opus", sampleRate: RATE, numberOfChannels: 1, bitrate },
  opus: { frameDuration: FRAME_MS * US, application: "voip" },
});

/** The codec of the browser, if it encodes and decodes Opus. */
export async function webCodecs(): Promise<Codec | undefined> {
  if (!(await hasOpus())) return undefined;
  return {
    encoder: (bitrate, out, failed) => new WebEncoder(bitrate, out, failed),
    decoder: (out, failed) => new WebDecoder(out, failed),
  };
}

async function hasOpus(): Promise<boolean> {
  if (typeof AudioEncoder !== "function" || typeof AudioDecoder !== "function") return false;
  try {
    const both = [AudioEncoder.isConfigSupported(config(24_000)), AudioDecoder.isConfigSupported(config(24_000))];
    return (await Promise.all(both)).every(({ supported }) => supported === true);
  } catch {
    return false;
  }
}

/** A packet of Opus with one frame of silence, of CELT. */
const SILENT = Uint8Array.of(0xf8, 0xff, 0xfe);

/**
 * True if the browser's decoder makes up lost frames: their packets have outputs, too. Without
 * them, the outputs that follow would be taken for other frames.
 */
async function hasConcealment(): Promise<boolean> {
  let outputs = 0;
  try {
    const output = (data: AudioData): void => {
      outputs += 1;
      data.close();
    };
    const decoder = new AudioDecoder({ output, error: () => (outputs = NaN) });
    decoder.configure(config(24_000));
    [SILENT, lostPacket(SILENT), SILENT].forEach((data, at) =>
      decoder.decode(new EncodedAudioChunk({ type: "key", timestamp: at * FRAME_MS * US, data })),
    );
    await decoder.flush();
    decoder.close();
  } catch {
    return false;
  }
  return outputs === 3;
}

/** What {@link hasConcealment} said, which is asked once; false before. */
let concealment: Promise<void> | undefined;
let isConcealing = false;

class WebEncoder<T> implements Encoder<T> {
  readonly #encoder: AudioEncoder;
  readonly #out: (of: T, payload: Uint8Array) => void;
  /** The calls of `encode` for which `out` has not been called yet. */
  readonly #waiting: { readonly of: T; readonly isEncoded: boolean }[] = [];
  #time = 0;

  constructor(bitrate: number, out: (of: T, payload: Uint8Array) => void, failed: (error: unknown) => void) {
    this.#out = out;
    this.#encoder = new AudioEncoder({ output: (chunk) => this.#encoded(chunk), error: failed });
    this.#encoder.configure(config(bitrate));
  }

  encode(of: T, samples: Float32Array<ArrayBuffer> | undefined): void {
    this.#waiting.push({ of, isEncoded: samples !== undefined });
    if (!samples) return this.#pass();
    const at = { timestamp: (this.#time += FRAME_MS * US), sampleRate: RATE, numberOfFrames: FRAME };
    const data = new AudioData({ format: "f32-planar", numberOfChannels: 1, data: samples, ...at });
    this.#encoder.encode(data);
    data.close();
  }

  set bitrate(bitrate: number) {
    if (this.#encoder.state === "configured") this.#encoder.configure(config(Math.round(bitrate)));
  }

  close(): void {
    if (this.#encoder.state !== "closed") this.#encoder.close();
  }

  #encoded(chunk: EncodedAudioChunk): void {
    const first = this.#waiting.shift();
    if (!first) return;
    const payload = new Uint8Array(chunk.byteLength);
    chunk.copyTo(payload);
    this.#out(first.of, payload);
    this.#pass();
  }

  #pass(): void {
    while (this.#waiting[0]?.isEncoded === false) this.#out((this.#waiting.shift() as { readonly of: T }).of, NONE);
  }
}

/** The payload of what has no sound. */
const NONE = new Uint8Array();

/** Frames that a decoder may hold: one that holds more has lost some, and is replaced. */
const MOST_WAITING = 16;

class WebDecoder<T> implements Decoder<T> {
  #decoder: AudioDecoder | undefined;
  readonly #waiting: T[] = [];
  #time = 0;

  constructor(
    readonly out: (of: T, samples: Float32Array<ArrayBuffer>) => void,
    readonly failed: () => void,
  ) {
    concealment ??= hasConcealment().then((has) => void (isConcealing = has));
  }

  lost(of: T, payload: Uint8Array): void {
    if (isConcealing) this.decode(of, lostPacket(payload));
  }

  decode(of: T, payload: Uint8Array): void {
    if (this.#waiting.length >= MOST_WAITING) this.close();
    this.#decoder ??= this.#make();
    this.#waiting.push(of);
    // Decoders number their output by its length, so only the order says which frame it is.
    const timestamp = (this.#time += FRAME_MS * US);
    this.#decoder.decode(new EncodedAudioChunk({ type: "key", timestamp, data: payload as BufferSource }));
  }

  close(): void {
    if (this.#decoder?.state === "configured") this.#decoder.close();
    this.#decoder = undefined;
    this.#waiting.length = 0;
  }

  #make(): AudioDecoder {
    const made: AudioDecoder = new AudioDecoder({
      output: (data) => {
        const of = this.#decoder === made ? this.#waiting.shift() : undefined;
        const samples = new Float32Array(data.numberOfFrames);
        if (of !== undefined) data.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
        data.close();
        if (of !== undefined) this.out(of, samples);
      },
      error: () => {
        if (this.#decoder !== made) return;
        this.close();
        this.failed();
      },
    });
    made.configure(config(24_000));
    return made;
  }
}
