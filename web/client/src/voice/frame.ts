/**
 * The bytes of a voice message: a header of four bytes and 20 ms of Opus. Byte 0 is the level of
 * the sound as in RFC 6464 (section 3), which the server reads to choose the loudest senders; bytes
 * 1 and 2 count frames of 20 ms, also those that are not sent; byte 3 has flags.
 */

/** Samples per second. Opus works at this rate whatever the device has. */
export const RATE = 48_000;
/** Milliseconds of a frame. */
export const FRAME_MS = 20;
/** Samples of a frame. */
export const FRAME = (RATE / 1000) * FRAME_MS;

/** The level of silence: 127 dB below the loudest sound. */
export const SILENCE = 127;

/** The amplitude, 0 to 1, of a level in decibels below the loudest sound. */
export const amplitudeOf = (level: number): number => 10 ** (-level / 20);

/** The bytes before the sound. */
export const HEADER = 4;
/** The largest frame of Opus (RFC 6716, section 3.2.1). */
export const MAX_OPUS = 1275;

/** What AES-GCM adds: a session of 8 bytes, the higher half of the counter, and the tag. */
export const SEALED = 8 + 2 + 16;

/** Bits of byte 3. A receiver ignores frames with bits that it does not know. */
const LAST = 1;
const ENCRYPTED = 2;
const KNOWN = LAST | ENCRYPTED;

/** The header of a frame. */
export interface Header {
  /** Decibels below the loudest sound, 0 to 127. */
  readonly level: number;
  /** True while somebody speaks. */
  readonly isVoice: boolean;
  /** Counts frames of 20 ms modulo 2^16. Frames that were not sent in silence count, too. */
  readonly sequence: number;
  /** True for the last frame before a pause: the frames that follow are not lost. */
  readonly isLast: boolean;
  readonly isEncrypted: boolean;
}

/** A received frame. An empty payload tells the level of the background noise during a pause. */
export interface Frame extends Header {
  readonly payload: Uint8Array;
}

/** Makes the bytes of a message. */
export function writeFrame(header: Header, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER + payload.length);
  bytes.set(headerOf(header));
  bytes.set(payload, HEADER);
  return bytes;
}

/** The four bytes of a header. */
export function headerOf({ level, isVoice, sequence, isLast, isEncrypted }: Header): Uint8Array {
  const flags = (isLast ? LAST : 0) | (isEncrypted ? ENCRYPTED : 0);
  return Uint8Array.of((level & 127) | (isVoice ? 128 : 0), (sequence >> 8) & 255, sequence & 255, flags);
}

/** Reads a message that another program wrote; undefined if it is no frame. */
export function readFrame(data: string | Uint8Array): Frame | undefined {
  if (typeof data === "string" || data.length < HEADER || data.length > HEADER + MAX_OPUS + SEALED) return undefined;
  const [first = 0, high = 0, low = 0, flags = 0] = data;
  if (flags & ~KNOWN) return undefined;
  return {
    level: first & 127,
    isVoice: first > 127,
    sequence: (high << 8) | low,
    isLast: (flags & LAST) !== 0,
    isEncrypted: (flags & ENCRYPTED) !== 0,
    payload: data.subarray(HEADER),
  };
}

/** How many frames `sequence` comes after `other`; negative: before. Both count modulo 2^16. */
export function distance(sequence: number, other: number): number {
  return ((sequence - other) << 16) >> 16;
}

/**
 * True for one frame of Opus of 20 ms (RFC 6716, section 3.1). Longer ones would make a decoder
 * work more than a message may cost.
 */
export function isOpus(payload: Uint8Array): boolean {
  const [toc = 0] = payload;
  if (payload.length === 0 || payload.length > MAX_OPUS || (toc & 3) !== 0) return false;
  const config = toc >> 3;
  // 20 ms is the second of four durations of SILK, the second of two of the hybrid mode, and the
  // last of four of CELT.
  if (config < 12) return (config & 3) === 1;
  return config < 16 ? (config & 1) === 1 : (config & 3) === 3;
}
