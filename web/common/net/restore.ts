/**
 * After the server lost the room (it was restarted), the participants give it back what they have. One of them
 * is enough: they take turns, by rank, and whoever's turn comes sends only what is still missing by then.
 */

/** The others need this long to come back and be counted; their reconnection has jitter. */
const FIRST_TURN = 300;

/** One turn: a round trip and the delivery of a large document. */
const TURN = 700;

/** Nobody waits longer for a turn, however many are here: sending twice does no harm. */
const LAST_TURN = 6000;

/** What a window shows of a room, and can give back. */
export interface Restorable {
  /** The server lost the room. What was confirmed is kept aside and shown until the room has it again. */
  startRestore(): void;
  /** There is something kept aside. */
  readonly isRestoring: boolean;
  /** Some of it the room lacks, or has in an older version. */
  readonly isMissing: boolean;
  /** Sends that. */
  sendMissing(): void;
  /** The room has everything again. */
  endRestore(): void;
  /** Sends again what has no place in the order yet. */
  resend(): void;
}

export interface RestoreRoom {
  readonly self: { readonly id: number } | undefined;
  readonly participants: ReadonlyMap<number, { readonly id: number; readonly away: boolean }>;
}

/** Who sent it back: this window, another one, or nobody had to. */
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

  /** The room's state is gone. */
  begin(): void {
    this.document.startRestore();
    this.isWaiting = true;
    this.hasSent = false;
    clearTimeout(this.timer);
  }

  /** What the new room has so far has arrived. */
  synced(): void {
    if (!this.isWaiting) return;
    if (!this.document.isMissing) this.finish(this.document.isRestoring ? "another" : "nobody");
    else this.wait();
  }

  /** A restore was delivered, own or another's. */
  delivered(): void {
    if (!this.isWaiting) return;
    if (!this.document.isMissing) this.finish(this.hasSent ? "this" : "another");
    // Somebody is at it: leave them the time to finish.
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

/** How many of those who are here have a lower id than this participant. */
export function rank(room: RestoreRoom | undefined): number {
  const self = room?.self;
  if (!room || !self) return 0;
  return [...room.participants.values()].filter(({ id, away }) => !away && id < self.id).length;
}
