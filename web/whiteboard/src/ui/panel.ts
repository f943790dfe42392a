/** The panel "What Groupwire does": messages and their bytes before and after compression, measured in this window. */

import type { Stats, Traffic } from "groupwire";
import { button, make, part } from "../../../common/ui/dom";
import { icon } from "../../../common/ui/icons";
import { Savings, type DirectionSavings } from "../net/savings";
import type { CompressionChoice } from "./compression";
import type { Contracts } from "./contracts";

/** Seconds that the chart covers. */
const SECONDS = 60;

/** Seconds over which rates are averaged, because drawing stops and starts. */
const WINDOW = 3;

/** Milliseconds between samples of compression: short, so that the effect of a setting shows soon. */
const LOOK_MS = 500;

const OPEN = "groupwire-panel";

interface Sample {
  readonly up: Rate;
  readonly down: Rate;
}

interface Rate {
  readonly messages: number;
  readonly before: number;
  readonly after: number;
}

export interface PanelOptions {
  readonly stats: () => Stats;
  /** The name of the compression setting. */
  readonly setting: () => string;
  readonly compression: CompressionChoice;
  readonly contracts: Contracts;
  readonly transport: HTMLElement;
}

export class Panel {
  private readonly pill = make("button", "card pill");
  private readonly summary = make("span", "");
  private readonly card = make("section", "card panel-card");
  private readonly cells = new Map<string, HTMLElement>();
  private readonly curve = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  private readonly samples: Sample[] = [];
  private last: Stats;
  private lastTime = performance.now();
  private readonly savings: Savings;

  constructor(private readonly options: PanelOptions) {
    this.last = options.stats();
    this.savings = new Savings(this.last, options.setting());
    this.pill.type = "button";
    this.pill.dataset.testid = "panel-toggle";
    this.pill.title = "What Groupwire does";
    this.pill.innerHTML = icon("chart");
    this.pill.append(this.summary);
    this.pill.addEventListener("click", () => this.toggle(true));
    this.card.dataset.testid = "panel";
    this.card.ariaLabel = "What Groupwire does";
    this.build();
    part("panel").append(this.pill, this.card);
    this.toggle(localStorageItem(OPEN) === "open");
    setInterval(() => this.sample(), 1000);
    setInterval(() => this.look(), LOOK_MS);
    this.show();
  }

  private build(): void {
    const close = button({ icon: "close", label: "Close", testid: "panel-close", onPress: () => this.toggle(false) });
    const head = make("div", "panel-head");
    head.append(make("h2", "", "What Groupwire does"), close);
    const big = make("div", "panel-big");
    big.append(this.cell("ratio", "big"), this.cell("saved", "big-note"));
    this.curve.setAttribute("viewBox", `0 0 ${SECONDS - 1} 40`);
    this.curve.setAttribute("preserveAspectRatio", "none");
    this.curve.setAttribute("class", "curve");
    this.curve.setAttribute("aria-hidden", "true");
    const legend = make("div", "legend");
    legend.append(make("span", "key before", "your messages"), make("span", "key after", "on the wire"));
    const table = make("table", "");
    table.append(
      this.row("", ["per second", "message", "on the wire", "ratio"]),
      this.row("Up", ["up-messages", "up-before", "up-after", "up-ratio"]),
      this.row("Down", ["down-messages", "down-before", "down-after", "down-ratio"]),
    );
    const foot = make("div", "panel-foot");
    foot.append(make("span", "", "Round trip"), this.cell("trip", "trip"));
    const loss = make("a", "panel-link", "See what loss does to a pointer");
    loss.href = "?compare";
    loss.dataset.testid = "panel-compare";
    const { compression, contracts, transport } = this.options;
    const chosen = [compression.element, contracts.element];
    this.card.append(head, big, this.curve, legend, table, ...chosen, foot, transport, loss);
  }

  private row(name: string, cells: readonly string[]): HTMLElement {
    const row = make("tr", "");
    const isHead = name === "";
    row.append(make("th", "", name));
    for (const key of cells) {
      const cell = make(isHead ? "th" : "td", "", isHead ? key : "");
      if (!isHead) this.register(key, cell);
      row.append(cell);
    }
    return row;
  }

  private cell(key: string, className: string): HTMLElement {
    return this.register(key, make("span", className));
  }

  private register<E extends HTMLElement>(key: string, element: E): E {
    element.dataset.testid = `panel-${key}`;
    this.cells.set(key, element);
    return element;
  }

