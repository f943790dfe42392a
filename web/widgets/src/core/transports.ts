import type { TransportName } from "groupwire";

/** What people are shown as the names of transports. */
export const TRANSPORT_LABELS: Readonly<Record<TransportName, string>> = {
  webtransport: "WebTransport",
  websocket: "WebSocket",
  multipart: "Multipart streaming",
  iframe: "Iframe streaming",
  longpoll: "Long polling",
  poll: "Polling",
};
