// A page with a demonstration or the playground of web/demos, in a real browser.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { newContext } from "./window.mjs";

const DIST = fileURLToPath(new URL("../demos/dist/", import.meta.url));
const TYPES = {
  ".js": "text/javascript",
  ".html": "text/html",
  ".wasm": "application/wasm",
  ".lzma": "application/x-lzma",
};

/** A page with one element, on a page that has no style of its own. */
const page = (element) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Demonstration</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>:root { color-scheme: light dark } body { margin: 12px }</style></head>
<body><main><h1>Demonstration</h1>${element}</main><script type="module" src="/demos.js"></script></body></html>`;

/**
 * Serves what was built, compressed by gzip as by any web server. `/element?…` is a page with one
 * element.
 */
export async function serve() {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

async function answer({ url }, response) {
  const { pathname, searchParams } = new URL(url, "http://here");
  try {
    const file = pathname === "/" ? "/index.html" : pathname;
    const body = file === "/element" ? page(searchParams.get("html")) : await readFile(DIST + file.slice(1));
    const type = TYPES[extname(file)] ?? "text/html";
    // LZMA is packed already.
    const isPacked = extname(file) === ".lzma";
    response.writeHead(200, { "content-type": type, ...(isPacked ? {} : { "content-encoding": "gzip" }) });
    response.end(isPacked ? body : gzipSync(body, { level: 9 }));
  } catch {
    response.writeHead(404).end();
  }
}

/** A window of the page with this element. */
export class DemoPage {
  /** Uncaught errors of the page, of which there must be none. */
  errors = [];
  /** Bytes that the browser has received, with the headers of responses. */
  received = 0;
  /** The paths of what it has requested. */
  requested = [];

  /** `before` is called with the page before it loads. */
  static async open(browser, address, html, { before, ...options } = {}) {
    const opened = new DemoPage();
    opened.context = await newContext(browser, { viewport: { width: 1100, height: 900 }, ...options });
    opened.page = await opened.context.newPage();
    opened.page.on("pageerror", (error) => opened.errors.push(String(error)));
    const session = await opened.context.newCDPSession(opened.page);
    await session.send("Network.enable");
    session.on("Network.requestWillBeSent", ({ request }) => opened.requested.push(new URL(request.url).pathname));
    session.on("Network.loadingFinished", ({ encodedDataLength }) => (opened.received += encodedDataLength));
    await before?.(opened.page);
    await opened.page.goto(`${address}/element?${new URLSearchParams({ html })}`);
    return opened;
  }

  /** The window of a person in the demonstration. */
  person(name) {
    return this.page.getByRole("article", { name: `${name}'s window` });
  }

  close() {
    return this.context.close();
  }
}
