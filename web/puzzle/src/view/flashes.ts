/** Highlights groups that have just been joined. */

import type { State } from "../model/state";

/** Duration in milliseconds. */
const FLASH = 500;

export class Flashes {
  /** The size of each piece's group at the last update. */
  private sizes: readonly number[] = [];
  /** The time at which a group grew, by its first piece. */
  private readonly since = new Map<number, number>();

  /**
   * The highlight of a group, by its first piece: from 1 to 0; undefined if it is not highlighted.
   */
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

  /** Takes the present groups as known. */
  clear(): void {
    this.sizes = [];
    this.since.clear();
  }
}
