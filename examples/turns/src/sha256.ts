/**
 * SHA-256 (FIPS 180-4). The browser's own one answers later, but a reducer has to answer at once.
 */

const PRIMES = firstPrimes(64);
/**
 * The first 32 bits of the fractional parts of the cube roots and square roots of the first primes.
 */
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/** The SHA-256 of a text in UTF-8, as 64 hexadecimal digits. */
export function sha256(text: string): string {
  const state = Uint32Array.from(START);
  const data = padded(new TextEncoder().encode(text));
  for (let at = 0; at < data.byteLength; at += 64) addBlock(state, new DataView(data.buffer, at, 64));
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** The bytes, a bit 1, zeros up to a whole block, and the number of bits. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  data.set(bytes);
  data[bytes.length] = 0x80;
  new DataView(data.buffer).setBigUint64(data.length - 8, BigInt(bytes.length) * 8n);
  return data;
}

function addBlock(state: Uint32Array, block: DataView): void {
  const words = new Uint32Array(64);
  for (let i = 0; i < 64; i += 1) words[i] = i < 16 ? block.getUint32(i * 4) : extended(words, i);
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
  for (let i = 0; i < 64; i += 1) {
    const mixed = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const first = h + mixed + ((e & f) ^ (~e & g)) + ROUNDS[i]! + words[i]!;
    const second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i]! += word));
}

type Eight = [number, number, number, number, number, number, number, number];

function extended(words: Uint32Array, i: number): number {
  const [early, late] = [words[i - 15]!, words[i - 2]!];
  const first = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
  const second = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
  return words[i - 16]! + first + words[i - 7]! + second;
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function fraction(root: number): number {
  return Math.floor((root % 1) * 2 ** 32);
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}
