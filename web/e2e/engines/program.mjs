// Child processes of the tests: browsers, their drivers and the display.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/** Longer than any of them takes to start on a busy machine. */
const START_MS = 60_000;

/** A program that does not end by itself within this time is killed. */
const ENDING_MS = 3000;

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** True if a program is on the PATH. */
export function isInstalled(name) {
  return spawnSync("sh", ["-c", 'command -v "$1"', "sh", name], { stdio: "ignore" }).status === 0;
}

export class Program {
  #child;
  #name;
  #said = "";

  /**
   * Starts a program with its standard output and error joined. `env` is added to the environment.
   */
  constructor(name, options, env = {}) {
    this.#name = name;
    this.#child = spawn(name, options, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    children.add(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on("data", (data) => (this.#said += data));
  }

  /** Waits until the program has printed what `pattern` matches; returns the match. */
  async printed(pattern) {
    return this.started(() => pattern.exec(this.#said));
  }

  /**
   * Waits until `check` returns a truthy value, and returns it; fails if the program ends before
   * that.
   */
  async started(check) {
    const end = performance.now() + START_MS;
    for (;;) {
      const result = await check();
      if (result) return result;
      if (this.#hasEnded || performance.now() > end) throw new Error(`${this.#name} did not start: ${this.#said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits for the program's end, for a short time; then kills it. */
  async end(signal = "SIGTERM") {
    if (!this.#hasEnded) {
      const ended = once(this.#child, "exit");
      this.#child.kill(signal);
      const late = setTimeout(() => this.#child.kill("SIGKILL"), ENDING_MS);
      await ended;
      clearTimeout(late);
    }
    children.delete(this.#child);
  }

  get #hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
