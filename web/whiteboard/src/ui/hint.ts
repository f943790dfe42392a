/** A hint on an empty board, which disappears at the first press. */

import type { Board } from "../board";
import { make, part } from "../../../common/ui/dom";

export class Hint {
  private readonly element = make("div", "hint gone");

  constructor(private readonly board: Board) {
    this.element.append(
      make("strong", "", "An empty board"),
      make("span", "", "Draw something. Whoever has the link sees it as you do."),
    );
    part("stage").append(this.element);
    part("stage").addEventListener("pointerdown", () => this.element.remove(), { once: true });
  }

  /** Shows the hint once it is known that the board is empty. */
  update(isSynced: boolean): void {
    const isEmpty = this.board.document.shapes.size === 0 && this.board.live.isEmpty;
    this.element.classList.toggle("gone", !isSynced || !isEmpty);
  }
}
