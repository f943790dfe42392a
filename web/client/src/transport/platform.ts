/** Which transports there are here, and how each is opened. */

import type { TransportName, WebSocketConstructor } from "../api.js";
import { socketDoor } from "../address.js";
import { failure } from "../errors.js";
import { Hold } from "./hold.js";
import type { HttpName } from "./http.js";
import type { Link, LinkEvents } from "./link.js";
import { WebSocketLink } from "./websocket.js";
import { WebTransportLink } from "./webtransport.js";

/** Best first. */
export const NAMES: readonly TransportName[] = ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"];

type OwnWebSocket = WebSocketConstructor | undefined;

/** What `wanted` names and there is here, in its order; without it what there is. */
export function available(wanted: readonly TransportName[] | undefined, WebSocket: OwnWebSocket): TransportName[] {
  for (const name of wanted ?? []) {
    if (!NAMES.includes(name)) throw failure("invalid-transport", "own", `there is no transport "${String(name)}"`);
  }
  // Programs that are no page have WebSocket, unless they ask for more: nothing they meet blocks it.
  const names = wanted ?? (isPage() ? NAMES : (["websocket"] as const));
  return [...new Set(names)].filter((name) => isHere(name, WebSocket));
}

function isPage(): boolean {
  return (
    typeof document !== "undefined" ||
    typeof (globalThis as { WorkerGlobalScope?: unknown }).WorkerGlobalScope === "function"
  );
}

function isHere(name: TransportName, WebSocket: OwnWebSocket): boolean {
  switch (name) {
    case "webtransport":
      // Browsers have it in secure contexts only; some say so, others fail.
      return typeof WebTransport === "function" && isSecureContext;
    case "websocket":
      return socket(WebSocket) !== undefined;
    case "iframe":
      return typeof document !== "undefined";
    default:
      return typeof fetch === "function";
  }
}

function socket(own: OwnWebSocket): OwnWebSocket {
  return own ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
}

/** Opens links to one server. */
export class Opener {
  readonly #hold: Hold;

  constructor(
    readonly server: URL,
    readonly WebSocket: OwnWebSocket,
  ) {
    this.#hold = new Hold(server.host);
  }

  open(name: TransportName, events: LinkEvents): Link {
    if (name === "webtransport") return new WebTransportLink(this.server, events);
    const WebSocket = name === "websocket" && socket(this.WebSocket);
    if (WebSocket) return new WebSocketLink(WebSocket, socketDoor(this.server), events);
    return new LazyLink(
      (events) => http().then((it) => it.openCarrier(name as HttpName, this.server, this.#hold, events)),
      events,
    );
  }
}

/** Loads what opens the other transports: when one is wanted, the way to it may be blocked. */
export function prepare(): void {
  http().catch(() => {});
}

function http(): Promise<typeof import("./http.js")> {
  return import("./http.js");
}

/** A link whose code is still being loaded. */
class LazyLink implements Link {
  #link: Link | undefined;
  #isClosed = false;

  constructor(open: (events: LinkEvents) => Promise<Link>, events: LinkEvents) {
    open(events).then(
      (link) => {
        this.#link = link;
        if (this.#isClosed) link.close();
      },
      () => this.#isClosed || events.closed("could not be loaded"),
    );
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#link?.send(packet);
  }

  sendDatagram(packet: Uint8Array<ArrayBuffer>): void {
    this.#link?.sendDatagram(packet);
  }

  release(goes: boolean): void {
    this.#link?.release(goes);
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.close();
  }
}
