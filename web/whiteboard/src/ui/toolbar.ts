/** The toolbar with tools, colours and widths, and the small one for the view. */

import type { Board } from "../board";
import { COLORS, TEXT_SIZES, WIDTHS } from "../model/shapes";
import type { ToolName } from "../tools/tool";
import { paint } from "../view/theme";
import { button, divider, make, part } from "../../../common/ui/dom";

export const TOOL_KEYS: readonly (readonly [ToolName, label: string, key: string])[] = [
  ["select", "Select and move", "V"],
  ["pen", "Pen", "P"],
  ["rectangle", "Rectangle", "R"],
  ["ellipse", "Ellipse", "O"],
  ["text", "Text", "T"],
  ["eraser", "Eraser", "E"],
];

const WIDTH_LABELS: Readonly<Record<number, string>> = { 2: "Thin", 4: "Medium", 8: "Thick" };

export class Toolbar {
  private readonly tools = new Map<ToolName, HTMLButtonElement>();
  private readonly swatches = new Map<string, HTMLButtonElement>();
  private readonly widths = new Map<number, HTMLButtonElement>();
  private readonly fill = make("button", "chip fill");
  private readonly styleButton = make("button", "icon-button style-button");
  private readonly stylePanel = make("div", "styles");
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly trash: HTMLButtonElement;
  private readonly percent = make("button", "percent");

  constructor(private readonly board: Board) {
    this.undo = button({ icon: "undo", label: "Undo", key: "Ctrl+Z", testid: "undo", onPress: () => board.undo() });
    this.redo = button({
      icon: "redo",
      label: "Redo",
      key: "Ctrl+Shift+Z",
      testid: "redo",
      onPress: () => board.redo(),
    });
    this.trash = button({
      icon: "trash",
      label: "Delete selection",
      key: "Delete",
      testid: "delete",
      onPress: () => board.deleteSelection(),
    });
    this.trash.classList.add("trash");
    this.buildTools();
    this.buildZoom();
    this.update();
  }

  /** Updates the controls from the board. */
  update(): void {
    const { board } = this;
    for (const [name, element] of this.tools) element.ariaPressed = String(name === board.toolName);
    for (const [color, element] of this.swatches) element.ariaPressed = String(color === board.style.color);
    for (const [width, element] of this.widths) element.ariaPressed = String(width === board.style.width);
    this.fill.ariaPressed = String(board.style.fill);
    this.styleButton.style.setProperty("--paint", paint(board.style.color));
    this.styleButton.style.setProperty("--line", `${board.style.width + 2}px`);
    this.undo.disabled = !board.document.canUndo;
    this.redo.disabled = !board.document.canRedo;
    this.trash.disabled = board.selection.size === 0;
    this.percent.textContent = `${Math.round(board.zoom * 100)} %`;
  }

  /** Draws the swatches again after a change of the theme. */
  repaint(): void {
    for (const color of COLORS) this.swatches.get(color)?.style.setProperty("--paint", paint(color));
    this.update();
  }

  private buildTools(): void {
    const bar = part("tools");
    const group = make("div", "group");
    group.role = "toolbar";
    group.ariaLabel = "Tools";
    for (const [name, label, key] of TOOL_KEYS) {
      const element = button({
        icon: name,
        label,
        key,
        testid: `tool-${name}`,
        onPress: () => this.board.choose(name),
      });
      this.tools.set(name, element);
      group.append(element);
    }
    const history = make("div", "group");
    history.role = "group";
    history.ariaLabel = "History";
    history.append(this.undo, this.redo, this.trash);
    this.buildStyles();
    bar.append(group, divider(), this.styleButton, this.stylePanel, divider(), history);
  }

  private buildStyles(): void {
    this.styleButton.type = "button";
    this.styleButton.ariaLabel = "Colour and width";
    this.styleButton.title = "Colour and width";
    this.styleButton.dataset.testid = "style";
    this.styleButton.append(make("span", "style-dot"));
    this.styleButton.addEventListener("click", () => this.toggleStyles());
    this.stylePanel.role = "group";
    this.stylePanel.ariaLabel = "Colour and width";
    for (const color of COLORS) {
      const swatch = chip("swatch", capital(color), `color-${color}`, () => this.board.setStyle({ color }));
      swatch.style.setProperty("--paint", paint(color));
      this.swatches.set(color, swatch);
    }
    for (const width of WIDTHS) {
      const element = chip("width", WIDTH_LABELS[width] ?? "", `width-${width}`, () => this.chooseWidth(width));
      element.style.setProperty("--line", `${width}px`);
      this.widths.set(width, element);
    }
    Object.assign(this.fill, { type: "button", title: "Fill (F)", ariaLabel: "Fill" });
    this.fill.dataset.testid = "fill";
    this.fill.addEventListener("click", () => this.board.setStyle({ fill: !this.board.style.fill }));
    const colors = make("div", "group swatches");
    colors.append(...this.swatches.values());
    const lines = make("div", "group");
    lines.append(...this.widths.values(), this.fill);
    this.stylePanel.append(colors, divider(), lines);
    document.addEventListener("pointerdown", ({ target }) => {
      const isInside =
        target instanceof Node && (this.stylePanel.contains(target) || this.styleButton.contains(target));
      if (!isInside) this.toggleStyles(false);
    });
  }

  private chooseWidth(width: number): void {
    this.board.setStyle({ width });
    this.board.patchSelection({ size: TEXT_SIZES[width] ?? 28 });
  }

  private toggleStyles(isOpen = !this.stylePanel.classList.contains("open")): void {
    this.stylePanel.classList.toggle("open", isOpen);
    this.styleButton.ariaExpanded = String(isOpen);
  }

  private buildZoom(): void {
    const { board } = this;
    Object.assign(this.percent, { type: "button", title: "Real size (0)" });
    this.percent.dataset.testid = "zoom-reset";
    this.percent.addEventListener("click", () => board.zoomBy(1 / board.zoom));
    part("zoom").append(
      button({ icon: "minus", label: "Zoom out", key: "-", testid: "zoom-out", onPress: () => board.zoomBy(1 / 1.25) }),
      this.percent,
      button({ icon: "plus", label: "Zoom in", key: "+", testid: "zoom-in", onPress: () => board.zoomBy(1.25) }),
      button({ icon: "fit", label: "Show all", key: "1", testid: "zoom-fit", onPress: () => board.fit() }),
    );
  }
}

function chip(kind: string, label: string, testid: string, onPress: () => void): HTMLButtonElement {
  const element = make("button", `chip ${kind}`);
  Object.assign(element, { type: "button", title: label, ariaLabel: label });
  element.dataset.testid = testid;
  element.addEventListener("click", onPress);
  return element;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
