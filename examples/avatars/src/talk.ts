/** Talking by voice: the nearer somebody is, the louder. */

import type { Room } from "groupwire";
import type { Voice } from "groupwire/voice";

/** Closer than this, people hear each other as if they stood together. */
const NEAR = 80;

/** A smaller change of the loudness is not heard. */
const STEP = 0.02;

/** How loud somebody is at a distance, 0 to 1; beyond `earshot` nothing is heard. */
export function loudnessAt(distance: number, earshot: number): number {
  const share = (earshot - distance) / (earshot - NEAR);
  return Math.min(Math.max(share, 0), 1) ** 2;
}

/** True if a change of the loudness makes a difference. Whoever is too far away is silent. */
export function isHeard(volume: number, before: number): boolean {
  return volume === 0 ? before > 0 : Math.abs(volume - before) >= STEP;
}

export class Talk {
  #voice: Voice | undefined;
  readonly #volumes = new Map<number, number>();

  /** `changed` gets the button's text, and what does not work. */
  constructor(
    readonly room: Room<any>,
    readonly earshot: number,
    readonly changed: (label: string, problem: string) => void,
  ) {}

  /** Joins, and then mutes and unmutes. */
  async press(): Promise<void> {
    if (this.#voice) return this.#voice.mute(!this.#voice.state.muted);
    this.changed("Joining…", "");
    // Most people only look around: the code for sound is loaded for those who talk.
    const { joinVoice } = await import("groupwire/voice");
    // The button may have been pressed again while the code was loading.
    if (this.#voice) return;
    this.#voice = joinVoice(this.room);
    this.#voice.on("error", () => this.#show());
    this.#voice.subscribe(() => this.#show());
  }

  /** In each frame: how far away the others are. */
  hear(distances: readonly (readonly [id: number, distance: number])[]): void {
    if (!this.#voice) return;
    for (const [id, distance] of distances) {
      const volume = loudnessAt(distance, this.earshot);
      if (!isHeard(volume, this.#volumes.get(id) ?? 1)) continue;
      this.#volumes.set(id, volume);
      this.#voice.setVolumeOf(id, volume);
    }
  }

  /** The participants who speak now. */
  get speakers(): ReadonlySet<number> {
    const people = this.#voice?.state.people ?? [];
    return new Set(people.filter(({ speaking }) => speaking).map(({ id }) => id));
  }

  #show(): void {
    const { muted, microphone, error } = (this.#voice as Voice).state;
    const label = microphone === "asking" ? "Joining…" : microphone === "on" && !muted ? "Mute" : "Talk";
    this.changed(label, error?.message ?? "");
  }
}
