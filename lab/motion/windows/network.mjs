// The emulated network that this program runs in, and a Groupwire server in it.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** No other program is in the namespace, so all ports are free. */
const PORT = 8080;
const STARTING_MS = 20_000;

export class Network {
  #server;
  #servers;
  #answers = [];
  #input;
  /**
   * Where the pages are loaded from, beside the network: pages from loopback may use WebTransport
   * without a certificate of an authority.
   */
  page = `http://127.0.0.1:${PORT}`;

  static async start() {
    const { GROUPWIRE_LAB_SERVERS: servers, GROUPWIRE_BINARY: binary } = process.env;
    if (!servers || !binary) throw new Error("run this by groupwire-lab emulate (lab/README.md)");
    const network = new Network();
    network.#servers = servers.split(" ");
    network.#input = createInterface({ input: process.stdin });
    network.#input.on("line", (line) => network.#answers.shift()?.(line));
    await network.#serve(binary);
    return network;
  }

  /** Where a client finds the server. */
  server(client) {
    return `http://${this.#servers[client]}:${PORT}`;
  }

  /** Gives a client this path, in both directions. */
  path(client, { delay, loss }) {
    return this.#order(`path ${client} ${delay} ${loss}`);
  }

  /** Gives a client another address, or its first one again. */
  move(client) {
    return this.#order(`move ${client}`);
  }

  stop() {
    this.#server.kill();
    this.#input.close();
    process.stdin.unref?.();
  }

  async #order(order) {
    const answer = new Promise((resolve) => this.#answers.push(resolve));
    process.stdout.write(`network ${order}\n`);
    const said = await answer;
    if (said !== "done") throw new Error(`${order}: ${said}`);
  }

  async #serve(binary) {
    const listen = ["--listen", `0.0.0.0:${PORT}`, "--origin", this.page];
    const stdio = ["ignore", "pipe", "inherit"];
    this.#server = spawn(binary, ["serve", "--no-admin", "--log", "error", ...listen], { stdio });
    process.on("exit", () => this.#server.kill("SIGKILL"));
    await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("the server did not start")), STARTING_MS);
      this.#server.once("error", reject);
      this.#server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
      this.#server.stdout.once("data", () => resolve(clearTimeout(late)));
    });
  }
}
