/** The ways a browser has to the server, in the order in which they are tried. */

import type { ConnectOptions, Room } from "groupwire";

export const TRANSPORTS = ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"] as const;
export type TransportName = (typeof TRANSPORTS)[number];

// Until the package has them itself.
export type WithTransports = { transports?: readonly TransportName[] } & ConnectOptions<never>;
export interface TransportRoom {
  readonly transport?: { readonly name: TransportName; readonly why: string } | undefined;
  setTransports?(names: readonly TransportName[] | undefined): void;
}

export function asTransportRoom(room: Room<never>): TransportRoom {
  return room as unknown as TransportRoom;
}

export const TRANSPORT_LABELS: Readonly<Record<TransportName, string>> = {
  webtransport: "WebTransport",
  websocket: "WebSocket",
  multipart: "HTTP streaming",
  iframe: "Hidden iframe",
  longpoll: "Long polling",
  poll: "Polling",
};

export function isTransport(name: unknown): name is TransportName {
  return TRANSPORTS.some((transport) => transport === name);
}

export function labelOf(name: string): string {
  return isTransport(name) ? TRANSPORT_LABELS[name] : name;
}
