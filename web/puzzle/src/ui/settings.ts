/** The panel about the network: which transport to use, which one is in use and why, and what it does, live. */

import type { Stats, Status } from "groupwire";
import { button, make, part } from "../../../common/ui/dom";
import { icon } from "../../../common/ui/icons";
import type { Meter, Sample } from "../net/meter";
import { isTransport, labelOf, TRANSPORT_LABELS, TRANSPORTS, type TransportName } from "../net/transports";
import { Sparkline } from "./sparkline";

const OPEN = "groupwire-puzzle-panel";
const AUTOMATIC = "automatic";

export interface SettingsOptions {
  readonly meter: Meter;
  /** Pinned by the page's address. */
  readonly pinned: TransportName | undefined;
  readonly status: () => Status;
  readonly stats: () => Stats;
  readonly transport: () => { readonly name: string; readonly why: string | undefined };
  readonly pin: (name: TransportName | undefined) => void;
}

interface Row {
  readonly label: string;
  readonly title: string;
  readonly testid: string;
  /** The scale's end of the curve if all is smaller. */
  readonly least: number;
  readonly text: (meter: Meter) => string;
  readonly curves: readonly { readonly color: string; readonly value: (sample: Sample) => number | undefined }[];
}

const ROWS: readonly Row[] = [
  {
    label: "Latency",
    title: "From the other participants' applications to this one, mean of ten seconds",
    testid: "latency",
    least: 20,
    text: ({ figures }) => ms(figures.latency),
    curves: [{ color: "--accent", value: ({ latency }) => latency }],
  },
  {
    label: "Jitter",
    title: "Mean divergence of the latency from its mean, over ten seconds",
    testid: "jitter",
    least: 10,
    text: ({ figures }) => ms(figures.jitter),
    curves: [{ color: "--accent", value: ({ jitter }) => jitter }],
  },
  {
    label: "Round trip",
    title: "To the server and back",
    testid: "round-trip",
    least: 20,
    text: ({ figures }) => ms(figures.roundTrip),
    curves: [{ color: "--accent", value: ({ roundTrip }) => roundTrip }],
  },
  {
    label: "Messages/s",
    title: "Received and sent, mean of ten seconds",
    testid: "rate",
    least: 20,
    text: ({ figures: { received, sent } }) => `${number(received.messages)} ↓ ${number(sent.messages)} ↑`,
    curves: [
      { color: "--accent", value: ({ received }) => received.messages },
      { color: "--wait", value: ({ sent }) => sent.messages },
    ],
  },
  {
    label: "Bytes/message",
    title: "Handed to the transport, both ways, headers of packets included",
    testid: "bytes",
    least: 20,
    text: ({ figures: { bytesPerMessage } }) => (bytesPerMessage === undefined ? "–" : number(bytesPerMessage)),
    curves: [{ color: "--accent", value: bytesEach }],
  },
];

export class Settings {
  private readonly pill = make("button", "card pill");
  private readonly summary = make("span", "");
  private readonly card = make("section", "card panel-card settings");
  private readonly select = make("select", "");
  private readonly why = make("p", "why");
  private readonly rows: { readonly row: Row; readonly value: HTMLElement; readonly curve: Sparkline }[] = [];

  constructor(private readonly options: SettingsOptions) {
    this.buildPill();
    this.build();
    part("panel").append(this.pill, this.card);
    this.toggle(stored() === "open");
    setInterval(() => {
      options.meter.sample(options.stats(), performance.now());
      this.show();
    }, 1000);
    this.show();
  }

  /** Opens or closes it. */
  toggle(isOpen = this.card.hidden): void {
    this.card.hidden = !isOpen;
    this.pill.hidden = isOpen;
    try {
      localStorage.setItem(OPEN, isOpen ? "open" : "closed");
    } catch {
      // Storage may be forbidden; then it starts closed next time.
    }
    this.show();
  }

  get isOpen(): boolean {
    return !this.card.hidden;
  }

  /** Looks at the session again. */
  show(): void {
    const { meter, transport, status } = this.options;
    const { name, why } = transport();
    const isUp = status() === "connected";
    const label = isUp ? labelOf(name) : "Not connected";
    const { latency, roundTrip } = meter.figures;
    const delay = latency ?? roundTrip;
    this.summary.textContent = isUp && delay !== undefined ? `${label} · ${ms(delay)}` : label;
    this.pill.ariaLabel = `Connection: ${this.summary.textContent}`;
    if (!this.isOpen) return;
    const reason = isUp ? why : "it is tried again until there is a connection";
    this.why.replaceChildren("In use: ", make("strong", "", label), reason ? `: ${reason}` : "");
    for (const { row, value, curve } of this.rows) {
      value.textContent = row.text(meter);
      const curves = row.curves.map(({ color, value }) => ({ color, values: meter.history.map(value) }));
      curve.draw(curves, row.least);
    }
  }

  private buildPill(): void {
    this.pill.type = "button";
    this.pill.dataset.testid = "settings-toggle";
    this.pill.title = "Connection (S)";
    this.pill.innerHTML = icon("chart");
    this.pill.append(this.summary);
    this.pill.addEventListener("click", () => this.toggle(true));
  }

  private build(): void {
    this.card.dataset.testid = "settings";
    this.card.ariaLabel = "Connection";
    const close = button({
      icon: "close",
      label: "Close",
      testid: "settings-close",
      onPress: () => this.toggle(false),
    });
    const head = make("div", "panel-head");
    head.append(make("h2", "", "Connection"), close);
    this.buildSelect();
    const label = make("label", "transport-choice", "Transport");
    label.append(this.select);
    this.why.dataset.testid = "transport";
    const list = make("dl", "figures");
    for (const row of ROWS) list.append(this.row(row));
    const foot = make("p", "panel-note", "The curves show the last minute. ");
    const link = make("a", "", "Whiteboard");
    link.href = "../";
    foot.append("Also here: ", link);
    this.card.append(head, label, this.why, list, foot);
  }

  private buildSelect(): void {
    const { select } = this;
    select.dataset.testid = "transport-choice";
    select.append(option(AUTOMATIC, "Automatic: the best that works"));
    for (const name of TRANSPORTS) select.append(option(name, TRANSPORT_LABELS[name]));
    select.value = this.options.pinned ?? AUTOMATIC;
    select.addEventListener("change", () => {
      this.options.pin(isTransport(select.value) ? select.value : undefined);
      this.show();
    });
  }

  private row(row: Row): HTMLElement {
    const element = make("div", "figure");
    element.title = row.title;
    const value = make("dd", "");
    value.dataset.testid = `figure-${row.testid}`;
    const curve = new Sparkline();
    this.rows.push({ row, value, curve });
    element.append(make("dt", "", row.label), curve.element, value);
    return element;
  }
}

function option(value: string, label: string): HTMLOptionElement {
  const element = make("option", "", label);
  element.value = value;
  return element;
}

function bytesEach({ sent, received }: Sample): number | undefined {
  const messages = sent.messages + received.messages;
  // In a second with few messages it is the packets' headers that would be seen.
  return messages >= 5 ? (sent.bytes + received.bytes) / messages : undefined;
}

function ms(value: number | undefined): string {
  return value === undefined ? "–" : `${number(value)} ms`;
}

function number(value: number): string {
  return value > 0 && value < 10 ? value.toFixed(1) : String(Math.round(value));
}

function stored(): string | null {
  try {
    return localStorage.getItem(OPEN);
  } catch {
    return null;
  }
}
