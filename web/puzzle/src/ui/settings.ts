/**
 * The panel of the connection: a choice of transports, the one in use and why, and live figures.
 */

import type { Stats, Transport } from "groupwire";
import { button, make, part } from "../../../common/ui/dom";
import { icon } from "../../../common/ui/icons";
import type { TransportChoice } from "../../../common/ui/transport";
import { TRANSPORT_LABELS } from "../../../widgets/src/core/transports.js";
import type { Meter, Sample } from "../net/meter";
import { Sparkline } from "./sparkline";

const OPEN = "groupwire-puzzle-panel";

export interface SettingsOptions {
  readonly meter: Meter;
  readonly stats: () => Stats;
  readonly transport: () => Transport | undefined;
  readonly choice: TransportChoice;
}

interface Row {
  readonly label: string;
  readonly title: string;
  readonly testid: string;
  /** The smallest upper end of the chart's scale. */
  readonly least: number;
  /** The text, or its parts in the colours of their curves. */
  readonly text: (meter: Meter) => string | readonly (readonly [text: string, color: string])[];
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
    text: ({ figures: { received, sent } }) => [
      [`${number(received.messages)} ↓ `, "--accent"],
      [`${number(sent.messages)} ↑`, "--sent"],
    ],
    curves: [
      { color: "--accent", value: ({ received }) => received.messages },
      { color: "--sent", value: ({ sent }) => sent.messages },
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

  /** Opens or closes the panel. */
  toggle(isOpen = this.card.hidden): void {
    this.card.hidden = !isOpen;
    this.pill.hidden = isOpen;
    try {
      localStorage.setItem(OPEN, isOpen ? "open" : "closed");
    } catch {
      // If storage is forbidden, the panel starts closed.
    }
    this.show();
  }

  get isOpen(): boolean {
    return !this.card.hidden;
  }

  /** Updates the panel from the session. */
  show(): void {
    const { meter, transport, choice } = this.options;
    const name = transport()?.name;
    const { latency, roundTrip } = meter.figures;
    const delay = latency ?? roundTrip;
    const label = name ? TRANSPORT_LABELS[name] : "Not connected";
    this.summary.textContent = name && delay !== undefined ? `${label} · ${ms(delay)}` : label;
    this.pill.ariaLabel = `Connection: ${this.summary.textContent}`;
    if (!this.isOpen) return;
    choice.show();
    for (const { row, value, curve } of this.rows) {
      const text = row.text(meter);
      value.replaceChildren(...(typeof text === "string" ? [text] : text.map(colored)));
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
    const list = make("dl", "figures");
    for (const row of ROWS) list.append(this.row(row));
    const foot = make("p", "panel-note", "The curves show the last minute.");
    const link = make("a", "", "Whiteboard");
    link.href = "../";
    foot.append(link);
    this.card.append(head, this.options.choice.element, list, foot);
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

function colored([text, color]: readonly [text: string, color: string]): HTMLElement {
  const element = make("span", "", text);
  element.style.color = `var(${color})`;
  return element;
}

function bytesEach({ sent, received }: Sample): number | undefined {
  const messages = sent.messages + received.messages;
  // In a second with few messages the packets' headers would dominate.
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
