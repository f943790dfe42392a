/**
 * The panel "What Groupwire does": messages and their bytes before and after compression, and apart
 * from them the cost of packets, measured in this window.
 */

import type { Stats } from "groupwire";
import { button, make, part } from "../../../common/ui/dom";
import { icon } from "../../../common/ui/icons";
import { add, between, Savings, sumsOf, type DirectionSavings, type Sums } from "../net/savings";
import type { CompressionChoice } from "./compression";
import type { Contracts } from "./contracts";

/** Seconds that the chart covers. */
const SECONDS = 60;

/** Seconds over which rates are averaged, because drawing stops and starts. */
const WINDOW = 3;

/**
 * Milliseconds between samples of compression: short, so that the effect of a setting shows soon.
 */
const LOOK_MS = 500;

const OPEN = "groupwire-panel";

/** Sums per second. */
interface Sample {
  readonly up: Sums;
  readonly down: Sums;
}

/** The columns of the table, each with its explanation. */
const COLUMNS = [
  ["per s", "Messages per second"],
  ["message", "Bytes of a message as this page sent or got it"],
  ["becomes", "Bytes of this message in its packet, compressed, repeats included"],
  ["headers", "Other bytes of packets for each message: headers, acknowledgements, pings"],
  ["ratio", "Bytes of a message divided by what it becomes, headers apart"],
] as const;

const CELLS = ["messages", "before", "after", "others", "ratio"] as const;

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
    this.pill.title = "What Groupwire does: how much smaller messages travel, headers of packets apart";
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
    legend.append(
      make("span", "key before", "messages"),
      make("span", "key after", "compressed"),
      make("span", "key others", "headers"),
    );
    const table = make("table", "");
    table.append(heads(), this.row("Up", "up"), this.row("Down", "down"));
    const foot = make("div", "panel-foot");
    foot.append(make("span", "", "Round trip"), this.cell("trip", "trip"));
    const loss = make("a", "panel-link", "See a pointer over a stream and over datagrams");
    loss.href = "?compare";
    loss.dataset.testid = "panel-compare";
    const { compression, contracts, transport } = this.options;
    const chosen = [compression.element, contracts.element];
    this.card.append(head, big, this.curve, legend, table, ...chosen, foot, transport, loss);
  }

  private row(name: string, direction: "up" | "down"): HTMLElement {
    const row = make("tr", "");
    const head = make("th", "", name);
    head.scope = "row";
    row.append(head, ...CELLS.map((cell) => this.register(`${direction}-${cell}`, make("td", ""))));
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
      up: perSecond(between(sumsOf(this.last.sent), sumsOf(stats.sent)), seconds),
      down: perSecond(between(sumsOf(this.last.received), sumsOf(stats.received)), seconds),
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
    const { sent, received, roundTrip } = this.last;
    const all = add(sumsOf(sent), sumsOf(received));
    const ratio = all.before > 0 && all.after > 0 ? all.before / all.after : undefined;
    this.set("ratio", ratio === undefined ? "–" : `${ratio.toFixed(1)}×`);
    this.set("saved", saved(all));
    for (const way of ["up", "down"] as const) {
      const messages = recent.reduce((sum, sample) => sum + sample[way].messages, 0) / Math.max(recent.length, 1);
      this.showDirection(way, messages, this.savings[way]);
    }
    this.set("trip", roundTrip === undefined ? "–" : `${Math.round(roundTrip)} ms`);
    const trip = roundTrip === undefined ? "" : ` · ${Math.round(roundTrip)} ms`;
    // Messages get no smaller without compression, and before it has learned.
    this.summary.textContent =
      ratio === undefined || ratio < 1.05 ? `Groupwire${trip}` : `${ratio.toFixed(1)}× smaller${trip}`;
    this.pill.ariaLabel = `What Groupwire does: ${this.summary.textContent}`;
    if (this.card.hidden) return;
    this.drawCurve();
    this.options.compression.show(this.savings);
    this.options.contracts.show();
  }

  private showDirection(key: string, messages: number, { each }: DirectionSavings): void {
    this.set(`${key}-messages`, rounded(messages));
    for (const of of ["before", "after", "others"] as const) this.set(`${key}-${of}`, each ? bytes(each[of]) : "–");
    this.set(`${key}-ratio`, each ? `${(each.before / each.after).toFixed(1)}×` : "–");
  }

  private drawCurve(): void {
    const sums = this.samples.map(({ up, down }) => add(up, down));
    const before = sums.map((sum) => sum.before);
    const after = sums.map((sum) => sum.after);
    // Headers stand on top of the compressed messages.
    const packets = sums.map((sum) => sum.after + sum.others);
    // A lower limit of the scale, so that a quiet room is a flat line.
    const top = Math.max(...before, ...packets, 500);
    const paths = [
      ["before", before],
      ["others", packets],
      ["after", after],
    ] as const;
    this.curve.innerHTML = paths.map(([name, values]) => `<path class="${name}" d="${area(values, top)}"/>`).join("");
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

function heads(): HTMLElement {
  const row = make("tr", "");
  const cells = COLUMNS.map(([name, explanation]) => {
    const cell = make("th", "", name);
    cell.scope = "col";
    cell.title = explanation;
    return cell;
  });
  row.append(make("td", ""), ...cells);
  return row;
}

function perSecond({ messages, before, after, others }: Sums, seconds: number): Sums {
  return {
    messages: messages / seconds,
    before: before / seconds,
    after: after / seconds,
    others: others / seconds,
  };
}

/** An area under the newest values, aligned to the right. */
function area(values: readonly number[], top: number): string {
  if (values.length === 0) return "";
  const first = SECONDS - values.length;
  const line = values.map((value, i) => `L${first + i} ${(39 - (value / top) * 37).toFixed(2)}`).join("");
  return `M${first} 40${line}L${SECONDS - 1} 40Z`;
}

/**
 * A sentence with the bytes of all messages before and after compression, and the bytes of headers,
 * acknowledgements and pings.
 */
export function saved({ messages, before, after, others }: Sums): string {
  if (messages === 0) return "Nothing has been sent yet.";
  return `${bytes(before)} of messages became ${bytes(after)}. Headers, acknowledgements and pings: ${bytes(others)} more.`;
}

function rounded(value: number): string {
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