  private sample(): void {
    const now = performance.now();
    const seconds = (now - this.lastTime) / 1000;
    const stats = this.options.stats();
    this.samples.push({
      up: rate(this.last.sent, stats.sent, seconds),
      down: rate(this.last.received, stats.received, seconds),
    });
    if (this.samples.length > SECONDS) this.samples.shift();
    this.last = stats;
    this.lastTime = now;
    this.show();
  }

  private look(): void {
    this.savings.sample(this.options.stats(), this.options.setting());
    this.show();
  }

  private show(): void {
    const recent = this.samples.slice(-WINDOW);
    const up = mean(recent.map((sample) => sample.up));
    const down = mean(recent.map((sample) => sample.down));
    const { sent, received, roundTrip } = this.last;
    const before = sent.bytesBefore + received.bytesBefore;
    const after = sent.bytesAfter + received.bytesAfter;
    const ratio = before > 0 && after > 0 ? before / after : undefined;
    this.set("ratio", ratio === undefined ? "–" : `${ratio.toFixed(1)}×`);
    this.set("saved", saved(before, after));
    this.showDirection("up", up, this.savings.up);
    this.showDirection("down", down, this.savings.down);
    this.set("trip", roundTrip === undefined ? "–" : `${Math.round(roundTrip)} ms`);
    const trip = roundTrip === undefined ? "" : ` · ${Math.round(roundTrip)} ms`;
    // With little traffic, the connection's own bytes outweigh the savings.
    this.summary.textContent =
      ratio === undefined || ratio < 1.05 ? `Groupwire${trip}` : `${ratio.toFixed(1)}× smaller${trip}`;
    this.pill.ariaLabel = `What Groupwire does: ${this.summary.textContent}`;
    if (this.card.hidden) return;
    this.drawCurve();
    this.options.compression.show(this.savings);
    this.options.contracts.show();
  }

  private showDirection(key: string, { messages }: Rate, { each }: DirectionSavings): void {
    this.set(`${key}-messages`, perSecond(messages));
    this.set(`${key}-before`, each ? bytes(each.before) : "–");
    this.set(`${key}-after`, each ? bytes(each.after) : "–");
    this.set(`${key}-ratio`, each ? `${(each.before / each.after).toFixed(1)}×` : "–");
  }

  private drawCurve(): void {
    const before = this.samples.map(({ up, down }) => up.before + down.before);
    const after = this.samples.map(({ up, down }) => up.after + down.after);
    // A lower limit of the scale, so that a quiet room is a flat line.
    const top = Math.max(...before, ...after, 500);
    this.curve.innerHTML = `<path class="before" d="${area(before, top)}"/><path class="after" d="${area(after, top)}"/>`;
  }

  private set(key: string, text: string): void {
    const cell = this.cells.get(key);
    if (cell && cell.textContent !== text) cell.textContent = text;
  }

  private toggle(isOpen: boolean): void {
    this.card.hidden = !isOpen;
    this.pill.hidden = isOpen;
    try {
      localStorage.setItem(OPEN, isOpen ? "open" : "closed");
    } catch {
      // If storage is forbidden, the panel starts closed.
    }
    if (isOpen) this.show();
  }
}

function rate(last: Traffic, now: Traffic, seconds: number): Rate {
  return {
    messages: (now.messages - last.messages) / seconds,
    before: (now.bytesBefore - last.bytesBefore) / seconds,
    after: (now.bytesAfter - last.bytesAfter) / seconds,
  };
}

function mean(rates: readonly Rate[]): Rate {
  const over = (pick: (rate: Rate) => number): number =>
    rates.reduce((sum, item) => sum + pick(item), 0) / Math.max(rates.length, 1);
  return { messages: over((r) => r.messages), before: over((r) => r.before), after: over((r) => r.after) };
}

/** An area under the newest values, aligned to the right. */
function area(values: readonly number[], top: number): string {
  if (values.length === 0) return "";
  const first = SECONDS - values.length;
  const line = values.map((value, i) => `L${first + i} ${(39 - (value / top) * 37).toFixed(2)}`).join("");
  return `M${first} 40${line}L${SECONDS - 1} 40Z`;
}

function saved(before: number, after: number): string {
  if (before === 0) return "Nothing has been sent yet.";
  const share = Math.round((1 - after / before) * 100);
  const total = `${bytes(before)} of messages`;
  return share > 0 ? `${total} took ${share}\u00a0% less on the wire.` : `${total} so far.`;
}

function perSecond(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

function bytes(value: number): string {
  if (value < 1000) return `${Math.round(value)} B`;
  if (value < 1e6) return `${(value / 1000).toFixed(1)} KB`;
  return `${(value / 1e6).toFixed(1)} MB`;
}

function localStorageItem(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
