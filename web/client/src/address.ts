/** The addresses of a server's entry points. */

import { failure } from "./errors.js";

/** A server's address as http or https, without a fragment. Relative addresses and those of WebSockets are accepted. */
export function serverOf(server: string | URL): URL {
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
  const scheme = { "http:": "http:", "https:": "https:", "ws:": "http:", "wss:": "https:" }[url.protocol];
  if (!scheme) throw failure("invalid-url", "own", `"${url.href}" is neither of ws, wss, http, https`);
  url.protocol = scheme;
  url.hash = "";
  return url;
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
