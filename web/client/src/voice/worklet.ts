/**
 * The code that runs in the audio thread: it cuts the sound of the microphone into frames, and
 * plays the frames of one participant. It is built into one text, because browsers load it from an
 * address of its own (build.mjs).
 */

import { FRAME, RATE } from "./frame.js";
import { VoicePlayout } from "./playout.js";
import { CAPTURE, PLAYOUT, type Captured, type ToPlayout } from "./processors.js";
import { Resampler } from "./resample.js";

// The global scope of an audio worklet.
declare const sampleRate: number;
declare const currentTime: number;
declare function registerProcessor(name: string, processor: unknown): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

/** The statistics are told after this many blocks of 128 samples: about four times a second. */
const BLOCKS = 94;

class Capture extends AudioWorkletProcessor {
  readonly #resampler = new Resampler(sampleRate, RATE);
  #frame = new Float32Array(FRAME);
  #filled = 0;

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    const samples = input?.[0];
    if (!samples) return true;
    if (sampleRate === RATE) for (const sample of samples) this.#put(sample);
    else this.#resampler.write(samples, (sample) => this.#put(sample));
    return true;
  }

  #put(sample: number): void {
    this.#frame[this.#filled++] = sample;
    if (this.#filled < FRAME) return;
    const captured: Captured = [this.#frame, currentTime];
    this.port.postMessage(captured, [this.#frame.buffer]);
    this.#frame = new Float32Array(FRAME);
    this.#filled = 0;
  }
}

class Playout extends AudioWorkletProcessor {
  readonly #playout = new VoicePlayout();
  readonly #resampler = new Resampler(RATE, sampleRate);
  /** One sample at a time, for other rates. */
  readonly #single = new Float32Array(1);
  #blocks = 0;
  #isOver = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<ToPlayout>) => this.#told(data, currentTime * 1000);
  }

  process(_inputs: unknown, [output]: readonly (readonly Float32Array[])[]): boolean {
    const out = output?.[0];
    if (out) this.#fill(out, currentTime * 1000);
    if (++this.#blocks % BLOCKS === 0) this.port.postMessage(this.#playout.stats);
    return !this.#isOver;
  }

  #fill(out: Float32Array, now: number): void {
    if (sampleRate === RATE) return this.#playout.pull(out, now);
    this.#resampler.read(out, () => {
      this.#playout.pull(this.#single, now);
      return this.#single[0] ?? 0;
    });
  }

  #told(told: ToPlayout, now: number): void {
    if (told[0] === "frame") this.#playout.push(told[1], told[2], told[3], now);
    else if (told[0] === "made") this.#playout.made(told[1], told[2]);
    else if (told[0] === "missed") this.#playout.missed(told[1], now);
    else if (told[0] === "pause") this.#playout.pause(told[1], told[2], now);
    else if (told[0] === "maxDelay") this.#playout.maxDelay = told[1];
    else this.#isOver = true;
  }
}

registerProcessor(CAPTURE, Capture);
registerProcessor(PLAYOUT, Playout);
