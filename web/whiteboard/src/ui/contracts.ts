/**
 * The part of the panel that shows each channel's contract, and whether it is kept in this window.
 */

import type { Contract } from "groupwire";
import { make } from "../../../common/ui/dom";

/** What this control needs from a channel. */
export interface ContractChannel {
  readonly name: string;
  readonly contract: Contract | undefined;
}

const LABELS: Readonly<Record<string, string>> = {
  pointer: "Pointers",
  stroke: "Strokes",
  drag: "Moves",
  draw: "Changes",
};

export class Contracts {
  readonly element = make("table", "contracts");
  private readonly rows: readonly Row[];

  constructor(private readonly channels: readonly ContractChannel[]) {
    this.rows = channels.map(({ name }) => new Row(name));
    const head = make("tr", "");
    head.append(...["Received", "in time", "99 % within"].map((text) => make("th", "", text)));
    this.element.append(head, ...this.rows.map(({ element }) => element));
    this.element.dataset.testid = "panel-contracts";
  }

  /** Updates the control from the channels. */
  show(): void {
    this.channels.forEach(({ contract }, at) => this.rows[at]?.show(contract));
  }
}

class Row {
  readonly element = make("tr", "");
  private readonly share = make("td", "");
  private readonly latency = make("td", "");

  constructor(name: string) {
    const label = make("th", "");
    label.append(make("span", "dot"), LABELS[name] ?? name);
    this.element.append(label, this.share, this.latency);
    this.element.dataset.testid = `contract-${name}`;
  }

  show(contract: Contract | undefined): void {
    const { judged = 0, missed = 0 } = contract?.recent ?? {};
    const p99 = contract?.latency.p99;
    this.element.className = judged === 0 ? "idle" : (contract?.state ?? "idle");
    this.element.title = contract ? said(contract) : "";
    set(this.share, judged === 0 ? "–" : percent(1 - missed / judged));
    set(this.latency, p99 === undefined ? "–" : `${Math.round(p99)} ms`);
  }
}

function said({ text, measures }: Contract): string {
  return [`Contract ${text}.`, ...measures.map((measure) => `${capital(measure.text)}.`)].join("\n");
}

/** Rounded down, so that 100 % means that nothing was missed. */
export function percent(share: number): string {
  return share === 1 ? "100 %" : `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function set(cell: HTMLElement, text: string): void {
  if (cell.textContent !== text) cell.textContent = text;
}
