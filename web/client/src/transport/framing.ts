/** Packets in a byte stream, each preceded by its length as a varint (docs/transports.md, T1). */

import { MAX_PACKET } from "./link.js";

/** A byte queue: bytes are appended at the end and taken from the start. */
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

  /** The next `count` bytes; undefined if fewer have come. */
  take(count: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.length < count) return undefined;
    this.#at += count;
    return this.#data.subarray(this.#at - count, this.#at);
  }

  /**
   * The bytes before the next `mark`, which is removed as well; undefined if it has not come yet.
   */
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

  /** The next varint (W1); undefined if it is incomplete. */
  varint(): number | undefined {
    let value = 0;
    for (let i = 0; i < this.length; i += 1) {
      const byte = this.#data[this.#at + i] ?? 0;
      value += (byte & 127) * 2 ** (7 * i);
      if (byte < 128) {
        if (byte === 0 && i > 0) throw new Error("a number that is longer than it needs to be");
        this.#at += i + 1;
        return value;
      }
      // Counts and lengths are far below 2^49.
      if (i === 6) throw new Error("a number that is too large");
    }
    return undefined;
  }
}

/** Reads packets that are preceded by their lengths. */
export class PacketReader {
  #length: number | undefined;

  constructor(readonly bytes = new Bytes()) {}

  /** A copy of the next packet; undefined if it is incomplete. */
  next(): Uint8Array<ArrayBuffer> | undefined {
    this.#length ??= this.bytes.varint();
    if (this.#length === undefined) return undefined;
    if (this.#length > MAX_PACKET) throw new Error(`a packet of ${this.#length} bytes`);
    const packet = this.bytes.take(this.#length);
    if (packet) this.#length = undefined;
    return packet?.slice();
  }

  /** True in the middle of a packet. */
  get isWithin(): boolean {
    return this.#length !== undefined || this.bytes.length > 0;
  }
}

export function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
}

/** `first`, then the packets, each preceded by its length. */
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
