/**
 * Chooses which frames of the microphone are sent, encodes and encrypts them, and adapts the
 * bitrate.
 */

import type { Sent } from "../api.js";
import { Activity } from "./activity.js";
import type { VoiceMode, VoiceSent } from "./api.js";
import { Bitrate, type Path } from "./bitrate.js";
import type { Codec, Encoder } from "./codec.js";
import { amplitudeOf, HEADER, SILENCE, writeFrame, type Header } from "./frame.js";
import type { Secret } from "./secret.js";

/**
 * After speech the noise is told in these frames of a pause, for as long as the others play it. The
 * first one ends the sound, so that nothing is missing.
 */
const TOLD = [0, 20, 40];

interface Numbered extends Header {
  /** The number of the frame, which never wraps. */
  readonly counter: number;
}

export interface SenderOptions {
  readonly bitrate: readonly [least: number, most: number];
  readonly secret: Secret | undefined;
  /** The codec, which is loaded when there are frames. */
  readonly codec: () => Codec;
  /** This participant's id; undefined before there is a connection. */
  readonly self: () => number | undefined;
  readonly send: (message: Uint8Array) => Sent;
  readonly failed: (error: unknown) => void;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #activity = new Activity();
  readonly #bitrate: Bitrate;
  #encoder: Encoder<Numbered> | undefined;
  mode: VoiceMode = "voice";
  isMuted = false;
  isTalking = false;
  /** Counts all frames of the microphone, from a random number on. */
  #counter = crypto.getRandomValues(new Uint16Array(1))[0] ?? 0;
  /** Frames since the last one that was sent. */
  #pause = Infinity;
  #isFull = false;
  /** Messages that wait for the next one, to share its packet. */
  readonly #held: Uint8Array[] = [];
  /** Frames are encrypted one after the other, so that they stay in order. */
  #sealed: Promise<void> = Promise.resolve();
  #frames = 0;
  #silent = 0;
  #dropped = 0;
  #bytes = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#bitrate = new Bitrate(...options.bitrate);
  }

  /** Takes 960 samples. A frame that is old is not sent. */
  frame(samples: Float32Array<ArrayBuffer>, isOld: boolean): void {
    this.#counter += 1;
    this.#activity.note(samples);
    const isWanted = this.#wants();
    if (isWanted && isOld) this.#dropped += 1;
    const isSent = isWanted && !isOld;
    this.#pause = isSent ? 0 : this.#pause + 1;
    if (isSent) this.#encode(samples);
    else {
      this.#silent += 1;
      if (TOLD.includes(this.#pause - 1)) this.#encode(undefined);
    }
  }

  /** True while frames are sent in which somebody speaks. */
  get isSpeaking(): boolean {
    return this.#pause === 0 && this.#activity.isVoice;
  }

  /** How loud this participant is now, 0 to 1. */
  get level(): number {
    return this.isMuted ? 0 : amplitudeOf(this.#activity.level);
  }

  get stats(): VoiceSent {
    const [frames, silent, dropped, bytes] = [this.#frames, this.#silent, this.#dropped, this.#bytes];
    return { frames, silent, dropped, bytes, bitrate: Math.round(this.#bitrate.current) };
  }

  /** To be called once a second: follows the path. */
  follow(path: Omit<Path, "isFull">): void {
    const hasChanged = this.#bitrate.note({ ...path, isFull: this.#isFull });
    this.#isFull = false;
    if (hasChanged && this.#encoder) this.#encoder.bitrate = this.#bitrate.current;
  }

  /** Ends a sound, when the microphone does. */
  stop(): void {
    if (this.#pause === 0) {
      this.#counter += 1;
      this.#encode(undefined);
    }
    this.#pause = Infinity;
    this.#encoder?.close();
    this.#encoder = undefined;
  }

  #wants(): boolean {
    if (this.isMuted) return false;
    if (this.mode === "voice") return this.#activity.isVoice;
    return this.mode === "open" || this.isTalking;
  }

  #encode(samples: Float32Array<ArrayBuffer> | undefined): void {
    const { level, noise, isVoice, isEnding } = this.#activity;
    const isSound = samples !== undefined;
    const header = {
      level: isSound ? level : this.isMuted ? SILENCE : noise,
      isVoice: isSound && isVoice,
      sequence: this.#counter & 0xffff,
      isLast: !isSound || (this.mode === "voice" && isEnding),
      isEncrypted: this.#options.secret !== undefined,
      counter: this.#counter,
    };
    try {
      this.#encoder ??= this.#makeEncoder();
      this.#encoder.encode(header, samples);
    } catch (error) {
      this.#fail(error);
    }
  }

  #makeEncoder(): Encoder<Numbered> {
    const out = (header: Numbered, payload: Uint8Array): void => this.#encoded(header, payload);
    return this.#options.codec().encoder(this.#bitrate.current, out, (error) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#encoder = undefined;
    this.#options.failed(error);
  }

  #encoded(header: Numbered, payload: Uint8Array): void {
    const { secret, self } = this.#options;
    if (!secret) return this.#send(header, payload);
    const id = self();
    // Without a connection there is nobody to hear it, and no id to bind it to.
    if (id === undefined) return;
    this.#sealed = this.#sealed
      .then(() => secret.seal(header, header.counter, id, payload))
      .then((sealed) => this.#send(header, sealed))
      .catch((error) => this.#fail(error));
  }

  #send(header: Header, payload: Uint8Array): void {
    this.#held.push(writeFrame(header, payload));
    // The last frame of a sound is sent at once, with what waits.
    if (this.#held.length < this.#bitrate.together && !header.isLast) return;
    for (const message of this.#held.splice(0)) this.#pass(message);
  }

  #pass(message: Uint8Array): void {
    if (this.#options.send(message) === "not-now") {
      this.#isFull = true;
      this.#dropped += 1;
      return;
    }
    this.#frames += message.length > HEADER ? 1 : 0;
    this.#bytes += message.length;
  }
}
