/** Random numbers that repeat from a seed: xoshiro128** by Blackman and Vigna (2018). */

export class Random {
  readonly #state: [number, number, number, number];

  constructor(seed: number) {
    let state = seed >>> 0;
    const next = (): number => {
      state = (state + 0x9e3779b9) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      return (mixed ^ (mixed >>> 16)) >>> 0;
    };
    this.#state = [next(), next(), next(), next()];
  }

  /** A random number from 0 up to, but not including, 1. */
  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  /** A whole number from 0 up to `bound`. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  #next(): number {
    const [a, b, c, d] = this.#state;
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const [third, fourth] = [c ^ a, d ^ b];
    this.#state[1] = b ^ third;
    this.#state[0] = a ^ fourth;
    this.#state[2] = third ^ (b << 9);
    this.#state[3] = (fourth << 11) | (fourth >>> 21);
    return result;
  }
}
