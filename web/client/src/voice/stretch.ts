/**
 * Makes speech shorter or longer by one period of the voice, and continues it where a frame is
 * missing. A cut is where the sound is most similar to itself (WSOLA: Verhelst and Roelands, "An
 * overlap-add technique based on waveform similarity", 1993), so that the pitch stays.
 */

import { FRAME } from "./frame.js";

/** Samples that are faded into each other: 5 ms. */
const OVERLAP = 240;
/** The shortest and longest period that is looked for, in samples: voices of 100 to 400 Hz. */
const [SHORTEST, LONGEST] = [120, 480];
/** The search looks at each fourth sample, which is enough below 6 kHz. */
const COARSE = 4;

/** The most samples that `lengthen` makes. */
export const MAX_LENGTH = FRAME + LONGEST;

/** Writes a frame without one period into `out`. Returns the number of samples. */
export function shorten(frame: Float32Array, out: Float32Array): number {
  const period = periodAt(frame, 0);
  out.set(frame.subarray(0, OVERLAP));
  join(out, 0, frame, period);
  return FRAME - period;
}

/** Writes a frame that has one period twice into `out`. Returns the number of samples. */
export function lengthen(frame: Float32Array, out: Float32Array): number {
  const period = periodAt(frame, 0);
  out.set(frame.subarray(0, period + OVERLAP));
  join(out, period, frame, 0);
  return FRAME + period;
}

/** Repeats the last period of a frame, from `from` to `to` of its loudness, into `out`. */
export function repeat(frame: Float32Array, out: Float32Array, start: number, from: number, to: number): void {
  const period = periodAt(frame, FRAME - OVERLAP - LONGEST);
  for (let i = 0; i < FRAME; i++) {
    const gain = from + ((to - from) * i) / FRAME;
    out[i] = (frame[FRAME - period + ((start + i) % period)] ?? 0) * gain;
  }
}

/**
 * Fades from what `out` has at `at` into a frame from its sample `from` on, and copies the rest of
 * the frame.
 */
export function join(out: Float32Array, at: number, frame: Float32Array, from: number): void {
  for (let i = 0; i < OVERLAP; i++) {
    const to = (i + 1) / (OVERLAP + 1);
    out[at + i] = (out[at + i] ?? 0) * (1 - to) + (frame[from + i] ?? 0) * to;
  }
  out.set(frame.subarray(from + OVERLAP, FRAME), at + OVERLAP);
}

/** The distance in samples at which the sound from `at` on is most similar to itself. */
function periodAt(frame: Float32Array, at: number): number {
  let [best, period] = [-Infinity, LONGEST];
  for (let lag = SHORTEST; lag <= LONGEST; lag += COARSE) {
    let product = 0;
    // A small energy, so that silence does not divide by zero.
    let energy = 1e-9;
    for (let i = at; i < at + OVERLAP; i += COARSE) {
      const later = frame[i + lag] ?? 0;
      product += (frame[i] ?? 0) * later;
      energy += later * later;
    }
    const likeness = product / Math.sqrt(energy);
    if (likeness > best) [best, period] = [likeness, lag];
  }
  return period;
}
