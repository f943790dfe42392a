/** The addresses of a server's entry points. */

import { checkText } from "./arguments.js";
import { failure, shown } from "./errors.js";

/** A server's address as http or https, without a fragment. Relative addresses and those of WebSockets are accepted. */
export function serverOf(server: string | URL): URL {
  const text = written(server);
  const base = typeof location === "undefined" ? undefined : location.href;
  if (lacksScheme(text)) throw wrong(`"${text}" has no scheme: write "${isLocal(text) ? "http" : "https"}://${text}"`);
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw wrong(`${shown(text)} is not the address of a server, such as wss://example.com`);
  }
  const scheme = { "http:": "http:", "https:": "https:", "ws:": "http:", "wss:": "https:" }[url.protocol];
  if (!scheme) throw wrong(`"${url.href}" is neither of ws, wss, http, https`);
  url.protocol = scheme;
  url.hash = "";
  return url;
}

function wrong(message: string): Error {
  return failure("invalid-url", "own", message);
}

/** True for `localhost:8080`, `example.com` or `10.0.0.1/app`: what people mean by that is a host, not a scheme or a relative path. */
function lacksScheme(text: string): boolean {
  return /^(localhost|\d+(\.\d+){3}|[\w.-]+\.[a-z]{2,})(:\d*)?([/?#]|$)|^[\w-]+:\d/i.test(text);
}

/** Hosts of the developer's own machine and network, which rarely have certificates. */
function isLocal(text: string): boolean {
  return /^([\w-]+(:|\/|$)|127\.|10\.|192\.168\.)/.test(text);
}

/** The text of an address: a `URL`, whose class may be that of another window, or `location` has one, too. */
function written(server: unknown): string {
  const text = typeof server === "object" && server !== null ? (server as Partial<URL>).href : server;
  if (typeof text !== "string") throw wrong(`\`url\` of \`connect\` must be an address, not ${shown(server)}`);
  checkText(text, "`url` of `connect`");
  return text;
}

/** The address of `path` below the server's address; the query is kept. */
export function door(server: URL, path: string): string {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
  return url.href;
}

/** The address of the server's WebSocket. */
export function socketDoor(server: URL): string {
  return door(server, "ws").replace(/^http/, "ws");
}
