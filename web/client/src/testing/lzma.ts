/**
 * Unpacks the format LZMA, as `xz --format=lzma` writes it: the "LZMA specification" of the LZMA
 * SDK by Igor Pavlov, whose names the code has. Browsers have no decoder of it, and for machine
 * code it needs a fifth less than gzip.
 */

/** Properties, size of the dictionary and size of the content. */
const HEADER = 13;

/** Probabilities have eleven bits and begin in the middle. */
const BITS = 11;
const HALF = 1 << (BITS - 1);
/** A probability moves by this part of the distance. */
const MOVE = 5;
/** Below this range the next byte is read. */
const TOP = 1 << 24;

const STATES = 12;
/** The largest number of states of a position. */
const POSITIONS = 16;
/** The shortest repetition. */
const LEAST = 2;
/** Longer distances have bits without probabilities, and then the four lowest ones. */
const LAST_SLOT_IN_TREE = 14;
const ALIGN_BITS = 4;

/** The content of a packed file. Throws an error if the file is not of this format. */
export function unpack(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const properties = packed.length > HEADER + 5 ? view.getUint8(0) : 225;
  const size = properties < 225 ? Number(view.getBigUint64(5, true)) : Infinity;
  if (size > 2 ** 31) throw new Error("this is not a file in the format LZMA whose header says its size");
  return new Decoder(packed, properties).decode(new Uint8Array(size));
}

/** Decodes bits, each with a probability that adapts. */
class RangeDecoder {
  #range = 0xffffffff;
  #code = 0;
  #at = HEADER;

