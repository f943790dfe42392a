// A server of its own for a scenario, or one for many; and a way to it that can be cut.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../scripts/server.mjs";
import { Tokens } from "../../scripts/tokens.mjs";

export class Server {
  #binary;
  #options = ["--no-webtransport"];
  #running;
  #folder = mkdtempSync(join(tmpdir(), "groupwire-conformance-"));
  /** Makes tokens that this server takes; undefined if it asks for none. */
  tokens;
  port = 0;

  /** `durable`: rooms are stored. `tokens`: who joins needs a token. */
  constructor(binary, { durable = false, tokens = false } = {}) {
    this.#binary = binary;
    if (durable) this.#options.push("--data", join(this.#folder, "data"));
    if (!tokens) return;
    this.tokens = new Tokens(binary, join(this.#folder, "keys.json"));
    this.#options.push(...this.tokens.options);
  }

  async start() {
    this.#running = await startServer(this.#binary, this.#options);
    this.port = Number(new URL(`http://${this.#running.address}`).port);
  }

  /** Kills it as a crash does, and waits for its end. */
  async kill() {
    await this.#running?.kill();
  }

  async remove() {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The way of one participant to a server. */
export class Path {
  #server;
  #sockets = new Set();
  #isCut = false;
  #listener = createServer((socket) => this.#accept(socket));
  url = "";

  constructor(server) {
    this.#server = server;
  }

  async open() {
    await new Promise((resolve) => this.#listener.listen(0, "127.0.0.1", resolve));
    this.url = `ws://127.0.0.1:${this.#listener.address().port}`;
  }

  /** Breaks the connections, and lets no others through until `mend`. */
  cut() {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend() {
    this.#isCut = false;
  }

  close() {
    this.cut();
    this.#listener.close();
  }

  #accept(socket) {
    // The port of a server that was started again is another one.
    const ends = [socket, ...(this.#isCut ? [] : [connect(this.#server.port, "127.0.0.1")])];
    const destroy = () => ends.forEach((end) => end.destroy());
    for (const end of ends) {
      this.#sockets.add(end);
      end.on("error", destroy);
      end.on("close", () => {
        this.#sockets.delete(end);
        destroy();
      });
    }
    if (ends.length === 1) return destroy();
    socket.pipe(ends[1]).pipe(socket);
  }
}
