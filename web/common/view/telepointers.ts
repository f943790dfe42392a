/** The other participants' pointers: elements above the canvas, so that names are crisp and need no redrawing. */

import type { PointerView } from "../net/pointers";
import type { Camera } from "./camera";
import { colorOf } from "./theme";

const ARROW =
  '<svg width="20" height="22" viewBox="0 0 20 22" aria-hidden="true"><path d="M2 2 L2.9 17.4 L7.2 13.4 L13.2 13.3 Z" stroke-linejoin="round"/></svg>';

export class Telepointers {
  private readonly elements = new Map<number, HTMLElement>();
  private readonly layer = document.createElement("div");

  constructor(
    stage: HTMLElement,
    private readonly camera: Camera,
    private readonly nameOf: (id: number) => string,
  ) {
    this.layer.className = "telepointers";
    this.layer.ariaHidden = "true";
    stage.append(this.layer);
  }

  /**
   * `tip` is the end of the stroke that a participant is drawing; the pointer is shown there, not ahead of the stroke.
   */
  draw(views: readonly PointerView[], tip: (id: number) => readonly [number, number] | undefined): void {
    const seen = new Set(views.map(({ id }) => id));
    for (const [id, element] of this.elements) {
      if (seen.has(id)) continue;
      element.remove();
      this.elements.delete(id);
    }
    for (const { id, x, y, opacity } of views) {
      const [boardX, boardY] = tip(id) ?? [x, y];
      const at = this.camera.toScreen({ x: boardX, y: boardY });
      const { style } = this.element(id);
      style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
      style.opacity = opacity.toFixed(2);
    }
  }

  /** Updates the names. */
  rename(): void {
    for (const [id, element] of this.elements) label(element, this.nameOf(id));
  }

  private element(id: number): HTMLElement {
    const known = this.elements.get(id);
    if (known) return known;
    const element = document.createElement("div");
    element.className = "telepointer";
    element.innerHTML = `${ARROW}<span></span>`;
    element.style.setProperty("--person", colorOf(id));
    element.dataset.testid = "telepointer";
    label(element, this.nameOf(id));
    this.layer.append(element);
    this.elements.set(id, element);
    return element;
  }
}

function label(element: HTMLElement, name: string): void {
  const span = element.querySelector("span");
  if (span) span.textContent = name;
}
