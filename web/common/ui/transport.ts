/**
 * The part of the panel that shows the transport in use, the reason for it, and a choice of others.
 */

import type { Transport, TransportName } from "groupwire";
import { TRANSPORT_LABELS } from "../../widgets/src/core/transports.js";
import { make } from "./dom";

/** What this control needs from the session. */
export interface TransportSession {
  readonly transport: Transport | undefined;
  setTransports(names: readonly TransportName[] | undefined): void;
}

const AUTOMATIC = "automatic";

export class TransportChoice {
  readonly element = make("div", "transport-choice");
  private readonly select = make("select", "");
  private readonly why = make("p", "why");

  constructor(
    private readonly session: TransportSession,
    pinned: TransportName | undefined,
  ) {
    const label = make("label", "", "Transport");
    this.select.dataset.testid = "transport-choice";
    this.why.dataset.testid = "transport-why";
    this.select.append(option(AUTOMATIC, "Automatic"));
    for (const [name, text] of Object.entries(TRANSPORT_LABELS)) this.select.append(option(name, text));
    this.select.value = pinned ?? AUTOMATIC;
    this.select.addEventListener("change", () => {
      const { value } = this.select;
      this.session.setTransports(isTransport(value) ? [value] : undefined);
    });
    label.append(this.select);
    this.element.append(label, this.why);
    this.show();
  }

  /** Updates the control from the session. */
  show(): void {
    const { transport } = this.session;
    const text = transport
      ? `${TRANSPORT_LABELS[transport.name]}. ${transport.why}`
      : "Not connected. It is tried again by itself.";
    if (this.why.textContent !== text) this.why.textContent = text;
  }
}

export function isTransport(name: string | null): name is TransportName {
  return name !== null && Object.hasOwn(TRANSPORT_LABELS, name);
}

function option(value: string, text: string): HTMLOptionElement {
  const element = make("option", "", text);
  element.value = value;
  return element;
}
