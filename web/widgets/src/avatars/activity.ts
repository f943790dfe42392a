/** Finds idle participants: those that have sent nothing on an awareness channel for some time. */

import type { Room } from "groupwire";
import { channelOf, CURSOR } from "../core/channels.js";

export class Activity {
  readonly #idleMs: number;
  readonly #changed: () => void;
  /** When each participant was last active. */
  readonly #active = new Map<number, number>();
  readonly #idle = new Set<number>();
  readonly #stops: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `changed` is called when somebody becomes idle, or active again. */
  constructor(room: Room, channel: string, idleMs: number, changed: () => void) {
    this.#idleMs = idleMs;
    this.#changed = changed;
    const keep = (): void => {
      for (const id of this.#active.keys()) if (!room.participants.has(id)) this.#forget(id);
      // A participant counts as active when it comes.
      for (const id of room.participants.keys()) if (!this.#active.has(id)) this.#note(id, 0);
    };
    keep();
    this.#stops.push(
      channelOf(room, channel, CURSOR).on("message", ({ sender, own, age }) => {
        if (!own) this.#note(sender, age);
      }),
      room.on("participants", keep),
      // After this gap the ids may belong to other participants.
      room.on("gap", ({ reason }) => {
        if (reason === "incarnation") for (const id of this.#active.keys()) this.#forget(id);
      }),
    );
  }

  /** True if all of these participants are idle. */
  isIdle(ids: readonly number[]): boolean {
    return ids.length > 0 && ids.every((id) => this.#idle.has(id));
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const stop of this.#stops.splice(0)) stop();
  }

  #note(id: number, age: number): void {
    const at = performance.now() - Math.max(age, 0);
    this.#active.set(id, Math.max(at, this.#active.get(id) ?? -Infinity));
    const isIdle = performance.now() - at >= this.#idleMs;
    if (!isIdle && this.#idle.delete(id)) this.#changed();
    this.#timer ??= setTimeout(() => this.#look(), this.#idleMs);
  }

  /** Finds participants that have become idle, and schedules the next look. */
  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    let next = Infinity;
    let hasChanged = false;
    for (const [id, at] of this.#active) {
      const left = at + this.#idleMs - now;
      if (left > 0) next = Math.min(next, left);
      else if (!this.#idle.has(id)) {
        this.#idle.add(id);
        hasChanged = true;
      }
    }
    if (next < Infinity) this.#timer = setTimeout(() => this.#look(), next + 1);
    if (hasChanged) this.#changed();
  }

  #forget(id: number): void {
    this.#active.delete(id);
    this.#idle.delete(id);
  }
}
