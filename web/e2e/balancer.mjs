// A balancer in front of the servers of a cluster, as those of layer 4 are: it passes TCP and UDP
// on without looking into them, and asks each server whether it is ready. The servers listen at
// the balancer's own port number, each at an address of its own.

import { createSocket } from "node:dgram";
import { request } from "node:https";
import { createConnection, createServer } from "node:net";
import { freePort } from "../../scripts/ports.mjs";

const HOST = "127.0.0.1";

/** Milliseconds between two questions to a server, as docs/cluster.md advises. */
const INTERVAL_MS = 1000;

export class Balancer {
  #tcp = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  #udp = createSocket("udp4");
  #sockets = new Set();
  /** For each UDP port of a browser, the socket that passes its packets on to one server. */
  #flows = new Map();
  #asking;
  /** The addresses of the servers; the first one that is ready gets what is new. */
  #servers = [];
  #ready = new Set();
  /** True refuses what is new, as while no server is known to be ready. */
  isClosed = false;

  static async start() {
    const balancer = new Balancer();
    // The servers listen at the same port of other addresses.
    const port = await freePort();
    await new Promise((resolve) => balancer.#tcp.listen(port, HOST, resolve));
    balancer.port = port;
    balancer.url = `https://${HOST}:${balancer.port}`;
    balancer.#udp.on("message", (data, from) => balancer.#pass(data, from));
    await new Promise((resolve) => balancer.#udp.bind(balancer.port, HOST, resolve));
    return balancer;
  }

  /** Passes on to these servers from now on. */
  async serve(servers) {
    this.#servers = servers;
    await this.#ask();
    this.#asking ??= setInterval(() => this.#ask(), INTERVAL_MS);
  }

  close() {
    clearInterval(this.#asking);
    this.#sockets.forEach((socket) => socket.destroy());
    this.#tcp.close();
    this.#udp.close();
    this.#flows.forEach((socket) => socket.close());
  }

  #ask() {
    const asked = this.#servers.map(async (host) => {
      if (await isReady(host, this.port)) this.#ready.add(host);
      else this.#ready.delete(host);
    });
    return Promise.all(asked);
  }

  #first() {
    return this.isClosed ? undefined : this.#servers.find((host) => this.#ready.has(host));
  }

  #accept(socket) {
    const host = this.#first();
    if (!host) return socket.destroy();
    const server = createConnection({ host, port: this.port, allowHalfOpen: true });
    // A server that refuses a connection is not ready any more.
    server.once("error", () => this.#ready.delete(host));
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ]) {
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }

  /** A flow stays with its server, even if that dies. */
  #pass(data, { address, port }) {
    const key = `${address}:${port}`;
    let flow = this.#flows.get(key);
    if (!flow) {
      const host = this.#first();
      if (!host) return;
      flow = createSocket("udp4");
      flow.on("message", (data) => this.#udp.send(data, port, address));
      // The server is dead, so the packet is lost.
      flow.on("error", () => {});
      flow.connect(this.port, host);
      this.#flows.set(key, flow);
    }
    try {
      flow.send(data);
    } catch {
      // The socket of the flow is not connected yet. QUIC repeats the packet.
    }
  }
}

async function isReady(host, port) {
  const { status } = await ask(host, port, "/readyz").catch(() => ({}));
  return status === 200;
}

/** Asks a server, whose certificate only browsers know. */
export function ask(host, port, path) {
  return new Promise((resolve, reject) => {
    const options = { host, port, path, rejectUnauthorized: false, timeout: INTERVAL_MS, agent: false };
    const asking = request(options, async (answer) => {
      const parts = await answer.toArray().catch(reject);
      resolve({ status: answer.statusCode, text: Buffer.concat(parts ?? []).toString() });
    });
    asking.on("timeout", () => asking.destroy());
    asking.on("error", reject);
    asking.end();
  });
}
