/**
 * The bar at the bottom with a preview of the picture, the progress and the button for a new
 * puzzle, and the small bar for the view.
 */

import { button, divider, make, part } from "../../../common/ui/dom";
import { HEIGHT, pieceCount, WIDTH } from "../model/spec";
import type { Table } from "../table";

/** Pixels of the preview, doubled for high-resolution screens. */
const THUMB = 104;

export class Bar {
  private readonly thumb = make("button", "thumb");
  private readonly small = make("canvas", "");
  private readonly words = make("span", "progress-words");
  private readonly meter = make("div", "progress-meter");
  private readonly percent = make("button", "percent");
  private readonly preview = make("div", "card preview");
  private readonly large = make("canvas", "");
  private drawn: HTMLCanvasElement | undefined;

  constructor(
    private readonly table: Table,
    onNew: () => void,
  ) {
    this.buildPreview();
    const progress = make("div", "progress");
    progress.dataset.testid = "progress";
    progress.role = "progressbar";
    progress.ariaLabel = "Progress";
    progress.append(this.words, this.meter);
    const renew = button({ icon: "renew", label: "New puzzle", key: "N", testid: "new", onPress: onNew });
    renew.classList.add("wide");
    renew.append(make("span", "wide-text", "New puzzle"));
    part("bar").append(this.thumb, progress, divider(), renew);
    this.buildZoom();
    this.update();
  }

  /** Updates the controls from the table. */
  update(): void {
    const { state } = this.table.document;
    const share = Math.round(state.progress * 100);
    const words = state.isSolved ? "Solved" : `${pieceCount(state.spec)} pieces · ${share} %`;
    if (this.words.textContent !== words) this.words.textContent = words;
    this.meter.style.setProperty("--share", String(state.progress));
    const progress = this.words.parentElement;
    if (progress) progress.ariaValueNow = String(share);
    this.percent.textContent = `${Math.round(this.table.camera.zoom * 100)} %`;
    this.paint();
  }

  /** Shows or hides the finished picture. */
  togglePreview(isOpen = this.preview.hidden): void {
    this.preview.hidden = !isOpen;
    this.thumb.ariaExpanded = String(isOpen);
  }

  private buildPreview(): void {
    Object.assign(this.thumb, { type: "button", title: "The picture (P)", ariaLabel: "Show the picture" });
    this.thumb.dataset.testid = "thumb";
    this.thumb.addEventListener("click", () => this.togglePreview());
    this.thumb.append(this.small);
    this.preview.dataset.testid = "preview";
    this.preview.append(this.large);
    this.preview.addEventListener("click", () => this.togglePreview(false));
    part("bar").append(this.preview);
    this.togglePreview(false);
  }

  private paint(): void {
    const { picture } = this.table;
    if (picture === this.drawn) return;
    this.drawn = picture;
    copy(picture, this.small, THUMB);
    copy(picture, this.large, 760);
  }

  private buildZoom(): void {
    const { table } = this;
    Object.assign(this.percent, { type: "button", title: "Real size (0)" });
    this.percent.dataset.testid = "zoom-reset";
    this.percent.addEventListener("click", () => table.zoomBy(1 / table.camera.zoom));
    part("zoom").append(
      button({ icon: "minus", label: "Zoom out", key: "-", testid: "zoom-out", onPress: () => table.zoomBy(1 / 1.25) }),
      this.percent,
      button({ icon: "plus", label: "Zoom in", key: "+", testid: "zoom-in", onPress: () => table.zoomBy(1.25) }),
      button({ icon: "fit", label: "Show all", key: "1", testid: "zoom-fit", onPress: () => table.fit() }),
    );
  }
}

/** Halves the picture repeatedly, because a single large step would skip pixels. */
function copy(from: HTMLCanvasElement, to: HTMLCanvasElement, width: number): void {
  to.width = width;
  to.height = Math.round((width * HEIGHT) / WIDTH);
  const ctx = to.getContext("2d");
  if (!ctx) return;
  ctx.imageSmoothingQuality = "high";
  ctx.drawImage(from, 0, 0, to.width, to.height);
}
