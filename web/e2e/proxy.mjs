// A proxy to the server whose paths can be blocked: TCP and UDP on the server's own port number, at
// another loopback address.

import { createSocket } from "node:dgram";
import { readFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import { createConnection } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const HOST = "127.0.0.2";
const WEB = new URL("../", import.meta.url);
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** The delay (ms) of a buffering proxy for the parts of a response that is not complete. */
const BUFFERED_MS = 5000;

export class NetworkProxy {
  #port;
  #http;
  #udp;
  #agent = new Agent({ keepAlive: true });
  #sockets = new Set();
  /** For each UDP port of the browser, the socket that forwards its packets to the server. */
  #clients = new Map();
  /** False blocks UDP. */
  udp = true;
  /** False refuses TCP connections. */
  tcp = true;
  /** False refuses WebSockets. */
  websocket = true;
  /**
   * False buffers responses: their parts are delivered 5 s late, or when the response is complete.
   */
  streams = true;
  /** Paths that are answered with 403. */
  refused = new Set();
  /** The number of requests for each path. */
  counts = {};

  static async to(server) {
    const proxy = new NetworkProxy();
    proxy.#port = Number(new URL(server.url).port);
    proxy.url = `http://${HOST}:${proxy.#port}`;
    proxy.#http = createServer((from, to) => proxy.#forward(from, to));
    proxy.#http.on("upgrade", (from, socket, head) => proxy.#tunnel(from, socket, head));
    proxy.#http.on("connection", (socket) => proxy.#accept(socket));
    await new Promise((resolve) => proxy.#http.listen(proxy.#port, HOST, resolve));
    proxy.#udp = createSocket("udp4");
    proxy.#udp.on("message", (data, from) => proxy.#forwardDatagram(data, from));
    await new Promise((resolve) => proxy.#udp.bind(proxy.#port, HOST, resolve));
    return proxy;
  }

  /** Breaks all TCP connections. */
  cut() {
    this.#sockets.forEach((socket) => socket.destroy());
  }

  /** Removes all blocks. */
  open() {
    Object.assign(this, { udp: true, tcp: true, websocket: true, streams: true });
    this.refused.clear();
  }

  close() {
    this.cut();
    this.#http.close();
    this.#udp.close();
    this.#agent.destroy();
    this.#clients.forEach((socket) => socket.close());
  }

  #accept(socket) {
    if (!this.tcp) return socket.destroy();
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
  }

  #forward(from, to) {
    const path = from.url.split("?")[0];
    this.counts[path] = (this.counts[path] ?? 0) + 1;
    if (path.startsWith("/e2e/")) return serveFile(path, to);
    if (this.refused.has(path)) return to.writeHead(403).end();
    const { method, url, headers } = from;
    const upstream = request(
      { host: "127.0.0.1", port: this.#port, method, path: url, headers, agent: this.#agent },
      (answer) => this.#answer(answer, to),
    );
    upstream.on("error", () => to.destroy());
    to.on("close", () => upstream.destroy());
    from.pipe(upstream);
  }

  #answer(answer, to) {
    const headers = { ...answer.headers };
    delete headers["transfer-encoding"];
    delete headers.connection;
    answer.on("error", () => to.destroy());
    const held = [];
    const release = () => held.splice(0).forEach((act) => act());
    const hold = (act) => {
      if (this.streams && held.length === 0) return act();
      held.push(act);
      setTimeout(release, BUFFERED_MS);
    };
    hold(() => {
      to.writeHead(answer.statusCode, headers);
      to.flushHeaders();
    });
    answer.on("data", (data) => hold(() => to.write(data)));
    answer.on("end", () => {
      release();
      to.end();
    });
  }

  #tunnel(from, socket, head) {
    if (!this.websocket) return socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    const upstream = createConnection(this.#port, "127.0.0.1");
    const lines = [`${from.method} ${from.url} HTTP/1.1`];
    for (let i = 0; i < from.rawHeaders.length; i += 2) lines.push(`${from.rawHeaders[i]}: ${from.rawHeaders[i + 1]}`);
    upstream.write(`${lines.join("\r\n")}\r\n\r\n`);
    upstream.write(head);
    // If the server refuses the upgrade, the connection is closed. If it stayed open, the browser
    // could send further requests over it, which this proxy would not check.
    upstream.once("data", (answer) => answer.toString("latin1").startsWith("HTTP/1.1 101") || socket.end(answer));
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ]) {
      one.setNoDelay(true);
      one.on("error", () => {});
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  }

  #forwardDatagram(data, { address, port }) {
    if (!this.udp) return;
    const key = `${address}:${port}`;
    let socket = this.#clients.get(key);
    if (!socket) {
      socket = createSocket("udp4");
      socket.on("message", (data) => this.udp && this.#udp.send(data, port, address));
      // The server is down, so the packet is lost.
      socket.on("error", () => {});
      this.#clients.set(key, socket);
    }
    socket.send(data, this.#port, "127.0.0.1");
  }
}

/** Serves `/e2e/page/...` from this folder and `/e2e/client/...` from the package. */
async function serveFile(path, to) {
  const file = path.startsWith("/e2e/client/") ? path.replace("/e2e/", "") : path.slice(1);
  try {
    const content = await readFile(fileURLToPath(new URL(file, WEB)));
    to.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "text/plain", "Cache-Control": "max-age=3600" });
    to.end(content);
  } catch {
    to.writeHead(404).end();
  }
}
