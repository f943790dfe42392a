/**
 * The latest packets as bars of their bytes by purpose. A list box: arrow keys select the next
 * packet.
 */

import { h } from "../shared/dom.js";
import { PURPOSES, split, type Model, type PacketEntry } from "./model.js";
import { bytes, PURPOSE_WORDS } from "./words.js";

/** Limit of bars; `count` depends on the width. */
const MOST = 160;

/** The width of a bar and its gap, in pixels. */
const BAR = 10;

/** The height of the tallest bar, in pixels. */
const HEIGHT = 132;

/** The lowest top of the axis, in bytes: an empty packet has some bytes. */
const SMALLEST = 8;

export class Timeline {
  readonly element = h("div", "timeline");
  private readonly bars = h("div", "bars");
  private readonly top = h("span", "scale-top");
  private readonly middle = h("span", "scale-middle");
  private shown: readonly PacketEntry[] = [];
  private scale = 0;
  private selected: number | undefined;

  constructor(private readonly pick: (seen: PacketEntry) => void) {
    this.bars.setAttribute("role", "listbox");
    this.bars.ariaLabel = "Packets, the newest last";
    this.bars.tabIndex = 0;
    this.bars.dataset.testid = "packets";
    this.bars.addEventListener("keydown", (event) => this.key(event));
    this.bars.addEventListener("click", ({ target }) => {
      const bar = target instanceof Element ? target.closest<HTMLElement>("[data-id]") : null;
      const seen = this.shown.find(({ id }) => String(id) === bar?.dataset.id);
      if (seen) this.pick(seen);
    });
    const scale = h("div", "scale", this.top, this.middle, h("span", "scale-bottom", "0"));
    scale.ariaHidden = "true";
    this.element.append(scale, this.bars);
    this.showScale(SMALLEST);
  }

  /** The number of bars that fit. */
  get count(): number {
    return Math.min(Math.max(Math.floor((this.bars.clientWidth || 600) / BAR), 10), MOST);
  }

  select(seen: PacketEntry | undefined): void {
    this.selected = seen?.id;
    for (const bar of this.bars.children) mark(bar, bar instanceof HTMLElement && bar.dataset.id === String(seen?.id));
    if (seen) this.bars.setAttribute("aria-activedescendant", `packet-${seen.id}`);
    else this.bars.removeAttribute("aria-activedescendant");
  }

  show(shown: readonly PacketEntry[], model: Model): void {
    this.shown = shown;
    this.showScale(axisTop(Math.max(0, ...shown.map(({ packet }) => packet.bytes)), this.scale));
    this.bars.replaceChildren(...shown.map((seen) => this.bar(seen, this.scale, model)));
  }

  private showScale(top: number): void {
    this.scale = top;
    this.top.textContent = bytes(top);
    this.middle.textContent = String(top / 2);
  }

  private bar(seen: PacketEntry, scale: number, model: Model): HTMLElement {
    const { packet } = seen;
    const bar = h("div", packet.out ? "bar out" : "bar in");
    bar.id = `packet-${seen.id}`;
    bar.dataset.id = String(seen.id);
    bar.dataset.parts = String(packet.parts.length);
    bar.setAttribute("role", "option");
    const whom = `${packet.out ? "to" : "from"} ${model.nameOf(packet.participant)}`;
    const sizes = split(packet);
    const made = PURPOSES.filter((purpose) => sizes[purpose] >= 0.5);
    const parts = made.map((purpose) => `${PURPOSE_WORDS[purpose]} ${Math.round(sizes[purpose])}`).join(", ");
    bar.ariaLabel = `${bytes(packet.bytes)} ${whom}: ${parts}`;
    bar.title = bar.ariaLabel;
    for (const purpose of PURPOSES) {
      if (sizes[purpose] <= 0) continue;
      const segment = h("i", `segment ${purpose}`);
      segment.style.height = `${(sizes[purpose] / scale) * HEIGHT}px`;
      bar.append(segment);
    }
    mark(bar, seen.id === this.selected);
    return bar;
  }

  private key(event: KeyboardEvent): void {
    const last = this.shown.length - 1;
    const at = this.shown.findIndex(({ id }) => id === this.selected);
    const steps: Record<string, number> = {
      ArrowLeft: at < 0 ? last : Math.max(at - 1, 0),
      ArrowRight: at < 0 ? last : Math.min(at + 1, last),
      Home: 0,
      End: last,
      Enter: at < 0 ? last : at,
    };
    const seen = this.shown[steps[event.key] ?? -1];
    if (!seen) return;
    event.preventDefault();
    this.pick(seen);
  }
}

/**
 * The top of the axis, in bytes, for bars of which the largest has `largest`. It is `before` as
 * long as this bar takes at least half of it, so that the axis seldom jumps. Otherwise the bar
 * takes at least two thirds. Its half is a whole number.
 */
export function axisTop(largest: number, before: number): number {
  const needed = Math.max(largest, SMALLEST);
  if (needed <= before && 2 * needed >= before) return before;
  let top = SMALLEST;
  while (top < needed) top += top % 3 === 0 ? top / 3 : top / 2;
  return top;
}

function mark(bar: Element, isSelected: boolean): void {
  bar.classList.toggle("selected", isSelected);
  bar.ariaSelected = String(isSelected);
}
