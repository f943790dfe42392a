/** Tells speech from the noise around it by its loudness, and how loud a sound is. */

import { SILENCE } from "./frame.js";

/** Speech is louder than the noise by this many decibels. */
const ABOVE_NOISE = 9;
/** Softer sounds (decibels below the loudest one) are no speech near a microphone. */
const SOFTEST = 60;
/** Frames that count as speech after it: 300 ms, longer than pauses between words. */
const HANGOVER = 15;
/** Decibels by which the estimate of the noise rises in each frame: 3 a second. */
const RISE = 0.06;
/** The same while somebody speaks: more slowly. */
const RISE_IN_SPEECH = 0.015;
/** The noise at the beginning: a quiet room. */
const FIRST_NOISE = 70;

export class Activity {
  /** Decibels below the loudest sound, 0 to 127, as in RFC 6464. */
  level = SILENCE;
  isVoice = false;
  /** The level of the noise around the speaker. */
  #noise = FIRST_NOISE;
  #hangover = 0;

  /** Takes the next frame. */
  note(samples: Float32Array): void {
    const level = levelOf(samples);
    const isLoud = level < SOFTEST && level < this.#noise - ABOVE_NOISE;
    // Levels count downwards: a smaller one is louder.
    if (level > this.#noise) this.#noise += (level - this.#noise) / 8;
    else this.#noise -= isLoud ? RISE_IN_SPEECH : RISE;
    this.#hangover = isLoud ? HANGOVER : Math.max(this.#hangover - 1, 0);
    this.level = Math.round(level);
    this.isVoice = this.#hangover > 0;
  }

  /** True for the last frame that counts as speech, unless the next one is loud again. */
  get isEnding(): boolean {
    return this.#hangover === 1;
  }

  /** The level of the noise, 0 to 127. */
  get noise(): number {
    return Math.min(Math.round(this.#noise), SILENCE);
  }
}

/** The level of a frame in decibels below the loudest sound, 0 to 127. */
export function levelOf(samples: Float32Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  const level = -10 * Math.log10(energy / samples.length);
  // Written so that NaN is silence.
  return level < SILENCE ? Math.max(level, 0) : SILENCE;
}
