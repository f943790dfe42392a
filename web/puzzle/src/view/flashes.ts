/** Lights up what has just been joined. */

import type { State } from "../model/state";

/** Milliseconds. */
const FLASH = 500;

export class Flashes {
  /** How many pieces each piece was joined with when this last looked. */
  private sizes: readonly number[] = [];
  /** When a group grew, by its first piece. */
  private readonly since = new Map<number, number>();

  /** Of a group, by its first piece: from 1, fading; undefined if it is not lit. */
  of(first: number, now: number): number | undefined {
    const since = this.since.get(first);
    return since === undefined ? undefined : 1 - (now - since) / FLASH;
  }

  get isEmpty(): boolean {
    return this.since.size === 0;
  }

  look(state: State, now: number): void {
    for (const [first, since] of this.since) if (now - since >= FLASH) this.since.delete(first);
    const before = this.sizes;
    this.sizes = state.sizes;
    if (before.length !== this.sizes.length) return;
    for (const { pieces } of state.all())
      if (pieces.some((piece) => (before[piece] ?? 0) < pieces.length)) this.since.set(pieces[0] ?? 0, now);
  }

  /** What is there now is no news. */
  clear(): void {
    this.sizes = [];
    this.since.clear();
  }
}
