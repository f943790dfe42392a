/**
 * Test messages that no compressor makes smaller, and whose receiver can check that they are
 * intact.
 */

/** Number, flags and run, 4 bytes each. */
const HEADER = 12;
const LAST = 1;

export interface Load {
  readonly number: number;
  readonly run: number;
  readonly isLast: boolean;
}

export function fill(size: number, { number, run, isLast }: Load): Uint8Array {
  const bytes = new Uint8Array(Math.max(size, HEADER));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, number, true);
  view.setUint32(4, isLast ? LAST : 0, true);
  view.setUint32(8, run, true);
  const next = random(number, run);
  for (let at = HEADER; at < bytes.length; at++) bytes[at] = next();
  return bytes;
}

/** The header of a message; undefined if the message is not as it was sent. */
export function read(bytes: Uint8Array): Load | undefined {
  if (bytes.length < HEADER) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const load = {
    number: view.getUint32(0, true),
    isLast: view.getUint32(4, true) === LAST,
    run: view.getUint32(8, true),
  };
  const next = random(load.number, load.run);
  for (let at = HEADER; at < bytes.length; at++) if (bytes[at] !== next()) return undefined;
  return load;
}

/**
 * Xorshift with 32 bits (Marsaglia, 2003), the same as in `lab/experiments/src/browsers/load.rs`.
 */
function random(number: number, run: number): () => number {
  let state = (Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(run + 1, 0x85ebca6b)) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 24) & 0xff;
  };
}
