/** The positions of the other participants' pointers, from the messages of the channel `pointer`. */

import { Followers, type TraceView } from "groupwire/motion";
import { isCoordinate, isRecord } from "../parse";

/** `{"x":812,"y":334}`, in board units. With `off` the pointer has left the board. */
export interface PointerMessage {
  readonly x: number;
  readonly y: number;
  readonly off?: boolean;
}

export interface PointerView {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  /** 1 while the pointer moves, less after it has rested for a while, 0 after it has left the board. */
  readonly opacity: number;
}

/** A pointer that has rested for this long (ms) is faded, so that it does not hide the drawing. */
const IDLE = 6000;
const FADE = 1500;
const FADED = 0.25;

/** The length of a trace (ms): long enough to show where a movement came from, short enough not to hide the drawing. */
export const TRACE = 600;

export class Pointers {
  private readonly followers = new Followers({ trace: TRACE });

  /** Takes a message that the sender's application sent `age` milliseconds before `now`. */
  receive(sender: number, value: unknown, now: number, age: number, index: number): void {
    const message = parsePointer(value);
    if (!message) return;
    const { x, y, off } = message;
    this.followers.receive({ sender, key: undefined, age, index }, [x, y], now, off);
  }

  /** Removes the pointers of participants who have left. */
  keep(isHere: (id: number) => boolean): void {
    this.followers.keep(isHere);
  }

  views(now: number): PointerView[] {
    return this.followers.views(now).map(({ sender, place: [x = 0, y = 0], isGone, rested }) => {
      const faded = Math.min(Math.max((rested - IDLE) / FADE, 0), 1);
      return { id: sender, x, y, opacity: isGone ? 0 : 1 - faded * (1 - FADED) };
    });
  }

  traces(now: number): TraceView[] {
    return this.followers.traces(now);
  }

  /** Removes the trace of a pointer, because the movement is shown in another form. */
  clearTrace(id: number): void {
    this.followers.clearTraces(id);
  }

  /** Milliseconds until the view changes: 0 while a pointer moves or fades, Infinity if all rest. */
  changesIn(now: number): number {
    if (!this.followers.isSettled(now)) return 0;
    const times = this.followers.views(now).map(({ isGone, rested }) => {
      return isGone || rested > IDLE + FADE ? Infinity : Math.max(IDLE - rested, 0);
    });
    return Math.min(...times);
  }
}

function parsePointer(value: unknown): PointerMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { x, y, off } = value;
  return isCoordinate(x) && isCoordinate(y) ? { x, y, off: off === true } : undefined;
}
