/** What a tool is, and what it may do to the board. */

import type { Document } from "../model/document";
import type { Color, Shape } from "../model/shapes";
import type { DragMessage, StrokeMessage, StrokeView } from "../net/live";
import type { Point, Rect } from "../../../common/view/camera";

export const TOOLS = ["select", "pen", "rectangle", "ellipse", "text", "eraser"] as const;
export type ToolName = (typeof TOOLS)[number];

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
