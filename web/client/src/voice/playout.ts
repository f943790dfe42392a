/**
 * Plays the decoded frames of one sender as one sound, although they arrive at intervals, late or
 * not at all. It has no clock: the time of each call is an argument, in milliseconds of one clock,
 * and its memory does not grow.
 */

import { VoiceDelay } from "./delay.js";
import { amplitudeOf, distance, FRAME, FRAME_MS, RATE, SILENCE } from "./frame.js";
import { join, lengthen, MAX_LENGTH, repeat, shorten } from "./stretch.js";

/** Options of {@link VoicePlayout}. */
export interface VoicePlayoutOptions {
  /** The least playout delay in milliseconds. Default: 20. */
  readonly minDelay?: number;
  /** The largest playout delay in milliseconds. Default: 200, which people hardly notice. */
  readonly maxDelay?: number;
}

/** Counts of frames since the beginning. */
export interface VoicePlayoutStats {
  /** Frames that were played. */
  readonly played: number;
  /** Frames that were missing while somebody spoke, and were made up, or repeats that fade. */
  readonly concealed: number;
  /** Frames that arrived after their turn. */
  readonly late: number;
  /** Frames that arrived again. */
  readonly duplicates: number;
  /** Frames that were left out because the playout was far behind. */
  readonly skipped: number;
  /** Frames that were played shorter, to catch up, or longer, to wait. */
  readonly shortened: number;
  readonly lengthened: number;
  /** The playout delay in milliseconds that jitter requires now. */
  readonly delay: number;
}

/** Frames that can wait: 1.3 s, more than the largest delay. A power of two. */
const SLOTS = 64;

/** A frame that is further from its turn than this begins a new sound: the sender began anew. */
const FAR = 50;

/**
 * The loudness of repeated sound at the ends of the first, second and third frame, and then
 * silence: three frames are a syllable, and longer repeats would whistle.
 */
const FADES = [1, 0.5, 0.2, 0] as const;
const MOST_CONCEALED = FADES.length - 1;

/** The playout is left as it is while its delay is this close to the target (ms). */
const [TOO_EARLY_MS, TOO_LATE_MS] = [10, 20];
/** A playout that is this far behind (ms) does not catch up but skips: the device slept. */
const FAR_BEHIND_MS = 400;

/** A pause is rendered in pieces of this size (samples): a block of an audio device. */
const PIECE = 128;
/** Noise in pauses ends this long after the last word of the sender (ms). */
const NOISE_MS = 1000;
/** Noise is at least this many decibels below the loudest sound, whatever the sender says. */
const LEAST_NOISE = 50;

export class VoicePlayout {
  readonly #delay: VoiceDelay;
  readonly #slots: (Float32Array | undefined)[] = Array<undefined>(SLOTS).fill(undefined);
  /** The sequence number of the newest frame, which does not wrap. */
  #newest: number | undefined;
  /** The frame whose turn is next. During a pause, frames before it are late. */
  #next = 0;
  #isPlaying = false;
  /** True for frames after which a pause follows, by their slots. */
  readonly #isLast = new Uint8Array(SLOTS);
  /** True for frames that a decoder made up, by their slots. */
  readonly #isMade = new Uint8Array(SLOTS);
  /** True after the last frame before a pause. */
  #isPause = false;
  /** The newest frame that was not sent because of a pause, as its sender told. */
  #quiet = -Infinity;
  /** Frames that were concealed since the last one that was played. */
  #gap = 0;
  /** The last played frame, which is repeated if the next one is missing. */
  readonly #last = new Float32Array(FRAME);
  /** The rendered samples that are not yet taken. */
  readonly #ready = new Float32Array(MAX_LENGTH);
  #readyAt = 0;
  #readyTo = 0;
  /** The amplitude of the noise in pauses, its end, and the state of its random numbers. */
  #noise = 0;
  #noiseTo = -Infinity;
  #random = 1;
  #smooth = 0;
  #played = 0;
  #concealed = 0;
  #late = 0;
  #duplicates = 0;
  #skipped = 0;
  #shortened = 0;
  #lengthened = 0;

  constructor({ minDelay = 20, maxDelay = 200 }: VoicePlayoutOptions = {}) {
    this.#delay = new VoiceDelay(minDelay, Math.max(minDelay, maxDelay));
  }

