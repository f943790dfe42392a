/**
 * The pieces that other participants are holding (channel `drag`, which conflates because only the
 * newest place of a piece matters). They are not part of the puzzle; the drop is.
 */

import { Playout } from "groupwire/motion";
import { isCoordinate, isCount, isRecord } from "../../../common/parse";

/** A held piece: the displacement of its group, and the pointer relative to it. */
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
  /** True for late-joiner state: the piece may have been dropped long ago. */
  readonly isOld: boolean;
}

/** The fields of a received message that matter here. */
export interface Arrival {
  readonly now: number;
  readonly age: number;
  /** `Message.index`. */
  readonly index: number;
  readonly state: boolean;
}

/**
 * After this silence (ms) the participant has lost the connection, or holds the piece still at the
 * place it sent last.
 */
const SILENCE = 30_000;

interface Drag extends DragMessage {
  readonly playout: Playout;
  readonly heardAt: number;
  readonly index: number;
  readonly isOld: boolean;
}

export class Live {
  /** The drags by sender, because a participant holds one piece at most. */
  private readonly drags = new Map<number, Drag>();

  receive(sender: number, value: unknown, { now, age, index, state }: Arrival): void {
    const message = parseDrag(value);
    if (!message || age > SILENCE) return;
    const known = this.drags.get(sender);
    const isSame = known?.piece === message.piece && known.game === message.game;
    const playout = isSame ? known.playout : new Playout();
    playout.push([message.x, message.y], now, age, index);
    // An overtaken message only adds a place to the movement. Indices are counted modulo 2^32, and
    // so are their differences.
    if (known && ((index - known.index) | 0) <= 0) return;
    this.drags.set(sender, { ...message, playout, heardAt: now, index, isOld: state });
  }

  keep(isMoved: (sender: number, drag: DragMessage) => boolean): void {
    for (const [sender, drag] of this.drags) if (!isMoved(sender, drag)) this.drags.delete(sender);
  }

  views(now: number): DragView[] {
    return [...this.drags].flatMap(([sender, { playout, heardAt, index: _, ...drag }]) => {
      const [x, y] = playout.at(now) ?? [];
      if (x === undefined || y === undefined || now - heardAt > SILENCE) return [];
      return [{ ...drag, sender, x, y }];
    });
  }

  /** True if any participant is moving a piece. */
  isMoving(now: number): boolean {
    return [...this.drags.values()].some(({ playout }) => !playout.isSettled(now));
  }
}

function parseDrag(value: unknown): DragMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { game, piece, x, y, gx, gy } = value;
  if (!isCount(game) || !isCount(piece) || ![x, y, gx, gy].every(isCoordinate)) return undefined;
  return { game, piece, x: Number(x), y: Number(y), gx: Number(gx), gy: Number(gy) };
}