  constructor(readonly packed: Uint8Array) {
    // The first of five bytes is always 0.
    for (let read = 0; read < 5; read += 1) this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  bit(probabilities: Uint16Array, index: number): number {
    const probability = probabilities[index] ?? HALF;
    const bound = (this.#range >>> BITS) * probability;
    const bit = this.#code < bound ? 0 : 1;
    if (bit === 0) {
      this.#range = bound;
      probabilities[index] = probability + (((1 << BITS) - probability) >> MOVE);
    } else {
      this.#range -= bound;
      this.#code -= bound;
      probabilities[index] = probability - (probability >> MOVE);
    }
    this.#normalize();
    return bit;
  }

  /** Bits that are as often 0 as 1. */
  direct(count: number): number {
    let value = 0;
    for (let read = 0; read < count; read += 1) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      value = value * 2 + bit;
      this.#normalize();
    }
    return value;
  }

  /** A number of `count` bits, the highest first. */
  tree(probabilities: Uint16Array, from: number, count: number): number {
    let node = 1;
    for (let read = 0; read < count; read += 1) node = node * 2 + this.bit(probabilities, from + node);
    return node - (1 << count);
  }

  /** A number of `count` bits, the lowest first. */
  reverseTree(probabilities: Uint16Array, from: number, count: number): number {
    let [node, value] = [1, 0];
    for (let read = 0; read < count; read += 1) {
      const bit = this.bit(probabilities, from + node);
      node = node * 2 + bit;
      value |= bit << read;
    }
    return value;
  }

  #normalize(): void {
    if (this.#range >= TOP) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  #next(): number {
    const byte = this.packed[this.#at];
    if (byte === undefined) throw new Error("the file in the format LZMA is cut off");
    this.#at += 1;
    return byte;
  }
}

function probabilities(count: number): Uint16Array {
  return new Uint16Array(count).fill(HALF);
}

/** Lengths of repetitions. */
class LengthDecoder {
  readonly #choice = probabilities(2);
  readonly #low = probabilities(POSITIONS << 3);
  readonly #middle = probabilities(POSITIONS << 3);
  readonly #high = probabilities(1 << 8);

  decode(range: RangeDecoder, position: number): number {
    if (range.bit(this.#choice, 0) === 0) return range.tree(this.#low, position << 3, 3);
    if (range.bit(this.#choice, 1) === 0) return 8 + range.tree(this.#middle, position << 3, 3);
    return 16 + range.tree(this.#high, 0, 8);
  }
}

class Decoder {
  readonly #range: RangeDecoder;
  /** The number of high bits of the byte before that choose the tree of a literal. */
  readonly #lc: number;
  /** The number of low bits of the position that choose it, too. */
  readonly #lp: number;
  /** The number of low bits of the position that choose other probabilities. */
  readonly #pb: number;
  readonly #literals: Uint16Array;
  readonly #isMatch = probabilities(STATES * POSITIONS);
  readonly #isRep = probabilities(STATES);
  readonly #isRepG0 = probabilities(STATES);
  readonly #isRepG1 = probabilities(STATES);
  readonly #isRepG2 = probabilities(STATES);
  readonly #isRep0Long = probabilities(STATES * POSITIONS);
  /** The upper bits of a distance, for four groups of lengths. */
  readonly #slots = probabilities(4 << 6);
  readonly #special = probabilities(1 << 7);
  readonly #align = probabilities(1 << ALIGN_BITS);
  readonly #lengths = new LengthDecoder();
  readonly #repeatedLengths = new LengthDecoder();
  /** The last four distances. */
  #reps: [number, number, number, number] = [0, 0, 0, 0];
  /** Stands for the kinds of the last steps, on which probabilities depend. */
  #state = 0;

  constructor(packed: Uint8Array, properties: number) {
    this.#range = new RangeDecoder(packed);
    this.#lc = properties % 9;
    this.#lp = Math.floor(properties / 9) % 5;
    this.#pb = Math.floor(properties / 45);
    this.#literals = probabilities(0x300 << (this.#lc + this.#lp));
  }

  decode(out: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    for (let at = 0; at < out.length;) {
      const position = at & ((1 << this.#pb) - 1);
      if (this.#range.bit(this.#isMatch, this.#state * POSITIONS + position) === 0) {
        out[at] = this.#literal(out, at);
        at += 1;
        continue;
      }
      const length = this.#repetition(position);
      const from = at - this.#reps[0] - 1;
      if (from < 0 || at + length > out.length) throw new Error("the file in the format LZMA is damaged");
      for (let copied = 0; copied < length; copied += 1) out[at + copied] = out[from + copied] ?? 0;
      at += length;
    }
    return out;
  }

  #literal(out: Uint8Array, at: number): number {
    const before = out[at - 1] ?? 0;
    const context = ((at & ((1 << this.#lp) - 1)) << this.#lc) + (before >> (8 - this.#lc));
    const from = 0x300 * context;
    let symbol = 1;
    if (this.#state >= 7) {
      // After a repetition: the byte that would have continued it is unlikely, but similar.
      let likely = out[at - this.#reps[0] - 1] ?? 0;
      while (symbol < 0x100) {
        const expected = (likely >> 7) & 1;
        likely <<= 1;
        const bit = this.#range.bit(this.#literals, from + ((1 + expected) << 8) + symbol);
        symbol = symbol * 2 + bit;
        if (bit !== expected) break;
      }
    }
    while (symbol < 0x100) symbol = symbol * 2 + this.#range.bit(this.#literals, from + symbol);
    this.#state = this.#state < 4 ? 0 : this.#state < 10 ? this.#state - 3 : this.#state - 6;
    return symbol & 0xff;
  }

  /** The length of a repetition; its distance becomes the first of the last ones. */
  #repetition(position: number): number {
    const [range, state] = [this.#range, this.#state];
    const [one, two, three, four] = this.#reps;
    if (range.bit(this.#isRep, state) === 0) {
      const length = this.#lengths.decode(range, position);
      this.#reps = [this.#distance(length), one, two, three];
      this.#state = state < 7 ? 7 : 10;
      return length + LEAST;
    }
    if (range.bit(this.#isRepG0, state) === 0) {
      if (range.bit(this.#isRep0Long, state * POSITIONS + position) === 0) {
        this.#state = state < 7 ? 9 : 11;
        return 1;
      }
    } else if (range.bit(this.#isRepG1, state) === 0) this.#reps = [two, one, three, four];
    else if (range.bit(this.#isRepG2, state) === 0) this.#reps = [three, one, two, four];
    else this.#reps = [four, one, two, three];
    this.#state = state < 7 ? 8 : 11;
    return this.#repeatedLengths.decode(range, position) + LEAST;
  }

  #distance(length: number): number {
    const slot = this.#range.tree(this.#slots, Math.min(length, 3) << 6, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) * 2 ** bits;
    if (slot < LAST_SLOT_IN_TREE) return high + this.#range.reverseTree(this.#special, high - slot, bits);
    const middle = this.#range.direct(bits - ALIGN_BITS) * (1 << ALIGN_BITS);
    return high + middle + this.#range.reverseTree(this.#align, 0, ALIGN_BITS);
  }
}
