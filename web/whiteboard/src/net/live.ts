/**
 * The unfinished actions of other participants: strokes being drawn (channel `stroke`, which
 * aggregates because every point matters) and objects being moved, resized or created (channel
 * `drag`, which conflates because only the newest value of each object matters). They are not part
 * of the document; the finished operation is.
 */

import { Line, Playout } from "groupwire/motion";
import { isId, isRecord } from "../../../common/parse";
import {
  isColor,
  isPoints,
  isSize,
  parsePatch,
  parseShape,
  patched,
  type Patch,
  type Shape,
  type Stroke,
} from "../model/shapes";

/**
 * A piece of an unfinished stroke. `points` are board coordinates; `from` is the index of the first
 * one in the stroke.
 */
export interface StrokeMessage {
  readonly id: string;
  readonly color: Stroke["color"];
  readonly width: number;
  readonly from: number;
  readonly points: readonly number[];
}

/**
 * An unfinished change of an object: its present `look`, a `new` object that is being created, or
 * the `end` without a change.
 */
export interface DragMessage {
  readonly id: string;
  readonly look?: Patch;
  readonly new?: Shape;
  readonly end?: true;
}

/**
 * After this silence (ms) the participant has lost the connection, or the end of the action was
 * lost.
 */
const SILENCE = 8000;

/**
 * Limit of unfinished actions per participant: nobody moves more objects at once
 * (`tools/select.ts`).
 */
const LIMIT = 200;

interface LiveStroke {
  readonly sender: number;
  readonly color: Stroke["color"];
  readonly width: number;
  readonly line: Line;
  heardAt: number;
}

interface LiveDrag {
  readonly sender: number;
  readonly playout: Playout;
  readonly made: Shape | undefined;
  look: Patch;
  heardAt: number;
  /**
   * True once the operation has arrived: the object glides to its final place and is then removed
   * from here.
   */
  isEnding: boolean;
}

export interface StrokeView {
  readonly sender: number;
  readonly color: Stroke["color"];
  readonly width: number;
  readonly points: readonly number[];
}

const MOVING = ["x", "y", "w", "h", "size"] as const;

export class Live {
  private readonly strokes = new Map<string, LiveStroke>();
  private readonly drags = new Map<string, LiveDrag>();
  /** Ids of recently finished actions, so that a late message does not start them again. */
  private readonly finished = new Set<string>();
  private lastFrame = 0;

  /** True if there is no unfinished action. */
  get isEmpty(): boolean {
    return this.strokes.size + this.drags.size === 0;
  }

  receiveStroke(sender: number, value: unknown, now: number): void {
    const message = parseStroke(value);
    if (!message || this.finished.has(message.id) || this.count(sender) >= LIMIT) return;
    const { id, color, width, from, points } = message;
    const stroke = this.strokes.get(id) ?? { sender, color, width, line: new Line(), heardAt: now };
    if (stroke.sender !== sender) return;
    stroke.line.push(points, from);
    stroke.heardAt = now;
    this.strokes.set(id, stroke);
  }

  /**
   * `index` is that of the message: one that a newer one has overtaken only completes the movement.
   */
  receiveDrag(sender: number, value: unknown, now: number, age: number, index?: number): void {
    const message = parseDrag(value);
    if (!message || age > SILENCE) return;
    const { id } = message;
    const known = this.drags.get(id);
    if (message.end) {
      if (known?.sender === sender) this.drags.delete(id);
      if (this.strokes.get(id)?.sender === sender) this.strokes.delete(id);
      return;
    }
    if (message.new && this.finished.has(id)) return;
    if (known && known.sender !== sender && !known.isEnding) return;
    if (!known && this.count(sender) >= LIMIT) return;
    const playout = known?.sender === sender ? known.playout : new Playout();
    const look: Patch = message.new ?? message.look ?? {};
    if (!playout.push(moving(look), now, age, index)) return;
    this.drags.set(id, { sender, playout, made: message.new, look, heardAt: now, isEnding: false });
  }

