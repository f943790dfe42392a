/** Packets over a WebSocket, each as one binary message. */

import type { WebSocketConstructor, WebSocketLike } from "../api.js";
import { encodeText } from "../codec.js";
import type { Link, LinkEvents } from "./link.js";

/**
 * Intervals at which the link checks whether packets have left. Most leave at once, so the first is
 * short; it doubles up to the second.
 */
const FIRST_LOOK_MS = 1;
const LONGEST_LOOK_MS = 16;

export class WebSocketLink implements Link {
  readonly #socket: WebSocketLike;
  readonly #events: LinkEvents;
  #looking: ReturnType<typeof setTimeout> | undefined;
  /** Packets not yet reported as sent. */
  #waiting = 0;

  constructor(WebSocket: WebSocketConstructor, url: string, events: LinkEvents) {
    this.#events = events;
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    let isOpen = false;
    this.#socket.onopen = () => {
      isOpen = true;
      events.opened(0);
    };
    this.#socket.onmessage = ({ data }: { readonly data: unknown }) => {
      // Timers of a background page run once a second or once a minute, while messages arrive at
      // once.
      this.#look(FIRST_LOOK_MS);
      if (data instanceof ArrayBuffer) events.received(new Uint8Array(data));
      // No Groupwire server sends text. The core rejects it like any other malformed packet.
      else if (typeof data === "string") events.received(encodeText(data));
    };
    // An error ends the link as a close does: Node's own WebSocket reports no close after a
    // connection that was refused. Close codes add nothing to the session's ERROR and BYE frames.
    this.#socket.onclose = this.#socket.onerror = () => {
      this.close();
      events.closed(isOpen ? "broke" : "was refused");
    };
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(packet);
    this.#waiting += 1;
    this.#look(FIRST_LOOK_MS);
  }

  sendDatagram(): void {
    this.#events.datagramSent();
  }

  release(): void {
    clearTimeout(this.#looking);
    const waiting = this.#waiting;
    // Reset before the reports, because each may make the core send the next packet.
    this.#waiting = 0;
    for (let i = 0; i < waiting; i += 1) this.#events.sent();
  }

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
    clearTimeout(this.#looking);
    this.#waiting = 0;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    // The package `ws` ends the process at an error that nobody listens to, and closing while it
    // connects is one.
    this.#socket.onerror = () => {};
  }
}
