/**
 * A generator of whole numbers below a bound, by mulberry32: the same seed gives the same numbers.
 */
export function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Cuts bytes into pieces of random sizes. */
export function* pieces(bytes: Uint8Array, random: (below: number) => number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + random(random(4) === 0 ? 5000 : 20));
    yield bytes.subarray(at, end);
    at = end;
  }
}
