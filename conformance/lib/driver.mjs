// A participant: a driver program that gets one command per line, and answers each with one line.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * No command takes so long, on a busy machine either: it only ends what hangs. A minute was not
 * enough where twenty other programs wanted the same processors.
 */
export const PATIENCE_MS = 180_000;

export class DriverError extends Error {
  /** `code` is the word of the client's error, such as "too-large". */
  constructor(code, text) {
    super(`${code}: ${text}`);
    this.code = code;
  }
}

export class Driver {
  #child;
  #answers = [];
  #printed = "";
  #ended;

  /** `command` is the program and its arguments, `env` what it needs in its environment. */
  constructor({ command, env }) {
    const [program, ...args] = command;
    this.#child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#answers.shift()?.resolve(line));
    this.#child.stderr.on("data", (data) => (this.#printed += data));
    // A driver that has ended is told by `close`.
    this.#child.stdin.on("error", () => {});
    const end = (why) => {
      this.#ended = new Error(`the driver ${command.join(" ")} has ended (${why}): ${this.#printed}`);
      for (const { reject } of this.#answers.splice(0)) reject(this.#ended);
    };
    this.#child.on("error", ({ message }) => end(message));
    this.#child.on("close", (code, signal) => end(signal ?? code));
  }

  /** Sends a command; returns the answer. An answer with an error is thrown as a DriverError. */
  async run(command) {
    if (this.#ended) throw this.#ended;
    const line = await new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no answer to ${JSON.stringify(command).slice(0, 200)}: ${this.#printed}`));
      const timer = setTimeout(late, PATIENCE_MS);
      const settled = (settle) => (value) => {
        clearTimeout(timer);
        settle(value);
      };
      this.#answers.push({ resolve: settled(resolve), reject: settled(reject) });
      this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    });
    const answer = JSON.parse(line);
    if (answer.error !== undefined) throw new DriverError(answer.error, answer.text);
    return answer;
  }

  stop() {
    this.#child.kill("SIGKILL");
  }
}
