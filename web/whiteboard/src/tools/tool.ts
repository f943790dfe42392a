/** The interface of tools, and of the board towards tools. */

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
  /** The topmost object at a point. With `inside`, areas count, too. */
  find(point: Point, inside: boolean): string | undefined;
  /** Shows an object with an unfinished change, in this window only. */
  lift(id: string, shape: Shape): void;
  /** Ends `lift`. */
  drop(ids: Iterable<string>): void;
  /** Shows the stroke that this window is drawing. */
  showStroke(stroke: StrokeView | undefined): void;
  showMarquee(rect: Rect | undefined): void;
  showErased(ids: ReadonlySet<string>): void;
  setCursor(cursor: string): void;
  pan(from: Point, to: Point): void;
  sendDrag(message: DragMessage): void;
  sendStroke(message: StrokeMessage): void;
  editText(id: string | undefined, at: Point): void;
  /** Returns to the select tool with this object selected, after a tool that makes one object. */
  finished(id: string): void;
}
