/** Why a transport is in use, in plain words. */

import type { Transport, TransportName } from "./api.js";

export interface Situation {
  readonly name: TransportName;
  /** What may be used, best first. */
  readonly names: readonly TransportName[];
  /** What became of those that were tried; to be read behind their names. */
  readonly reasons: ReadonlyMap<TransportName, string>;
  /** Those that are being tried, and how many milliseconds they had before another was open. */
  readonly opening: ReadonlyMap<TransportName, number>;
  /** Milliseconds from one trial of better ones to the next. */
  readonly retry: number;
}

const LABELS: Readonly<Record<TransportName, string>> = {
  webtransport: "WebTransport",
  websocket: "WebSocket",
  multipart: "Multipart streaming",
  iframe: "Iframe streaming",
  longpoll: "Long polling",
  poll: "Polling",
};

/** A transport and why it is in use, for who inspects the room. */
export function introduce({ name, why }: Transport): string {
  return `${LABELS[name]}: ${why}`;
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
    // Times of one's own machine say nothing below a tenth of a second.
    const patience = Math.floor(waited / 100) * 100;
    return [`${LABELS[other]} ${patience > 0 ? `did not answer within ${patience} ms` : "has not answered yet"}`];
  });
  const next = better.some((other) => opening.has(other)) ? "still trying" : `trying again in ${retry / 1000} s`;
  return said.length === 0 ? `Trying better ones in ${retry / 1000} s.` : `${said.join(", ")}; ${next}.`;
}
