/** The browser's sound: one audio context, the code in its thread, and whether it may play. */

import type { VoiceError } from "./api.js";
import { voiceError } from "./errors.js";
import { RATE } from "./frame.js";

/** A context that does not run after this time (ms) needs a click. */
const BLOCKED_MS = 300;

/**
 * Times (ms) between attempts to play while sound is blocked. A browser that was too busy to open
 * its device starts only when it is asked again; where a click is missing, asking does no harm.
 */
const AGAIN_MS = [1000, 2000, 4000, 8000, 16_000];

export interface SoundEvents {
  /** Sound is blocked or interrupted; undefined: it plays again. */
  changed(problem: VoiceError | undefined): void;
}

/** Seconds: a volume that jumps would click. */
const FADE_S = 0.02;

/** Changes the volume of a node. */
export function setVolume({ gain, context }: GainNode, volume: number): void {
  gain.setTargetAtTime(volume, context.currentTime, FADE_S);
}

export class Sound {
  readonly context: AudioContext;
  /** The sum of all participants, with one loudness. */
  readonly out: GainNode;
  readonly #worklet: string | URL | undefined;
  readonly #events: SoundEvents;
  #problem: VoiceError | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(worklet: string | URL | undefined, events: SoundEvents) {
    this.#worklet = worklet;
    this.#events = events;
    this.context = makeContext();
    this.out = this.context.createGain();
    this.out.connect(this.context.destination);
    this.context.onstatechange = () => this.#check();
    addEventListener("visibilitychange", this.#again, true);
  }

  /** Loads the code for the audio thread. Rejects with `no-worklet`. */
  async load(): Promise<void> {
    await loadInto(this.context, this.#worklet);
    this.#again();
    this.#timer = setTimeout(() => this.#check(true), BLOCKED_MS);
  }

  /** A context that takes the sound of a stream: this one, or one with the rate of its device. */
  async takes(stream: MediaStream): Promise<readonly [AudioContext, MediaStreamAudioSourceNode]> {
    try {
      return [this.context, this.context.createMediaStreamSource(stream)];
    } catch {
      // Firefox connects only equal rates.
      const own = new AudioContext();
      await loadInto(own, this.#worklet);
      return [own, own.createMediaStreamSource(stream)];
    }
  }

  async resume(): Promise<void> {
    await this.context.resume();
    this.#check();
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#listen(false);
    removeEventListener("visibilitychange", this.#again, true);
    if (this.context.state !== "closed") void this.context.close();
  }

  /** Tries to play: a page that was hidden, or a device that slept, may have been suspended. */
  readonly #again = (): void => {
    if (this.#isOver || this.context.state === "running") return;
    // Without a click the promise may stay open, or be refused; `#check` tells.
    this.context.resume().catch(() => {});
  };

  /** Reports whether sound plays. A context that does not run yet has `BLOCKED_MS` to start. */
  #check(isLate = false): void {
    if (this.#isOver) return;
    const { state } = this.context;
    const isInterrupted = (state as string) === "interrupted";
    if (state !== "running" && !isInterrupted && !isLate && !this.#problem) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#check(true), BLOCKED_MS);
      return this.#again();
    }
    const code = isInterrupted ? "interrupted" : state === "running" ? undefined : "blocked";
    if (this.#problem?.code === code) return;
    this.#problem = code && voiceError(code);
    clearTimeout(this.#timer);
    if (code === "blocked") this.#retry();
    this.#listen(code !== undefined);
    this.#events.changed(this.#problem);
  }

  #retry(attempt = 0): void {
    const wait = AGAIN_MS[attempt];
    if (wait === undefined) return;
    this.#timer = setTimeout(() => {
      this.#again();
      this.#retry(attempt + 1);
    }, wait);
  }

  /** While sound is blocked, the next click or key anywhere in the page begins it. */
  #listen(isBlocked: boolean): void {
    const change = isBlocked ? addEventListener : removeEventListener;
    for (const event of ["pointerdown", "keydown"]) change(event, this.#again, true);
  }
}

/** The rate of Opus, so that the browser changes rates, which it does well. */
function makeContext(): AudioContext {
  try {
    return new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
  } catch {
    return new AudioContext({ latencyHint: "interactive" });
  }
}

async function loadInto(context: AudioContext, worklet: string | URL | undefined): Promise<void> {
  try {
    if (worklet !== undefined) return await context.audioWorklet.addModule(worklet);
    const { default: code } = await import("./worklet-code.js");
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    await context.audioWorklet.addModule(address).finally(() => URL.revokeObjectURL(address));
  } catch (error) {
    throw voiceError("no-worklet", error);
  }
}
