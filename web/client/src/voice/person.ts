/** Plays what one participant says. */

import type { VoiceReceived } from "./api.js";
import type { Codec, Decoder } from "./codec.js";
import { amplitudeOf, isOpus, type Frame } from "./frame.js";
import { LostFrames } from "./lost.js";
import { DecodeOrder, holdFor } from "./order.js";
import type { VoicePlayoutStats } from "./playout.js";
import { PLAYOUT, type ToPlayout } from "./processors.js";
import type { Secret } from "./secret.js";
import { setVolume, type Sound } from "./sound.js";

/** A participant counts as speaking for this time (ms) after its last frame with speech. */
const SPEAKING_MS = 300;

/**
 * Frames a second that are decoded, and how many at once after a break: a sender makes 50. Others
 * are refused, so that a flood costs no more than speech.
 */
const [RATE, BURST] = [60, 100];

/** After this many frames in a row that could not be decrypted, the key is wrong. */
const MANY = 25;

/** The statistics of a playout before it has played anything. */
const NOTHING = { played: 0, concealed: 0, late: 0, delay: 0 };

interface Encoded {
  readonly sequence: number;
  readonly isLast: boolean;
  readonly payload: Uint8Array;
}

/** What the decoder works on: a frame that came, or one that is lost and made up. */
type Decoding = Pick<Encoded, "sequence" | "isLast"> & { readonly isLost?: true };

export interface PersonOptions {
  readonly id: number;
  readonly sound: Sound;
  readonly codec: Codec;
  readonly secret: Secret | undefined;
  /** The participant's frames cannot be decrypted. */
  readonly wrongKey: () => void;
}

export class Person {
  readonly #options: PersonOptions;
  readonly #node: AudioWorkletNode;
  readonly #gain: GainNode;
  readonly #order = new DecodeOrder<Encoded>();
  readonly #lost = new LostFrames();
  readonly #decoder: Decoder<Decoding>;
  #playout: Pick<VoicePlayoutStats, "played" | "concealed" | "late" | "delay"> = NOTHING;
  #refused = 0;
  #undecrypted = 0;
  #allowed = BURST;
  #allowedAt = 0;
  #level = 0;
  /** When the newest frame arrived (ms), also if it was refused. */
  heardAt = -Infinity;
  /** When the newest frame with speech arrived (ms). */
  #spokeAt = -Infinity;

  constructor(options: PersonOptions) {
    this.#options = options;
    const { context, out } = options.sound;
    this.#node = new AudioWorkletNode(context, PLAYOUT, { numberOfInputs: 0, outputChannelCount: [1] });
    this.#node.port.onmessage = ({ data }: MessageEvent<VoicePlayoutStats>) => (this.#playout = data);
    this.#gain = context.createGain();
    this.#node.connect(this.#gain).connect(out);
    this.#decoder = options.codec.decoder(
      ({ sequence, isLast, isLost }, samples) =>
        this.#tell(isLost ? ["made", sequence, samples] : ["frame", sequence, samples, isLast], [samples.buffer]),
      () => (this.#refused += 1),
    );
  }

  set volume(volume: number) {
    setVolume(this.#gain, volume);
  }

  set maxDelay(ms: number) {
    this.#tell(["maxDelay", ms]);
  }

  get stats(): VoiceReceived {
    const { played, concealed, late, delay } = this.#playout;
    return { played, concealed, late, delay, refused: this.#refused };
  }

  isSpeaking(now: number): boolean {
    return now - this.#spokeAt < SPEAKING_MS;
  }

  /** How loud the participant is, 0 to 1. */
  levelAt(now: number): number {
    return now - this.heardAt < SPEAKING_MS ? this.#level : 0;
  }

  /** Takes a frame that arrived at `now` (ms). */
  async receive(frame: Frame, now: number): Promise<void> {
    this.heardAt = now;
    if (!this.#isAllowed(now)) return void (this.#refused += 1);
    const { id, secret } = this.#options;
    let { payload } = frame;
    if (secret || frame.isEncrypted) {
      const opened = frame.isEncrypted ? await secret?.open(frame, id) : undefined;
      this.#undecrypted = opened ? 0 : this.#undecrypted + 1;
      if (this.#undecrypted === MANY) this.#options.wrongKey();
      if (!opened) return void (this.#refused += 1);
      payload = opened;
    }
    this.#opened(frame, payload, now);
  }

  close(): void {
    this.#tell(["end"]);
    this.#node.port.onmessage = null;
    this.#node.disconnect();
    this.#gain.disconnect();
    this.#decoder.close();
  }

  #opened(frame: Frame, payload: Uint8Array, now: number): void {
    const { sequence, level, isVoice, isLast } = frame;
    this.#level = amplitudeOf(level);
    if (isVoice) this.#spokeAt = now;
    if (payload.length === 0) {
      this.#decode(this.#order.flush());
      this.#tell(["pause", sequence, level]);
      return;
    }
    if (!isOpus(payload)) return void (this.#refused += 1);
    const ready = this.#order.push({ sequence, isLast, payload }, holdFor(this.#playout.delay));
    if (ready) this.#decode(ready);
    else this.#tell(["missed", sequence]);
  }

  #decode(ready: readonly Encoded[]): void {
    for (const one of ready) {
      for (const sequence of this.#lost.before(one))
        if (this.#take()) this.#decoder.lost({ sequence, isLast: false, isLost: true }, one.payload);
      this.#decoder.decode(one, one.payload);
    }
  }

  #isAllowed(now: number): boolean {
    this.#allowed = Math.min(this.#allowed + ((now - this.#allowedAt) / 1000) * RATE, BURST);
    this.#allowedAt = now;
    return this.#take();
  }

  /** Takes one of the frames that may be decoded; those that are made up count, too. */
  #take(): boolean {
    if (this.#allowed < 1) return false;
    this.#allowed -= 1;
    return true;
  }

  #tell(told: ToPlayout, transferred: Transferable[] = []): void {
    this.#node.port.postMessage(told, transferred);
  }
}
