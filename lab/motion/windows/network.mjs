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

  /** Starts the server. It takes pages of this origin; those from `page` unless stated. */
  static async start(origin) {
    const { GROUPWIRE_LAB_SERVERS: servers, GROUPWIRE_BINARY: binary } = process.env;
    if (!servers || !binary) throw new Error("run this by groupwire-lab emulate (lab/README.md)");
    const network = new Network();
    network.#servers = servers.split(" ");
    network.#input = createInterface({ input: process.stdin });
    network.#input.on("line", (line) => network.#answers.shift()?.(line));
    await network.#serve(binary, origin ?? network.page);
    return network;
  }

  /** Where a client finds the server. */
  server(client) {
    return `http://${this.#servers[client]}:${PORT}`;
  }

  /**
   * Gives a client this path, in both directions: `delay`, `jitter` and `queue` in ms, `kbit` is a
   * rate. Its counts begin anew.
   */
  path(client, { delay, loss, ...limits }) {
    const words = Object.entries(limits).map(([name, value]) => ` ${name}=${value}`);
    return this.#order(`path ${client} ${delay} ${loss}${words.join("")}`);
  }

  /** The bytes of a client's path since it was given: towards the server, and back. */
  async count(client) {
    const [, up, down] = (await this.#order(`count ${client}`)).split(" ");
    return { up: Number(up), down: Number(down) };
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
    if (!said.startsWith("done")) throw new Error(`${order}: ${said}`);
    return said;
  }

  async #serve(binary, origin) {
    const listen = ["--listen", `0.0.0.0:${PORT}`, "--origin", origin];
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
