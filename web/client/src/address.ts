/** The address of a server. */

import { check } from "./arguments.js";
import { failure, shown } from "./errors.js";

/** The longest address in bytes. Servers refuse longer ones. */
const LONGEST = 8192;

/**
 * A server's address as http or https, without a fragment. Relative addresses and those of
 * WebSockets are accepted.
 */
export function serverOf(server: string | URL): URL {
  const base = typeof location === "undefined" ? undefined : location.href;
  // A `URL`, whose class may be that of another window, or `location`.
  const given: unknown = (server as Partial<URL> | null | undefined)?.href ?? server;
  check(given, LONGEST, "`url` of `connect`");
  const text = given as string;
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

/**
 * True for `localhost:8080`, `example.com` or `10.0.0.1/app`: what people mean by that is a host,
 * not a scheme or a relative path.
 */
function lacksScheme(text: string): boolean {
  return /^(localhost|\d+(\.\d+){3}|[\w.-]+\.[a-z]{2,})(:\d*)?([/?#]|$)|^[\w-]+:\d/i.test(text);
}

/** Hosts of the developer's own machine and network, which rarely have certificates. */
function isLocal(text: string): boolean {
  return /^([\w-]+(:|\/|$)|127\.|10\.|192\.168\.)/.test(text);
}