  /** The largest playout delay in milliseconds. */
  set maxDelay(most: number) {
    this.#delay.most = Math.max(most, this.#delay.least);
  }

  /**
   * Takes a decoded frame of up to 960 samples at `now`. The samples are kept until they are
   * played. `isLast` says that a pause follows. Returns false for a frame that is late, or here
   * already.
   */
  push(sequence: number, samples: Float32Array, isLast: boolean, now: number): boolean {
    const number = this.#arrived(sequence, now);
    this.#noiseTo = now + NOISE_MS;
    const slot = number & (SLOTS - 1);
    if (number < this.#next) this.#late += 1;
    else if (this.#slots[slot]) this.#duplicates += 1;
    else {
      this.#slots[slot] = whole(samples);
      this.#isLast[slot] = isLast ? 1 : 0;
      this.#isMade[slot] = 0;
      return true;
    }
    return false;
  }

  /** Takes what a decoder made up for a lost frame. It is left out if its turn has begun. */
  made(sequence: number, samples: Float32Array): void {
    const newest = this.#newest ?? 0;
    const number = newest + distance(sequence, newest);
    const slot = number & (SLOTS - 1);
    const isLate = !this.isActive || number < this.#next + this.#gap;
    if (isLate || number > newest + MOST_CONCEALED || this.#slots[slot]) return;
    this.#slots[slot] = whole(samples);
    this.#isLast[slot] = 0;
    this.#isMade[slot] = 1;
  }

  /** Learns from a frame that arrived too late to be decoded. */
  missed(sequence: number, now: number): void {
    this.#arrived(sequence, now);
    this.#late += 1;
  }

  /** The sender tells during a pause how loud the noise around it is (decibels, 0 to 127). */
  pause(sequence: number, level: number, now: number): void {
    this.#quiet = this.#arrived(sequence, now);
    const loudness = Math.min(Math.max(level, LEAST_NOISE), SILENCE);
    // The noise is smoothed, which takes away 5 dB.
    this.#noise = level >= SILENCE ? 0 : 3 * amplitudeOf(loudness);
    this.#noiseTo = now + NOISE_MS;
  }

  /** Fills `out` with the next samples, the first of which are heard at `now`. */
  pull(out: Float32Array, now: number): void {
    for (let filled = 0; filled < out.length;) {
      if (this.#readyAt === this.#readyTo) this.#render(now + (filled * 1000) / RATE);
      const count = Math.min(out.length - filled, this.#readyTo - this.#readyAt);
      for (let i = 0; i < count; i++) out[filled + i] = bounded(this.#ready[this.#readyAt + i] ?? 0);
      filled += count;
      this.#readyAt += count;
    }
  }

  get stats(): VoicePlayoutStats {
    return {
      played: this.#played,
      concealed: this.#concealed,
      late: this.#late,
      duplicates: this.#duplicates,
      skipped: this.#skipped,
      shortened: this.#shortened,
      lengthened: this.#lengthened,
      delay: this.#delay.target,
    };
  }

  /** True while a sound is played, or waits for its turn. */
  get isActive(): boolean {
    return this.#isPlaying || this.#first() !== undefined;
  }

  /** Notes the arrival of a frame. Returns its number, which does not wrap. */
  #arrived(sequence: number, now: number): number {
    const before = this.#newest;
    const step = before === undefined ? 0 : distance(sequence, before);
    // Numbers stay positive when frames come in another order.
    const number = before === undefined ? sequence + 65_536 : before + step;
    const isKnown = this.#delay.note(number, now);
    // After a pause, frames between the last sound and this one were not sent.
    if (!this.#isPlaying && number > this.#next + FAR) this.#next = this.#first() ?? number;
    const isFar = Math.abs(number - this.#next) > FAR;
    if (before === undefined || !isKnown || isFar) this.#restart(number);
    this.#newest = Math.max(this.#newest ?? number, number);
    return number;
  }

  /** Forgets what waits: a new sound begins with this frame. */
  #restart(number: number): void {
    this.#slots.fill(undefined);
    this.#newest = this.#next = number;
    this.#quiet = -Infinity;
    this.#isPlaying = this.#isPause = false;
  }

  /** The first frame that waits. */
  #first(): number | undefined {
    const newest = this.#newest ?? -1;
    for (let number = this.#next; number <= newest; number++) if (this.#slots[number & (SLOTS - 1)]) return number;
    return undefined;
  }

  /** Renders the next frame, or a piece of a pause. */
  #render(now: number): void {
    this.#readyAt = 0;
    if (!this.#isPlaying && !this.#begins(now)) return this.#rest(now);
    const first = this.#first();
    const missing = first === undefined ? Infinity : first - this.#next;
    if (first !== undefined && missing <= this.#gap) {
      this.#next = first;
      return this.#play(first, now);
    }
    const isPause = this.#isPause || (first === undefined && this.#quiet >= this.#next);
    if (!isPause && this.#gap < MOST_CONCEALED) return this.#conceal();
    this.#isPlaying = false;
    this.#rest(now);
  }

  /** Begins to play if the first frame that waits has its turn. */
  #begins(now: number): boolean {
    const first = this.#first();
    if (first === undefined || now < this.#delay.soonest(first) + this.#delay.target) return false;
    this.#isPlaying = true;
    this.#next = first;
    // The sound begins softly, as if it came after silence.
    this.#gap = MOST_CONCEALED;
    return true;
  }

  #play(number: number, now: number): void {
    const late = now - this.#delay.soonest(number) - this.#delay.target;
    if (late > FAR_BEHIND_MS) return this.#skip(Math.floor(late / FRAME_MS), now);
    const slot = number & (SLOTS - 1);
    const frame = this.#slots[slot] as Float32Array;
    this.#slots[slot] = undefined;
    this.#isPause = this.#isLast[slot] === 1;
    this.#readyTo = FRAME;
    if (this.#gap > 0) {
      const loudness = FADES[this.#gap] ?? 0;
      repeat(this.#last, this.#ready, this.#gap * FRAME, loudness, loudness / 2);
      join(this.#ready, 0, frame, 0);
    } else if (late > TOO_LATE_MS && this.#slots[(number + 1) & (SLOTS - 1)]) {
      this.#readyTo = shorten(frame, this.#ready);
      this.#shortened += 1;
    } else if (late < -TOO_EARLY_MS) {
      this.#readyTo = lengthen(frame, this.#ready);
      this.#lengthened += 1;
    } else this.#ready.set(frame);
    this.#last.set(frame);
    this.#next = number + 1;
    this.#gap = 0;
    if (this.#isMade[slot]) this.#concealed += 1;
    else this.#played += 1;
  }

  /** Leaves frames out, but not the newest one unless it is far too late itself. */
  #skip(count: number, now: number): void {
    const to = Math.max(Math.min(this.#next + count, this.#newest ?? 0), this.#next + 1);
    this.#skipped += to - this.#next;
    while (this.#next < to) this.#slots[this.#next++ & (SLOTS - 1)] = undefined;
    this.#isPlaying = false;
    this.#rest(now);
  }

  /** Continues the last sound, softer each time. */
  #conceal(): void {
    const [from = 0, to = 0] = [FADES[this.#gap], FADES[this.#gap + 1]];
    repeat(this.#last, this.#ready, this.#gap * FRAME, from, to);
    this.#readyTo = FRAME;
    this.#gap += 1;
    this.#concealed += 1;
  }

  /** Renders a piece of a pause: silence, or the noise around the sender. */
  #rest(now: number): void {
    this.#readyTo = PIECE;
    const noise = now < this.#noiseTo ? this.#noise : 0;
    for (let i = 0; i < PIECE; i++) {
      this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) | 0;
      this.#smooth += ((this.#random / 2 ** 31) * noise - this.#smooth) / 2;
      this.#ready[i] = this.#smooth;
    }
  }
}

/** A frame of 960 samples: decoders may begin with a shorter one, whose end is in its place. */
function whole(samples: Float32Array): Float32Array {
  if (samples.length === FRAME) return samples;
  const frame = new Float32Array(FRAME);
  const kept = samples.subarray(Math.max(samples.length - FRAME, 0));
  frame.set(kept, FRAME - kept.length);
  return frame;
}

function bounded(sample: number): number {
  if (sample > 1) return 1;
  return sample >= -1 ? sample : sample < -1 ? -1 : 0;
}
