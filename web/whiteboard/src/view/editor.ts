/** The field in which a text is edited, exactly at the place of the text. */

import { newId } from "../../../common/id";
import { round, TEXT_LIMIT, TEXT_SIZES, type Text } from "../model/shapes";
import type { Canvas } from "../tools/tool";
import type { Camera, Point } from "../../../common/view/camera";
import { box, FONT, LINE_HEIGHT } from "./geometry";
import { paint } from "./theme";

interface Editing {
  readonly id: string;
  readonly isNew: boolean;
  text: Text;
}

export class TextEditor {
  private readonly field = document.createElement("textarea");
  private editing: Editing | undefined;

  constructor(
    stage: HTMLElement,
    private readonly camera: Camera,
    private readonly canvas: Canvas,
    private readonly onChanged: () => void,
  ) {
    this.field.className = "text-editor";
    this.field.hidden = true;
    this.field.ariaLabel = "Text";
    this.field.maxLength = TEXT_LIMIT;
    this.field.dataset.testid = "text-editor";
    this.field.wrap = "off";
    this.field.spellcheck = false;
    stage.append(this.field);
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("blur", () => this.commit());
    visualViewport?.addEventListener("resize", () => this.clearKeyboard());
    this.field.addEventListener("pointerdown", (event) => event.stopPropagation());
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const isDone = event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey));
      if (isDone) this.field.blur();
    });
  }

  /** The object that the editor replaces on the board. */
  get edited(): string | undefined {
    return this.editing?.id;
  }

  open(id: string | undefined, at: Point): void {
    this.commit();
    const { document, style } = this.canvas;
    const known = id === undefined ? undefined : document.shapes.get(id);
    if (known !== undefined && known.kind !== "text") return;
    const size = TEXT_SIZES[style.width] ?? 28;
    // The press marks the middle of the first line.
    const place = { x: round(at.x), y: round(at.y - (size * LINE_HEIGHT) / 2) };
    const made: Text = { kind: "text", ...place, size, text: "", color: style.color, z: document.nextZ() };
    this.editing = { id: id ?? newId(), isNew: known === undefined, text: known ?? made };
    this.field.value = this.editing.text.text;
    this.field.hidden = false;
    this.place();
    this.field.focus({ preventScroll: true });
    this.onChanged();
  }

  /** Moves with the view. */
  place(): void {
    if (!this.editing) return;
    const { text } = this.editing;
    const { x, y } = this.camera.toScreen(text);
    const { w, h } = box(text);
    const size = text.size * this.camera.zoom;
    Object.assign(this.field.style, {
      transform: `translate(${x}px, ${y}px)`,
      font: `${size}px/${LINE_HEIGHT} ${FONT}`,
      color: paint(text.color),
      // Leaves space for the caret and the next letter.
      width: `${w * this.camera.zoom + size}px`,
      height: `${h * this.camera.zoom + 2}px`,
    });
  }

  /**
   * A phone's keyboard covers the lower part of the page, so the board moves up until the text is
   * visible.
   */
  private clearKeyboard(): void {
    const hidden = this.field.getBoundingClientRect().bottom + 16 - (visualViewport?.height ?? Infinity);
    if (this.editing && hidden > 0) this.camera.pan(0, -hidden);
  }

  private typed(): void {
    const { editing } = this;
    if (!editing) return;
    editing.text = { ...editing.text, text: this.field.value };
    this.place();
    const { id, isNew, text } = editing;
    this.canvas.sendDrag(isNew ? { id, new: text } : { id, look: { x: text.x, y: text.y, text: text.text } });
  }

  private commit(): void {
    const { editing } = this;
    if (!editing) return;
    this.editing = undefined;
    this.field.hidden = true;
    const { id, isNew, text } = editing;
    const isEmpty = text.text.trim() === "";
    const { document } = this.canvas;
    if (isNew && !isEmpty) document.perform({ add: [[id, text]] });
    else if (!isNew && isEmpty) document.perform({ del: [id] });
    else if (!isNew && document.shapes.get(id) !== undefined) this.change(id, text.text);
    if (isNew && isEmpty) this.canvas.sendDrag({ id, end: true });
    this.onChanged();
    if (!isEmpty) this.canvas.finished(id);
  }

  private change(id: string, text: string): void {
    const shape = this.canvas.document.shapes.get(id);
    if (shape?.kind === "text" && shape.text !== text) this.canvas.document.perform({ set: [[id, { text }]] });
    else this.canvas.sendDrag({ id, end: true });
  }
}
