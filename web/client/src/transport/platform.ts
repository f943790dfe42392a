/** The transports that this platform has, and how each is opened. */

import type { Problem, TransportName, WebSocketConstructor } from "../api.js";
import { socketDoor } from "../door.js";
import { failure } from "../errors.js";
import { Hold } from "./hold.js";
import type { HttpName } from "./http.js";
import type { Link, LinkEvents } from "./link.js";
import { WebSocketLink } from "./websocket.js";
import { WebTransportLink } from "./webtransport.js";

/** All transports, best first. */
export const NAMES: readonly TransportName[] = ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"];

/** The transport that comes first in WebKit, and that is the only one outside of a page. */
const SOCKET: readonly TransportName[] = ["websocket"];

type OwnWebSocket = WebSocketConstructor | undefined;

/**
 * The transports of `wanted` that the platform has, in the same order. Without `wanted`, the
 * default ones.
 */
export function available(wanted: readonly TransportName[] | undefined, WebSocket: OwnWebSocket): TransportName[] {
  for (const name of wanted ?? []) {
    if (!NAMES.includes(name)) throw failure("invalid-transport", "own", `there is no transport "${String(name)}"`);
  }
  // Outside of a page nothing blocks WebSockets, so other transports are used only on request.
  const names = wanted ?? (!isPage() ? SOCKET : isWebKit() ? [...SOCKET, ...NAMES] : NAMES);
  return [...new Set(names)].filter((name) => isHere(name, WebSocket));
}

/** True in a page of a browser, and in its workers. */
export function isPage(): boolean {
  return (
    typeof document !== "undefined" ||
    typeof (globalThis as { WorkerGlobalScope?: unknown }).WorkerGlobalScope === "function"
  );
}

/**
 * Safari, WebKitGTK, and all browsers on iOS; Chromium claims to be WebKit, too. Their WebTransport
 * stalls after some megabytes, when flow control gives no new credit (WebKit bug 319818), and drops
 * datagrams that arrive together (321176).
 */
function isWebKit(): boolean {
  return /AppleWebKit(?!.*Chrome)/.test(globalThis.navigator?.userAgent);
}

function isHere(name: TransportName, WebSocket: OwnWebSocket): boolean {
  switch (name) {
    case "webtransport":
      // Browsers offer it in secure contexts only: some hide it elsewhere, in others it fails.
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

/** Opens links to one server, and to those that have its rooms. */
export class Opener {
  readonly #hold: Hold;

  constructor(
    readonly server: URL,
    readonly WebSocket: OwnWebSocket,
  ) {
    this.#hold = new Hold(server.host);
  }

  /** Finds out why no transport opens. Never rejects. */
  async diagnose(tried: string, before: Problem | undefined): Promise<Problem> {
    try {
      return await (await diagnosis()).diagnose(this.server, tried, before);
    } catch {
      // The code for it comes from a server that most likely does not answer, either.
      return { code: "unreachable", message: `Nothing answers at ${this.server.origin}.` };
    }
  }

  open(name: TransportName, events: LinkEvents, owner: URL | undefined): Link {
    const server = owner ?? this.server;
    if (name === "webtransport") return new WebTransportLink(server, events);
    const WebSocket = name === "websocket" && socket(this.WebSocket);
    if (WebSocket) return new WebSocketLink(WebSocket, socketDoor(server), events);
    const hold = owner ? new Hold(owner.host) : this.#hold;
    return new LazyLink(
      (events) => http().then((it) => it.openCarrier(name as HttpName, server, hold, events)),
      events,
    );
  }
}

/**
 * Loads the code of the HTTP transports and of the diagnosis early, because the network may be
 * blocked when they are needed.
 */
export function prepare(): void {
  http().catch(() => {});
  diagnosis().catch(() => {});
}

function diagnosis(): Promise<typeof import("./diagnose.js")> {
  return import("./diagnose.js");
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

  release(pageCloses: boolean): void {
    this.#link?.release(pageCloses);
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.close();
  }
}
