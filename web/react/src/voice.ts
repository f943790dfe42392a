"use client";
/**
 * The conversation of a room for React. The code for sound is loaded when the user joins.
 *
 * @packageDocumentation
 */

import { GroupwireError } from "groupwire";
import type { Voice, VoiceOptions, VoiceState } from "groupwire/voice";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { useHandle, useLatest } from "./provider.js";

export type { Voice, VoiceOptions, VoicePerson, VoiceState } from "groupwire/voice";

/** The conversation as a component sees it. */
export interface UsedVoice {
  /** Undefined while the user has not joined. */
  readonly state: VoiceState | undefined;
  /** The conversation, for everything else; undefined while the user has not joined. */
  readonly voice: Voice | undefined;
  /**
   * Joins. Call it in a listener of a click, because browsers play no sound before one. Rejects if
   * the code cannot be loaded, or an option is wrong.
   */
  readonly join: () => Promise<void>;
  /** Leaves the conversation. */
  readonly leave: () => void;
}

type Snapshot = Pick<UsedVoice, "state" | "voice">;

const NONE: Snapshot = { state: undefined, voice: undefined };

/**
 * The conversation of the room of the provider. It ends with the component, and when the provider
 * gets another room. The options take effect when the user joins.
 *
 * @example
 * ```tsx
 * const { state, voice, join, leave } = useVoice();
 * if (!state) return <button onClick={join}>Join</button>;
 * return <button onClick={() => voice?.mute(!state.muted)}>{state.muted ? "Unmute" : "Mute"}</button>;
 * ```
 */
export function useVoice(options: VoiceOptions = {}): UsedVoice {
  const handle = useHandle();
  const latest = useLatest(options);
  const conversation = useMemo(() => new Conversation(() => handle.room?.room), [handle]);
  useEffect(() => {
    // The room may be replaced by another one, such as after a time in which nothing showed it.
    const stop = handle.each(() => conversation.leave);
    return () => {
      stop();
      conversation.leave();
    };
  }, [handle, conversation]);
  const snapshot = useSyncExternalStore(conversation.subscribe, conversation.snapshot, () => NONE);
  const join = useMemo(() => () => conversation.join(latest.current), [conversation, latest]);
  return { ...snapshot, join, leave: conversation.leave };
}

type AnyRoom = Parameters<(typeof import("groupwire/voice"))["joinVoice"]>[0];

/** One conversation at a time, as an external store. */
class Conversation {
  #snapshot = NONE;
  #isLoading = false;
  readonly #listeners = new Set<() => void>();

  constructor(readonly room: () => AnyRoom | undefined) {}

  readonly snapshot = (): Snapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly leave = (): void => {
    const { voice } = this.#snapshot;
    if (!voice) return;
    this.#show(NONE);
    voice.leave();
  };

  async join(options: VoiceOptions): Promise<void> {
    const room = this.room();
    if (!room) throw new GroupwireError("not-open", "own", "there is no room to talk in: join after it is shown");
    if (this.#snapshot.voice || this.#isLoading) return;
    this.#isLoading = true;
    try {
      const { joinVoice } = await import("groupwire/voice");
      // The component may have gone, or got another room, while the code was loading.
      if (room !== this.room() || this.#listeners.size === 0) return;
      const voice = joinVoice(room, options);
      this.#show({ voice, state: voice.state });
      voice.subscribe((state) => this.#snapshot.voice === voice && this.#show({ voice, state }));
    } finally {
      this.#isLoading = false;
    }
  }

  #show(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    for (const listener of [...this.#listeners]) listener();
  }
}
