/** Tells in this participant's presence that it is muted, silent or speaking, and reads others'. */

import type { Participant, Room } from "../api.js";
import type { VoicePresence } from "./api.js";

/** The presence changes at most this often (ms): everybody gets each change. */
const AGAIN_MS = 1000;

const VALUES: readonly unknown[] = ["muted", "silent", "speaking"] satisfies VoicePresence[];

/** What a participant's presence says; undefined if it has not joined. Other programs wrote it. */
export function voiceOf({ presence }: Participant): VoicePresence | undefined {
  const value = isPlain(presence) && Object.hasOwn(presence, "voice") ? presence.voice : undefined;
  return VALUES.includes(value) ? (value as VoicePresence) : undefined;
}

export class Announcer {
  #changedAt = -Infinity;

  constructor(readonly room: Room<unknown>) {}

  /** Sets the member `voice`, unless it was set just now. Other members stay as they are. */
  tell(voice: VoicePresence, now: number): void {
    const { self, status } = this.room;
    if (!self || status !== "connected" || now - this.#changedAt < AGAIN_MS) return;
    const presence = self.presence ?? {};
    if (!isPlain(presence) || voiceOf(self) === voice) return;
    this.#changedAt = now;
    this.room.setPresence({ ...presence, voice });
  }

  /** Takes the member away. */
  end(): void {
    const { self, status } = this.room;
    if (!self || status === "closed" || voiceOf(self) === undefined) return;
    const { voice: _, ...others } = self.presence as Record<string, unknown>;
    this.room.setPresence(others);
  }
}

function isPlain(presence: unknown): presence is Record<string, unknown> {
  return typeof presence === "object" && presence !== null && !Array.isArray(presence);
}
