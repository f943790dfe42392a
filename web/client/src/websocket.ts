/** Packets over a WebSocket: one binary message each. */

import type { WebSocketConstructor, WebSocketLike } from "./api.js";
import { encodeText } from "./codec.js";
import { failure } from "./errors.js";

export interface TransportEvents {
  opened(): void;
  received(packet: Uint8Array): void;
  /** One packet has left for the network. */
  sent(): void;
  closed(): void;
}

/** Long enough for two lost SYN packets (1 + 2 s, RFC 6298) and a TLS handshake on a poor network. */
const OPENING_MS = 10_000;

/** How soon to look whether packets have left: most do at once. Then twice as long, up to the second. */
const FIRST_LOOK_MS = 1;
const LONGEST_LOOK_MS = 16;

export class WebSocketTransport {
  readonly #socket: WebSocketLike;
  readonly #events: TransportEvents;
  readonly #opening: ReturnType<typeof setTimeout>;
  #looking: ReturnType<typeof setTimeout> | undefined;
  /** Packets not yet reported as sent. */
  #waiting = 0;

  constructor(WebSocket: WebSocketConstructor, url: string, events: TransportEvents) {
    this.#events = events;
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#opening = setTimeout(() => {
      this.close();
      events.closed();
    }, OPENING_MS);
    this.#socket.onopen = () => {
      clearTimeout(this.#opening);
      events.opened();
    };
    this.#socket.onmessage = ({ data }: { readonly data: unknown }) => {
      // Timers of a page in the background come once a second, or once a minute, messages at once.
      this.#look(FIRST_LOOK_MS);
      if (data instanceof ArrayBuffer) events.received(new Uint8Array(data));
      // No Groupwire server sends text. The core judges it as any other packet, and says so.
      else if (typeof data === "string") events.received(encodeText(data));
    };
    // An error is always followed by this. Codes say nothing that the session's own ERROR and BYE did not.
    this.#socket.onclose = () => {
      this.#detach();
      events.closed();
    };
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(packet);
    this.#waiting += 1;
    this.#look(FIRST_LOOK_MS);
  }

  /** Reports all packets as sent, whether they have left or not: the last ones may then be handed over as well. */
  release(): void {
    clearTimeout(this.#looking);
    const waiting = this.#waiting;
    // Before the reports: each may bring the next packet.
    this.#waiting = 0;
    for (let i = 0; i < waiting; i += 1) this.#events.sent();
  }

  /** Closes after what was sent has left. Nothing is reported any more. */
  close(): void {
    this.#detach();
    this.#socket.close(1000);
  }

  #look(again: number): void {
    clearTimeout(this.#looking);
    if (this.#waiting === 0) return;
    if (this.#socket.bufferedAmount === 0) return this.release();
    this.#looking = setTimeout(() => this.#look(Math.min(again * 2, LONGEST_LOOK_MS)), again);
  }

  #detach(): void {
    clearTimeout(this.#opening);
    clearTimeout(this.#looking);
    this.#waiting = 0;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
  }
}

/** The address of a server's WebSocket: `http` and relative addresses are understood too. */
export function endpoint(server: string | URL): string {
  const base = typeof location === "undefined" ? undefined : location.href;
  let url: URL;
  try {
    url = new URL(server, base);
  } catch {
    throw failure(
      "invalid-url",
      "own",
      `"${String(server)}" is not the address of a server, such as wss://example.com`,
    );
  }
  const scheme = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" }[url.protocol];
  if (!scheme) throw failure("invalid-url", "own", `"${url.href}" is neither of ws, wss, http, https`);
  url.protocol = scheme;
  url.pathname = `${url.pathname.replace(/\/$/, "")}/ws`;
  url.hash = "";
  return url.href;
}
