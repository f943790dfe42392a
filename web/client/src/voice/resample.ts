/**
 * Changes the rate of samples by linear interpolation, for devices that do not work at 48 kHz.
 * Above 8 kHz it is dull, where speech has little.
 */

export class Resampler {
  /** Samples of the input for each of the output. */
  readonly #step: number;
  #before = 0;
  #next = 0;
  /** Where the next sample of the output is between `#before` (0) and `#next` (1). */
  #at = 1;

  constructor(from: number, to: number) {
    this.#step = from / to;
  }

  /** Puts samples in; calls `emit` for each sample that comes out. */
  write(input: Float32Array, emit: (sample: number) => void): void {
    for (const sample of input) {
      this.#shift(sample);
      for (; this.#at < 1; this.#at += this.#step) emit(this.#now);
    }
  }

  /** Fills `out`; calls `pull` for each sample that it needs. */
  read(out: Float32Array, pull: () => number): void {
    for (let i = 0; i < out.length; i++) {
      while (this.#at >= 1) this.#shift(pull());
      out[i] = this.#now;
      this.#at += this.#step;
    }
  }

  get #now(): number {
    return this.#before + (this.#next - this.#before) * this.#at;
  }

  #shift(sample: number): void {
    this.#before = this.#next;
    this.#next = sample;
    this.#at -= 1;
  }
}