  /**
   * Ends the unfinished actions on these objects, because the participant's operation has arrived.
   */
  finish(sender: number, ids: Iterable<string>, find: (id: string) => Shape | undefined, now: number): void {
    for (const id of ids) {
      this.remember(id);
      if (this.strokes.get(id)?.sender === sender) this.strokes.delete(id);
      const drag = this.drags.get(id);
      if (drag?.sender !== sender) continue;
      const shape = find(id);
      const place = shape && placeOf(shape, drag.look);
      if (!place) {
        this.drags.delete(id);
        continue;
      }
      drag.playout.push(place, now);
      drag.isEnding = true;
    }
  }

  keep(isHere: (id: number) => boolean): void {
    for (const [id, { sender }] of this.strokes) if (!isHere(sender)) this.strokes.delete(id);
    for (const [id, { sender }] of this.drags) if (!isHere(sender)) this.drags.delete(id);
  }

  /** Advances to `now`. Returns false if nothing is moving. */
  advance(now: number): boolean {
    this.lastFrame = now;
    for (const [id, { line, heardAt }] of this.strokes) {
      line.advance(now);
      if (now - heardAt > SILENCE) this.strokes.delete(id);
    }
    for (const [id, drag] of this.drags) {
      const isDone = drag.isEnding && drag.playout.isSettled(now);
      if (isDone || now - drag.heardAt > SILENCE) this.drags.delete(id);
    }
    return !this.isEmpty;
  }

  strokeViews(): StrokeView[] {
    return [...this.strokes.values()].map(({ sender, color, width, line }) => ({
      sender,
      color,
      width,
      points: line.at(this.lastFrame),
    }));
  }

  /** The objects as others are changing them, including those that are being created. */
  dragViews(now: number, find: (id: string) => Shape | undefined): Map<string, Shape> {
    const views = new Map<string, Shape>();
    for (const [id, { playout, look, made }] of this.drags) {
      const shape = find(id) ?? made;
      const values = playout.at(now);
      if (shape && values) views.set(id, patched(patched(shape, look), unmoving(look, values)));
    }
    return views;
  }

  /** The end of the stroke that a participant is drawing. */
  tip(sender: number): readonly [number, number] | undefined {
    const stroke = [...this.strokes.values()].find((stroke) => stroke.sender === sender);
    const [x, y] = stroke?.line.end(this.lastFrame) ?? [];
    return x === undefined || y === undefined ? undefined : [x, y];
  }

  private remember(id: string): void {
    this.finished.add(id);
    const [oldest] = this.finished;
    if (this.finished.size > LIMIT && oldest !== undefined) this.finished.delete(oldest);
  }

  private count(sender: number): number {
    return [...this.strokes.values(), ...this.drags.values()].filter((live) => live.sender === sender).length;
  }
}

function moving(look: Patch): number[] {
  return placeOf(look, look) ?? [];
}

/**
 * The values in `shape` of the fields that `look` moves; undefined if the shape lacks such a field.
 */
function placeOf(shape: Patch, look: Patch): number[] | undefined {
  const fields = MOVING.filter((field) => look[field] !== undefined);
  const values = fields.map((field) => shape[field]).filter((value) => value !== undefined);
  return values.length === fields.length ? values : undefined;
}

function unmoving(look: Patch, values: readonly number[]): Patch {
  const fields = MOVING.filter((field) => look[field] !== undefined);
  return Object.fromEntries(fields.map((field, i) => [field, values[i]]));
}

function parseStroke(value: unknown): StrokeMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { id, color, width, from, points } = value;
  if (!isId(id) || !isColor(color) || !isSize(width) || !isSize(Number(from) + 1) || !isPoints(points))
    return undefined;
  return { id, color, width, from: Number(from), points };
}

function parseDrag(value: unknown): DragMessage | undefined {
  if (!isRecord(value) || !isId(value.id)) return undefined;
  const { id } = value;
  if (value.end === true) return { id, end: true };
  const made = parseShape(value.new);
  if (made) return { id, new: made };
  return isRecord(value.look) ? { id, look: parsePatch(value.look) } : undefined;
}
