/** Texts: a press opens an editor, with the text under the pointer if there is one. */

import type { Point } from "../../../common/view/camera";
import type { Tool } from "../../../common/view/gestures";
import type { Canvas } from "./tool";

export class TextTool implements Tool {
  readonly cursor = "text";
  private at: Point | undefined;

  constructor(private readonly canvas: Canvas) {}

  down(point: Point): void {
    this.at = point;
  }

  move(): void {
    // A text is not drawn out by a drag.
  }

  /** Opens the editor at the release, because the press would take the focus away from it. */
  up(): void {
    const { at } = this;
    if (!at) return;
    this.at = undefined;
    const id = this.canvas.find(at, true);
    const isText = id !== undefined && this.canvas.document.shapes.get(id)?.kind === "text";
    this.canvas.editText(isText ? id : undefined, at);
  }

  cancel(): void {
    this.at = undefined;
  }
}
