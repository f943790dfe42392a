/** How many bits a second the encoder may use: fewer while the path loses or holds up frames. */

/** What is known about the path now. */
export interface Path {
  /** The share of frames, 0 to 1, that were lost or late on their way to the server. */
  readonly lost: number;
  /** The round-trip time in milliseconds; undefined before it is known. */
  readonly roundTrip: number | undefined;
  /** True if frames had to be left out because the path did not take them. */
  readonly isFull: boolean;
}

/** More lost frames than this make the rate fall: the channel may lose 1 %. */
const MUCH_LOST = 0.05;
/** Milliseconds by which round trips may exceed the shortest one before frames wait somewhere. */
const QUEUED_MS = 150;
/** A fall and a rise, once a second: the rate doubles again in half a minute. */
const FALL = 0.75;
const RISE = 1.02;

/**
 * Two frames share a packet from when the rate has fallen to the first of these until it has risen
 * to the second. Below, the headers of a packet are larger than the frame in it, and the path
 * carries little.
 */
const [LITTLE, ENOUGH] = [12_000, 24_000];

export class Bitrate {
  /** Bits per second. */
  current: number;
  /** The number of frames that share a packet. */
  together = 1;
  #shortest = Infinity;

  constructor(
    readonly least: number,
    readonly most: number,
  ) {
    this.current = Math.min(Math.max(24_000, least), most);
  }

  /** To be called once a second. Returns true if the encoder should change its rate. */
  note({ lost, roundTrip = 0, isFull }: Path): boolean {
    const before = this.current;
    if (roundTrip > 0) this.#shortest = Math.min(this.#shortest, roundTrip);
    const isQueued = roundTrip > this.#shortest + QUEUED_MS;
    const isBad = isFull || isQueued || lost > MUCH_LOST;
    this.current = Math.min(Math.max(before * (isBad ? FALL : RISE), this.least), this.most);
    if (isBad && this.current <= LITTLE) this.together = 2;
    else if (this.current >= Math.min(ENOUGH, this.most)) this.together = 1;
    return this.current !== before;
  }
}
