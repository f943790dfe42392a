/**
 * After the server has lost the room (it was restarted), participants send its content back. One participant is enough:
 * each waits for a time that depends on its rank, and sends only what is still missing then.
 */

/** Time (ms) for the other participants to reconnect and be counted; reconnection has jitter. */
const FIRST_TURN = 300;

/** Time (ms) of one turn: a round trip and the delivery of a large document. */
const TURN = 700;

/** Limit (ms) of the wait, however many participants there are: sending twice does no harm. */
const LAST_TURN = 6000;

/** The document of a window, which can restore a room. */
export interface Restorable {
  /** The server has lost the room. The confirmed objects are remembered, and shown until the room has them again. */
  startRestore(): void;
  /** True while there are remembered objects. */
  readonly isRestoring: boolean;
  /** True if the room lacks some remembered objects or has older versions of them. */
  readonly isMissing: boolean;
  /** Sends the missing objects. */
  sendMissing(): void;
  /** The room has all objects again. */
  endRestore(): void;
  /** Sends again all own operations that are not ordered. */
  resend(): void;
}

export interface RestoreRoom {
  readonly self: { readonly id: number } | undefined;
  readonly participants: ReadonlyMap<number, { readonly id: number; readonly away: boolean }>;
}

/** Who sent the content back: this window, another one, or nobody because nothing was missing. */
export type RestoredBy = "this" | "another" | "nobody";

export class Restorer {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isWaiting = false;
  private hasSent = false;

  constructor(
    private readonly document: Restorable,
    private readonly room: () => RestoreRoom | undefined,
    private readonly onDone: (by: RestoredBy) => void,
  ) {}

  /** Begins a restore after the room's state was lost. */
  begin(): void {
    this.document.startRestore();
    this.isWaiting = true;
    this.hasSent = false;
    clearTimeout(this.timer);
  }

  /** The state of the new room has arrived. */
  synced(): void {
    if (!this.isWaiting) return;
    if (!this.document.isMissing) this.finish(this.document.isRestoring ? "another" : "nobody");
    else this.wait();
  }

  /** An operation of a restore was delivered, from this window or another one. */
  delivered(): void {
    if (!this.isWaiting) return;
    if (!this.document.isMissing) this.finish(this.hasSent ? "this" : "another");
    // Another participant is restoring: wait until it has finished.
    else if (!this.hasSent) this.wait();
  }

  private wait(): void {
    clearTimeout(this.timer);
    const delay = Math.min(FIRST_TURN + TURN * rank(this.room()), LAST_TURN);
    this.timer = setTimeout(() => {
      this.hasSent = true;
      this.document.sendMissing();
    }, delay);
  }

  private finish(by: RestoredBy): void {
    clearTimeout(this.timer);
    this.isWaiting = false;
    this.document.endRestore();
    this.document.resend();
    this.onDone(by);
  }
}

/** The number of connected participants with a lower id than this one. */
export function rank(room: RestoreRoom | undefined): number {
  const self = room?.self;
  if (!room || !self) return 0;
  return [...room.participants.values()].filter(({ id, away }) => !away && id < self.id).length;
}
