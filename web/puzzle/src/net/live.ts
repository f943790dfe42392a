/**
 * What the others have in hand right now (channel `drag`, only the newest place of a piece counts, so it conflates). It
 * is not part of the puzzle; where the piece is dropped is.
 */

import { Track } from "../../../common/net/track";
import { isCoordinate, isCount, isRecord } from "../../../common/parse";

/** A piece in somebody's hand: its group's displacement, and where the pointer is, seen from there. */
export interface DragMessage {
  readonly game: number;
  readonly piece: number;
  readonly x: number;
  readonly y: number;
  readonly gx: number;
  readonly gy: number;
}

export interface DragView extends DragMessage {
  readonly sender: number;
  /** It is what a late joiner was told: perhaps the piece was dropped long ago. */
  readonly isOld: boolean;
}

/** What is known of a message. */
export interface Arrival {
  readonly now: number;
  readonly age: number;
  /** See `Message.index`. */
  readonly index: number;
  readonly state: boolean;
}

/** Whoever is silent this long has lost the connection, or holds it still and has sent the place it lies at. */
const SILENCE = 30_000;

interface Drag extends DragMessage {
  readonly track: Track;
  readonly heardAt: number;
  readonly index: number;
  readonly isOld: boolean;
}

export class Live {
  /** By sender: nobody has two in hand. */
  private readonly drags = new Map<number, Drag>();

  receive(sender: number, value: unknown, { now, age, index, state }: Arrival): void {
    const message = parseDrag(value);
    if (!message || age > SILENCE) return;
    const known = this.drags.get(sender);
    // Overtaken on the way by a newer one. Indices are counted modulo 2^32, and so are their differences.
    if (known && ((index - known.index) | 0) <= 0) return;
    const isSame = known?.piece === message.piece && known.game === message.game;
    const track = isSame ? known.track : new Track();
    track.push([message.x, message.y], now, age);
    this.drags.set(sender, { ...message, track, heardAt: now, index, isOld: state });
  }

  /** A participant has let go. */
  finish(sender: number): void {
    this.drags.delete(sender);
  }

  keep(isHere: (id: number) => boolean): void {
    for (const sender of this.drags.keys()) if (!isHere(sender)) this.drags.delete(sender);
  }

  views(now: number): DragView[] {
    return [...this.drags].flatMap(([sender, { track, heardAt, index: _, ...drag }]) => {
      const [x, y] = track.at(now) ?? [];
      if (x === undefined || y === undefined || now - heardAt > SILENCE) return [];
      return [{ ...drag, sender, x, y }];
    });
  }

  /** Somebody moves something. */
  isMoving(now: number): boolean {
    return [...this.drags.values()].some(({ track }) => !track.isSettled(now));
  }
}

function parseDrag(value: unknown): DragMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { game, piece, x, y, gx, gy } = value;
  if (!isCount(game) || !isCount(piece) || ![x, y, gx, gy].every(isCoordinate)) return undefined;
  return { game, piece, x: Number(x), y: Number(y), gx: Number(gx), gy: Number(gy) };
}
