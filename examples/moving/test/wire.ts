/** A TCP proxy in front of a server: the test breaks connections there, and counts their bytes. */

import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";

export class Wire {
  /** `http://127.0.0.1:PORT` of this proxy. */
  url = "";
  /** Bytes that the server has sent through this proxy, without the headers of TCP and IP. */
  received = 0;
  /** False refuses connections. */
  #isOpen = true;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => this.#accept(near));
  #target: { readonly host: string; readonly port: number };

  private constructor(target: string) {
    const { hostname, port } = new URL(target);
    this.#target = { host: hostname, port: Number(port) };
  }

  static async to(target: string): Promise<Wire> {
    const wire = new Wire(target);
    await new Promise<void>((resolve) => wire.#server.listen(0, "127.0.0.1", resolve));
    wire.url = `http://127.0.0.1:${(wire.#server.address() as AddressInfo).port}`;
    return wire;
  }

  /** Breaks all connections, and refuses new ones until `mend`. */
  cut(): void {
    this.#isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #accept(near: Socket): void {
    if (!this.#isOpen) return void near.destroy();
    const far = createConnection(this.#target);
    far.on("data", (data) => (this.received += data.length));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.on("error", () => {});
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
