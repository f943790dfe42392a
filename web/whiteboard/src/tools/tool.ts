/** What a tool is, and what it may do to the board. */

import type { Document } from "../model/document";
import type { Color, Shape } from "../model/shapes";
import type { DragMessage, StrokeMessage, StrokeView } from "../net/live";
import type { Point, Rect } from "../view/camera";

export const TOOLS = ["select", "pen", "rectangle", "ellipse", "text", "eraser"] as const;
export type ToolName = (typeof TOOLS)[number];

export interface Tool {
  readonly cursor: string;
  /** All points are board coordinates. */
  down(point: Point, press: Press): void;
  /** Where the pointer went since the last call, in order: more than one where the browser gathered them. */
  move(points: readonly Point[], press: Press): void;
  up(): void;
  /** Somebody pressed Escape or put down a second finger: as if nothing had happened. */
  cancel(): void;
  /** Without a button pressed. */
  hover?(point: Point): void;
  double?(point: Point): void;
}

export interface Press {
  readonly shift: boolean;
  readonly touch: boolean;
}

export interface Style {
  color: Color;
  width: number;
  fill: boolean;
}

export interface Canvas {
  readonly document: Document;
  readonly style: Style;
  readonly selection: ReadonlySet<string>;
  readonly zoom: number;
  select(ids: Iterable<string>): void;
  /** The topmost object at a point; areas count with `inside`. */
  find(point: Point, inside: boolean): string | undefined;
  /** Shows an object as it is not yet, here only. */
  lift(id: string, shape: Shape): void;
  /** Ends `lift`. */
  drop(ids: Iterable<string>): void;
  /** The stroke under one's own pen. */
  showStroke(stroke: StrokeView | undefined): void;
  showMarquee(rect: Rect | undefined): void;
  showErased(ids: ReadonlySet<string>): void;
  setCursor(cursor: string): void;
  pan(from: Point, to: Point): void;
  sendDrag(message: DragMessage): void;
  sendStroke(message: StrokeMessage): void;
  editText(id: string | undefined, at: Point): void;
  /** Back to selecting, with this object selected: after one that is made once. */
  finished(id: string): void;
}

/** How near in CSS pixels counts as on it: a finger is wider than a mouse. */
export function slack(touch: boolean): number {
  return touch ? 14 : 6;
}
