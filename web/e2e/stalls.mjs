// A TCP proxy over a lossy network: data behind a lost packet waits until that packet has been sent
// again.

import { createConnection, createServer } from "node:net";

/**
 * The wait for a lost packet (ms): Linux' shortest one before it sends a packet again
 * (TCP_RTO_MIN).
 */
const AGAIN_MS = 200;

export class LossyProxy {
  #listener;
  #sockets = new Set();
  lost = 0;

  /**
   * A proxy to this server. `next` returns a number from 0 to 1 for each chunk; the chunk is lost
   * if the number is below `loss`.
   */
  static async to(server, loss, next) {
    const proxy = new LossyProxy();
    const { hostname, port } = new URL(server.url);
    proxy.#listener = createServer((socket) => {
      const upstream = createConnection(Number(port), hostname);
      proxy.#forward(socket, upstream, loss, next);
      proxy.#forward(upstream, socket, loss, next);
    });
    await new Promise((resolve) => proxy.#listener.listen(0, "127.0.0.1", resolve));
    proxy.url = `http://127.0.0.1:${proxy.#listener.address().port}`;
    return proxy;
  }

  close() {
    this.#listener.close();
    this.#sockets.forEach((socket) => socket.destroy());
  }

  #forward(from, to, loss, next) {
    this.#sockets.add(from);
    from.setNoDelay(true);
    let waits = Promise.resolve();
    from.on("data", (data) => {
      const isLost = next() < loss;
      if (isLost) this.lost += 1;
      waits = waits.then(async () => {
        if (isLost) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        if (!to.destroyed) to.write(data);
      });
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
