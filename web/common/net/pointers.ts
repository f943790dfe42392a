/** The positions of the other participants' pointers, from the messages of the channel `pointer`. */

import { isCoordinate, isRecord } from "../parse";
import { Trace, type TracePoint } from "./trace";
import { Track } from "./track";

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

/** The recent movement of a pointer. */
export interface TraceView {
  readonly id: number;
  readonly points: readonly TracePoint[];
}

interface Pointer {
  readonly track: Track;
  readonly trace: Trace;
  /** `Message.index` of the newest message. */
  readonly index: number;
  readonly off: boolean;
  readonly movedAt: number;
}

export class Pointers {
  private readonly pointers = new Map<number, Pointer>();

  /** Takes a message that the sender's application sent `age` milliseconds before `now`. */
  receive(sender: number, value: unknown, now: number, age: number, index: number): void {
    const message = parsePointer(value);
    if (!message) return;
    const { x, y, off = false } = message;
    const pointer = this.pointers.get(sender);
    // Indices are counted modulo 2^32, and so are their differences.
    const isLate = pointer !== undefined && ((index - pointer.index) | 0) <= 0;
    const trace = pointer?.trace ?? new Trace();
    trace.add({ x, y, off }, now - age, isLate);
    // A late position only completes the trace.
    if (isLate) return;
    // A pointer that comes back at another place has not moved there, so its track starts anew.
    const track = pointer && (off || !pointer.off) ? pointer.track : new Track();
    track.push([x, y], now, age);
    this.pointers.set(sender, { track, trace, index, off, movedAt: now - age });
  }

  /** Removes the pointers of participants who have left. */
  keep(isHere: (id: number) => boolean): void {
    for (const id of this.pointers.keys()) if (!isHere(id)) this.pointers.delete(id);
  }

  views(now: number): PointerView[] {
    return [...this.pointers].flatMap(([id, { track, off, movedAt }]) => {
      const [x, y] = track.at(now) ?? [];
      if (x === undefined || y === undefined) return [];
      const faded = Math.min(Math.max((now - movedAt - IDLE) / FADE, 0), 1);
      return [{ id, x, y, opacity: off ? 0 : 1 - faded * (1 - FADED) }];
    });
  }

  traces(now: number): TraceView[] {
    return [...this.pointers].flatMap(([id, { track, trace, off }]) => {
      const lines = trace.at(track.played(now), off ? undefined : track.at(now));
      return lines.map((points) => ({ id, points }));
    });
  }

  /** Removes the trace of a pointer, because the movement is shown in another form. */
  clearTrace(id: number): void {
    this.pointers.get(id)?.trace.clear();
  }

  /** Milliseconds until the view changes: 0 while a pointer moves or fades, Infinity if all rest. */
  changesIn(now: number): number {
    return Math.min(...[...this.pointers.values()].map((pointer) => changesIn(pointer, now)));
  }
}

function changesIn({ track, trace, off, movedAt }: Pointer, now: number): number {
  if (!track.isSettled(now) || !trace.isGone(track.played(now))) return 0;
  const rested = now - movedAt;
  return off || rested > IDLE + FADE ? Infinity : Math.max(IDLE - rested, 0);
}

function parsePointer(value: unknown): PointerMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { x, y, off } = value;
  return isCoordinate(x) && isCoordinate(y) ? { x, y, off: off === true } : undefined;
}
