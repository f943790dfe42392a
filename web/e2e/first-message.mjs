// Measures how long after the start of its navigation a page has the first message of another
// participant, over a slow link and over loopback. The page is an application of one line, built by
// Vite and served compressed, as `groupwire serve` does.
//
//   GROUPWIRE_BROWSER=... GROUPWIRE_BINARY=... node --experimental-websocket e2e/first-message.mjs [CLIENT] [RUNS]
//
// CLIENT is the folder of a built package `groupwire`, such as that of an earlier commit; default:
// web/client.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { createConnection, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";
import { brotli, gzip } from "../../scripts/compress.mjs";
import { Server } from "./server.mjs";
import { pause, until } from "./wait.mjs";
import { launch } from "./window.mjs";

/** A usual profile of a slow mobile link: bytes per millisecond, and milliseconds each way. */
const SLOW = { rate: 1_600 / 8, delay: 75 };
const SEGMENT = 1460;
/** Bytes that one connection has under way at most. */
const WINDOW = 64 << 10;

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

async function buildPage(client) {
  const script = `import { connect, transaction } from ${JSON.stringify(`${client}/dist/index.js`)};
    const room = connect(location.origin, "first", { transports: ["websocket"] });
    room.channel("draw", transaction()).on("message", () => (window.message ??= performance.now()));
    const look = setInterval(() => {
      if (!window.message || room.stats.plain !== undefined) return;
      clearInterval(look);
      window.complete = performance.now();
    }, 5);`;
  await writeFile(join(folder, "main.js"), script);
  await writeFile(join(folder, "index.html"), `<!doctype html><script type="module" src="./main.js"></script>`);
  const outDir = join(folder, "dist");
  await build({ root: folder, base: "./", logLevel: "error", build: { outDir, assetsInlineLimit: 0 } });
  return outDir;
}

/**
 * Serves the files of a folder, compressed, and passes WebSockets on to the server. Returns the
 * port.
 */
async function servePages(dist, server) {
  const http = createServer(async (from, to) => {
    const path = from.url === "/" ? "/index.html" : new URL(from.url, "http://page").pathname;
    const bytes = await readFile(join(dist, path)).catch(() => undefined);
    if (!bytes) return to.writeHead(404).end();
    const smallest = /\bbr\b/.test(from.headers["accept-encoding"]) ? brotli(bytes) : undefined;
    const encoding = smallest ? "br" : "gzip";
    const headers = { "content-type": TYPES[extname(path)], "content-encoding": encoding, "cache-control": "no-store" };
    to.writeHead(200, headers).end(smallest ?? gzip(bytes));
  });
  http.on("upgrade", (from, socket) => {
    const to = request(new URL(from.url, server), {
      headers: { ...from.headers, host: new URL(server).host, origin: server },
    });
    to.on("upgrade", ({ rawHeaders }, other) => {
      const lines = Array.from(
        { length: rawHeaders.length / 2 },
        (_, i) => `${rawHeaders[i * 2]}: ${rawHeaders[i * 2 + 1]}`,
      );
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      other.pipe(socket).pipe(other);
      for (const end of [socket, other]) end.on("error", () => [socket, other].forEach((each) => each.destroy()));
    });
    to.on("error", () => socket.destroy());
    to.end();
  });
  await new Promise((listening) => http.listen(0, "127.0.0.1", listening));
  return http.address().port;
}

/**
 * A slow link to a port: its connections share the rate and take turns by segment. Returns the port
 * of its near end.
 */
async function shape(port, { rate, delay }) {
  const ways = [new Way(rate, delay), new Way(rate, delay)];
  const near = createTcpServer({ noDelay: true }, async (socket) => {
    socket.on("error", () => {});
    // The handshake takes a round trip.
    await pause(2 * delay);
    const other = createConnection({ port, host: "127.0.0.1", noDelay: true });
    other.on("error", () => {});
    ways[0].carry(socket, other);
    ways[1].carry(other, socket);
  });
  await new Promise((listening) => near.listen(0, "127.0.0.1", listening));
  return near.address().port;
}

class Way {
  #queues = [];
  #isBusy = false;

  constructor(rate, delay) {
    this.rate = rate;
    this.delay = delay;
  }

  carry(from, to) {
    const queue = { from, to, waiting: Buffer.alloc(0), underWay: 0 };
    from.on("data", (data) => {
      queue.waiting = Buffer.concat([queue.waiting, data]);
      if (queue.waiting.length + queue.underWay >= WINDOW) from.pause();
      if (!this.#queues.includes(queue)) this.#queues.push(queue);
      void this.#send();
    });
    from.on("close", () => to.destroy());
  }

  async #send() {
    if (this.#isBusy) return;
    this.#isBusy = true;
    let free = performance.now();
    for (let queue; (queue = this.#queues.shift());) {
      const size = this.rate === Infinity ? queue.waiting.length : SEGMENT;
      const segment = queue.waiting.subarray(0, size);
      queue.waiting = queue.waiting.subarray(segment.length);
      if (queue.waiting.length > 0) this.#queues.push(queue);
      free = Math.max(free, performance.now() - 20) + segment.length / this.rate;
      if (free > performance.now() + 1) await pause(free - performance.now());
      queue.underWay += segment.length;
      const arrive = () => {
        queue.underWay -= segment.length;
        queue.to.write(segment);
        if (queue.waiting.length + queue.underWay < WINDOW) queue.from.resume();
      };
      if (this.delay > 0) setTimeout(arrive, this.delay);
      else arrive();
    }
    this.#isBusy = false;
  }
}

/** Another participant, who sends a message every 10 ms. */
async function talk(client) {
  const { connect, transaction } = await import(pathToFileURL(`${client}/dist/index.js`));
  const wasm = await readFile(`${client}/wasm/groupwire_wasm_bg.wasm`);
  const room = connect(server.url, "first", { wasm });
  const draw = room.channel("draw", transaction());
  await until("joined", () => room.status === "connected");
  room.provideSnapshot(() => "so far");
  let count = 0;
  const timer = setInterval(() => draw.send(`message ${count++}`), 10);
  return { leave: () => (clearInterval(timer), room.leave()) };
}

/** The times of one visit with an empty cache, in whole milliseconds. */
async function measure(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => window.complete, undefined, { polling: 20, timeout: 30_000 });
  const times = await page.evaluate(() => ({
    message: Math.round(window.message),
    complete: Math.round(window.complete),
  }));
  await context.close();
  return times;
}

const [client = fileURLToPath(new URL("../client", import.meta.url)), runs = "7"] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "first-message-"));
const [browser, server] = await Promise.all([launch(), Server.start()]);
try {
  const pages = await servePages(await buildPage(resolve(client)), server.url);
  const talker = await talk(resolve(client));
  for (const [name, link] of Object.entries({ slow: SLOW, loopback: { rate: Infinity, delay: 0 } })) {
    const port = await shape(pages, link);
    const results = [];
    for (let run = 0; run < Number(runs); run++) results.push(await measure(`http://127.0.0.1:${port}/`));
    for (const what of ["message", "complete"]) {
      const times = results.map((result) => result[what]).sort((a, b) => a - b);
      console.log(
        JSON.stringify({ link: name, what, median: times[times.length >> 1], least: times[0], most: times.at(-1) }),
      );
    }
  }
  talker.leave();
} finally {
  await browser.close();
  await server.kill();
  await rm(folder, { recursive: true });
}
process.exit();
