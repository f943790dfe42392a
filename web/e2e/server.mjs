// A Groupwire server as a child process: the binary named by GROUPWIRE_BINARY.

import { spawn } from "node:child_process";
import { once } from "node:events";

/** Long enough for a debug build on a busy machine. */
const START_MS = 60_000;

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

export class Server {
  #child;
  #options;
  /**
   * `http://127.0.0.1:PORT`, or `https://` with a certificate; the port stays the same over
   * restarts.
   */
  url;

  /**
   * The address of the inspector's page, with the token of the administration; it differs after
   * each restart.
   */
  inspector = "";

  /** Starts a server. `options` are added to those of `groupwire serve`. */
  static start(...options) {
    return Server.startAt(0, ...options);
  }

  /** Starts a server at a port of 127.0.0.1; 0 is any free one. */
  static startAt(port, ...options) {
    return Server.startOn(`127.0.0.1:${port}`, ...options);
  }

  /** Starts a server on a host and port. */
  static async startOn(address, ...options) {
    const server = new Server();
    server.url = `http://${address}`;
    server.#options = options;
    await server.restart();
    return server;
  }

  /** Starts the server again on its port; the first time on any free port. */
  async restart() {
    const binary = process.env.GROUPWIRE_BINARY;
    if (!binary) throw new Error("set GROUPWIRE_BINARY to the groupwire command");
    const { host } = new URL(this.url);
    this.#child = spawn(binary, ["serve", "--listen", host, "--log", "warn", ...this.#options], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.add(this.#child);
    const said = await announced(this.#child);
    this.url = ANYWHERE.exec(said)[0];
    this.inspector = INSPECTOR.exec(said)[0];
  }

  /** Stops the server in the middle of what it does, until `resume`. */
  pause() {
    this.#child.kill("SIGSTOP");
  }

  resume() {
    this.#child.kill("SIGCONT");
  }

  /** Kills the server without a chance to say goodbye or to save. */
  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
    children.delete(this.#child);
  }
}

const ANYWHERE = /https?:\/\/[^/\s]+/;
const INSPECTOR = /http:\/\/[^/\s]+\/inspector\/\S*(?=\n)/;

/** Resolves with the addresses that the server prints when it is reachable. */
function announced(child) {
  return new Promise((resolve, reject) => {
    let said = "";
    const late = setTimeout(() => reject(new Error(`the server did not start: ${said}`)), START_MS);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.stdout.on("data", (data) => {
      said += data;
      if (!INSPECTOR.test(said)) return;
      clearTimeout(late);
      resolve(said);
    });
  });
}
