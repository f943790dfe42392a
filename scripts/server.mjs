// A server for programs under test, from the groupwire command.

import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The server starts within a second; a busy machine takes longer. */
const START_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), "groupwire-server-"));
const children = new Set();
let logs = 0;
process.on("exit", () => {
  children.forEach((child) => child.kill("SIGKILL"));
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Starts `groupwire serve` with these options, and waits until it listens. It writes into a file: a
 * pipe would fill up while the caller waits for a program.
 */
export async function startServer(binary, options = [], listen = "127.0.0.1:0") {
  const log = join(folder, `${(logs += 1)}.log`);
  const file = openSync(log, "w");
  const child = spawn(binary, ["serve", "--listen", listen, ...options], { stdio: ["ignore", file, file] });
  closeSync(file);
  children.add(child);
  const server = new RunningServer(child, log);
  let failed;
  child.once("error", ({ message }) => (failed = message));
  for (const end = Date.now() + START_MS; Date.now() < end && !failed && server.isRunning; await sleep(20)) {
    server.address = /http:\/\/(127\.0\.0\.1:\d+)/.exec(server.log())?.[1];
    if (server.address) return server;
  }
  child.kill("SIGKILL");
  throw new Error(`the server did not start (${failed ?? server.state}): ${server.log()}`);
}

class RunningServer {
  #child;
  #file;
  /** Its host and port. */
  address;

  constructor(child, file) {
    this.#child = child;
    this.#file = file;
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** "runs", or the code or signal with which it ended. */
  get state() {
    return this.#child.exitCode ?? this.#child.signalCode ?? "runs";
  }

  /** The output of the server so far. */
  log() {
    return readFileSync(this.#file, "utf8");
  }

  /** Kills it as a crash does, and waits for its end. */
  async kill() {
    if (!this.isRunning) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
    children.delete(this.#child);
  }
}
