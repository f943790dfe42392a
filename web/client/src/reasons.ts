/** Explains in a sentence why a transport is in use. */

import type { Transport, TransportName } from "./api.js";

export interface Situation {
  readonly name: TransportName;
  /** The allowed transports, best first. */
  readonly names: readonly TransportName[];
  /** Why each transport that was tried is not in use, as a phrase that follows its name. */
  readonly reasons: ReadonlyMap<TransportName, string>;
  /**
   * The transports that are still opening, and the milliseconds they had before another one opened.
   */
  readonly opening: ReadonlyMap<TransportName, number>;
  /** Milliseconds until better transports are tried again. */
  readonly retry: number;
}

/** The names of the transports in sentences. */
export const LABELS: Readonly<Record<TransportName, string>> = {
  webtransport: "WebTransport",
  websocket: "WebSocket",
  multipart: "Multipart streaming",
  iframe: "Iframe streaming",
  longpoll: "Long polling",
  poll: "Polling",
};

/**
 * A transport and the reason why it is in use, for the inspector; and why messages are plain, if
 * they are.
 */
export function describe({ name, why }: Transport, plain?: string): string {
  return `${LABELS[name]}: ${why}${plain === undefined ? "" : ` Plain: ${plain}.`}`;
}

export function explain({ name, names, reasons, opening, retry }: Situation): string {
  const at = names.indexOf(name);
  if (names.length === 1 && at === 0) return "The only one that may be used here.";
  if (at === 0) return "The best there is here.";
  const better = at < 0 ? names : names.slice(0, at);
  const said = better.flatMap((other) => {
    const waited = opening.get(other);
    const reason = reasons.get(other);
    if (reason !== undefined) return [`${LABELS[other]} ${reason}`];
    if (waited === undefined) return [];
    // Rounded down to 100 ms: smaller differences are noise of the local machine.
    const patience = Math.floor(waited / 100) * 100;
    return [`${LABELS[other]} ${patience > 0 ? `did not answer within ${patience} ms` : "has not answered yet"}`];
  });
  const next = better.some((other) => opening.has(other)) ? "still trying" : `trying again in ${retry / 1000} s`;
  return said.length === 0 ? `Trying better ones in ${retry / 1000} s.` : `${said.join(", ")}; ${next}.`;
}
