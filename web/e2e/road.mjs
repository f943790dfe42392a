// A road to the server that can be blocked: TCP and UDP on the server's own port number, at another loopback address.

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

/** What a proxy that buffers keeps back of a response that is not over. */
const BUFFERED_MS = 5000;

export class Road {
  #port;
  #http;
  #udp;
  #agent = new Agent({ keepAlive: true });
  #sockets = new Set();
  /** Of each of the browser's UDP ports, the socket that speaks for it. */
  #clients = new Map();
  /** Whether UDP comes through. */
  udp = true;
  /** Whether TCP comes through; if not, connections are refused. */
  tcp = true;
  /** Whether WebSockets are let through. */
  websocket = true;
  /** Whether responses come through as they are made; if not, their parts come 5 s late, or when they are over. */
  streams = true;
  /** Paths that are answered with 403. */
  refused = new Set();
  /** How often each path was asked for. */
  counts = {};

  static async to(server) {
    const road = new Road();
    road.#port = Number(new URL(server.url).port);
    road.url = `http://${HOST}:${road.#port}`;
    road.#http = createServer((from, to) => road.#forward(from, to));
    road.#http.on("upgrade", (from, socket, head) => road.#tunnel(from, socket, head));
    road.#http.on("connection", (socket) => road.#accept(socket));
    await new Promise((resolve) => road.#http.listen(road.#port, HOST, resolve));
    road.#udp = createSocket("udp4");
    road.#udp.on("message", (data, from) => road.#carry(data, from));
    await new Promise((resolve) => road.#udp.bind(road.#port, HOST, resolve));
    return road;
  }

  /** Breaks all TCP connections. */
  cut() {
    this.#sockets.forEach((socket) => socket.destroy());
  }

  /** Lifts every block. */
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
    if (this.streams) {
      to.writeHead(answer.statusCode, headers);
      to.flushHeaders();
      return answer.pipe(to);
    }
    let isOver = false;
    const held = [() => to.writeHead(answer.statusCode, headers)];
    const release = () => held.splice(0).forEach((act) => act());
    const later = setTimeout(release, BUFFERED_MS);
    answer.on("data", (data) => {
      held.push(() => to.write(data));
      setTimeout(() => isOver || release(), BUFFERED_MS);
    });
    answer.on("end", () => {
      isOver = true;
      clearTimeout(later);
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

  #carry(data, { address, port }) {
    if (!this.udp) return;
    const key = `${address}:${port}`;
    let socket = this.#clients.get(key);
    if (!socket) {
      socket = createSocket("udp4");
      socket.on("message", (data) => this.udp && this.#udp.send(data, port, address));
      // The server is down: what comes is lost, as on any road.
      socket.on("error", () => {});
      this.#clients.set(key, socket);
    }
    socket.send(data, this.#port, "127.0.0.1");
  }
}

/** `/e2e/page/...` is beside this file, `/e2e/client/...` the package. */
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
