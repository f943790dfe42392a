/** Where the others' pointers are, from the `pointer` channel. */

import { isCoordinate, isRecord } from "../parse";
import { Trace, type TracePoint } from "./trace";
import { Track } from "./track";

/** `{"x":812,"y":334}`, in board units; `off`: it left the board. */
export interface PointerMessage {
  readonly x: number;
  readonly y: number;
  readonly off?: boolean;
}

export interface PointerView {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  /** 1 while it moves, less after it rested for a while, 0 when it is away. */
  readonly opacity: number;
}

/** A pointer that rests this long is in the way rather than of use. */
const IDLE = 6000;
const FADE = 1500;
const FADED = 0.25;

/** The way by which a pointer came. */
export interface TraceView {
  readonly id: number;
  readonly points: readonly TracePoint[];
}

interface Pointer {
  readonly track: Track;
  readonly trace: Trace;
  /** The newest message's; see `Message.index`. */
  readonly index: number;
  readonly off: boolean;
  readonly movedAt: number;
}

export class Pointers {
  private readonly pointers = new Map<number, Pointer>();

  /** A message came from a participant whose application had made it `age` milliseconds before. */
  receive(sender: number, value: unknown, now: number, age: number, index: number): void {
    const message = parsePointer(value);
    if (!message) return;
    const { x, y, off = false } = message;
    const pointer = this.pointers.get(sender);
    // Indices are counted modulo 2^32, and so are their differences.
    const isLate = pointer !== undefined && ((index - pointer.index) | 0) <= 0;
    const trace = pointer?.trace ?? new Trace();
    trace.add({ x, y, off }, now - age, isLate);
    // The pointer has gone on.
    if (isLate) return;
    // Coming back elsewhere is no movement: start anew.
    const track = pointer && (off || !pointer.off) ? pointer.track : new Track();
    track.push([x, y], now, age);
    this.pointers.set(sender, { track, trace, index, off, movedAt: now - age });
  }

  /** Only these participants are still here. */
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
      const ways = trace.at(track.played(now), off ? undefined : track.at(now));
      return ways.map((points) => ({ id, points }));
    });
  }

  /** The way is to be seen otherwise. */
  clearTrace(id: number): void {
    this.pointers.get(id)?.trace.clear();
  }

  /** Milliseconds until something is seen otherwise: 0 while it moves or fades, Infinity if it rests for good. */
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
