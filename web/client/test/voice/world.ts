/** A sender and a network for the playout, in simulated time from a seed. */

import { FRAME, FRAME_MS, RATE } from "../../src/voice/frame.js";
import type { VoicePlayout } from "../../src/voice/playout.js";

/** Samples of a block of an audio device. */
export const BLOCK = 128;

/** A frame that arrives. */
export interface Arrival {
  readonly at: number;
  readonly sequence: number;
  readonly samples: Float32Array;
  readonly isLast: boolean;
}

/** Random numbers from 0 to 1, from a seed. */
export function numbers(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** A frame of a tone at 200 Hz that continues the one before. */
export function tone(frame: number, loudness = 0.3): Float32Array {
  return Float32Array.from({ length: FRAME }, (_, i) => {
    return loudness * Math.sin((2 * Math.PI * 200 * (frame * FRAME + i)) / RATE);
  });
}

/**
 * Frames that were sent from 0 on, each with the delay that `delayOf` tells in milliseconds;
 * undefined: it is lost.
 */
export function sent(count: number, delayOf: (frame: number) => number | undefined, first = 0): Arrival[] {
  const all: Arrival[] = [];
  for (let frame = 0; frame < count; frame++) {
    const delay = delayOf(frame);
    if (delay === undefined) continue;
    const sequence = (first + frame) & 0xffff;
    all.push({ at: frame * FRAME_MS + delay, sequence, samples: tone(frame), isLast: frame === count - 1 });
  }
  return all.sort((a, b) => a.at - b.at);
}

/** Plays what arrives, and returns the samples that were heard from `begin` until `end` (ms). */
export function heard(playout: VoicePlayout, arrivals: readonly Arrival[], end: number, begin = 0): Float32Array {
  const [first, last] = [begin, end].map((ms) => Math.ceil((ms / 1000) * (RATE / BLOCK))) as [number, number];
  const out = new Float32Array((last - first) * BLOCK);
  let next = 0;
  for (let at = 0; at < out.length; at += BLOCK) {
    const now = ((first * BLOCK + at) * 1000) / RATE;
    for (let arrival = arrivals[next]; arrival && arrival.at <= now; arrival = arrivals[++next])
      playout.push(arrival.sequence, arrival.samples, arrival.isLast, now);
    playout.pull(out.subarray(at, at + BLOCK), now);
  }
  return out;
}

/** The root mean square of samples. */
export function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** The largest step from a sample to the next one. */
export function largestStep(samples: Float32Array): number {
  return samples.reduce((most, sample, i) => Math.max(most, Math.abs(sample - (samples[i - 1] ?? sample))), 0);
}
