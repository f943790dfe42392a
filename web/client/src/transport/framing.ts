/** Packets in a stream of bytes, each after its length (docs/transports.md, T1), and the numbers that stand there. */

import { MAX_PACKET } from "./link.js";

/** Bytes that are added at the end and taken from the start. */
export class Bytes {
  #data = new Uint8Array(0);
  #at = 0;

  get length(): number {
    return this.#data.length - this.#at;
  }

  add(chunk: Uint8Array): void {
    if (this.length === 0) this.#data = chunk.slice();
    else {
      const data = new Uint8Array(this.length + chunk.length);
      data.set(this.#data.subarray(this.#at));
      data.set(chunk, this.length);
      this.#data = data;
    }
    this.#at = 0;
  }

  /** The next bytes; undefined if there are not so many yet. */
  take(count: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.length < count) return undefined;
    this.#at += count;
    return this.#data.subarray(this.#at - count, this.#at);
  }

  /** What is before the next `mark`, which is taken too; undefined if it has not come yet. */
  takeUntil(mark: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    const last = this.#data.length - mark.length;
    for (let at = this.#at; at <= last; at += 1) {
      if (!mark.every((byte, i) => this.#data[at + i] === byte)) continue;
      const before = this.#data.subarray(this.#at, at);
      this.#at = at + mark.length;
      return before;
    }
    return undefined;
  }

  /** A number (W1); undefined if it has not come whole. */
  varint(): number | undefined {
    let value = 0;
    for (let i = 0; i < this.length; i += 1) {
      const octet = this.#data[this.#at + i] ?? 0;
      value += (octet & 127) * 2 ** (7 * i);
      if (octet < 128) {
        if (octet === 0 && i > 0) throw new Error("a number that is longer than it needs to be");
        this.#at += i + 1;
        return value;
      }
      // Counts and lengths stay far below: what is longer is no number of ours.
      if (i === 6) throw new Error("a number that is too large");
    }
    return undefined;
  }
}

/** Reads packets that stand after their length. */
export class PacketReader {
  #length: number | undefined;

  constructor(readonly bytes = new Bytes()) {}

  /** The next packet, a copy; undefined if it has not come whole. */
  next(): Uint8Array<ArrayBuffer> | undefined {
    this.#length ??= this.bytes.varint();
    if (this.#length === undefined) return undefined;
    if (this.#length > MAX_PACKET) throw new Error(`a packet of ${this.#length} bytes`);
    const packet = this.bytes.take(this.#length);
    if (packet) this.#length = undefined;
    return packet?.slice();
  }

  /** Whether a packet has begun that did not end. */
  get isWithin(): boolean {
    return this.#length !== undefined || this.bytes.length > 0;
  }
}

export function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
}

/** The packets, each after its length, behind what is to come first. */
export function framed(first: readonly number[], packets: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const lengths = packets.map(({ length }) => varint(length));
  const size = (lists: readonly ArrayLike<number>[]): number => lists.reduce((sum, { length }) => sum + length, 0);
  const all = new Uint8Array(first.length + size(lengths) + size(packets));
  all.set(first);
  let at = first.length;
  packets.forEach((packet, i) => {
    for (const part of [lengths[i] ?? [], packet]) {
      all.set(part, at);
      at += part.length;
    }
  });
  return all;
}
