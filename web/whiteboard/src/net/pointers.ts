/** Where the others' pointers are, from the `pointer` channel. */

import { isCoordinate, isRecord } from "../model/shapes";
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

interface Pointer {
  readonly track: Track;
  off: boolean;
  movedAt: number;
}

export class Pointers {
  private readonly pointers = new Map<number, Pointer>();

  receive(sender: number, value: unknown, now: number, age: number): void {
    const message = parsePointer(value);
    if (!message) return;
    const pointer = this.pointers.get(sender) ?? { track: new Track(), off: false, movedAt: 0 };
    // Coming back elsewhere is no movement: start anew.
    if (pointer.off && !message.off) this.pointers.delete(sender);
    const current = this.pointers.get(sender) ?? { track: new Track(), off: false, movedAt: 0 };
    current.track.push([message.x, message.y], now, age);
    current.off = message.off ?? false;
    current.movedAt = now - age;
    this.pointers.set(sender, current);
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

  /** Nothing moves or fades at the moment. */
  isStill(now: number): boolean {
    return [...this.pointers.values()].every(
      ({ track, off, movedAt }) => track.isSettled(now) && (off || now - movedAt > IDLE + FADE),
    );
  }
}

function parsePointer(value: unknown): PointerMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { x, y, off } = value;
  return isCoordinate(x) && isCoordinate(y) ? { x, y, off: off === true } : undefined;
}
