/**
 * The person whom this participant follows: avatars offer it, `<gw-follow>` does it, and both show
 * it.
 */

import type { Room } from "groupwire";

/** The detail of the event `gw-follow`: the person to follow, or undefined to stop following. */
export interface FollowEvent {
  /** The id of a participant of this person that is not away. */
  readonly id: number | undefined;
  /** The key of the person. */
  readonly key: string | undefined;
}

export class Following {
  static readonly #all = new WeakMap<Room<any>, Following>();
  readonly #listeners = new Set<() => void>();
  #key: string | undefined;

  /** The instance of a room. */
  static in(room: Room<any>): Following {
    const known = Following.#all.get(room) ?? new Following();
    Following.#all.set(room, known);
    return known;
  }

  /** The key of the followed person. */
  get key(): string | undefined {
    return this.#key;
  }

  set(key: string | undefined): void {
    if (key === this.#key) return;
    this.#key = key;
    for (const listener of [...this.#listeners]) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
