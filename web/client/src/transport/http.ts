/**
 * The transports over plain HTTP. They are a module of their own, which is loaded only when it is
 * needed.
 */

import type { TransportName } from "../api.js";
import { Carrier } from "./carrier.js";
import type { DownKind } from "./down.js";
import type { Hold } from "./hold.js";
import { iframe } from "./iframe.js";
import type { Link, LinkEvents } from "./link.js";
import { longpoll } from "./longpoll.js";
import { multipart } from "./multipart.js";
import { poll } from "./poll.js";

export type HttpName = Exclude<TransportName, "webtransport" | "websocket">;

const KINDS: Readonly<Record<HttpName, DownKind>> = { multipart, iframe, longpoll, poll };

export function openCarrier(name: HttpName, server: URL, hold: Hold, events: LinkEvents): Link {
  return new Carrier(server, KINDS[name], name === "poll" ? undefined : hold, events);
}
