// Compares what was heard with what was said.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { made, run, tools } from "./tools.mjs";

/** The length of what is compared at once (s), and how much of it is at least speech. */
const [WINDOW, LEAST] = [8, 0.25];

/**
 * Compares two lists of samples at 48 kHz that begin at the same time. Returns the mean `score` of
 * the `windows` in which enough is said, and with `lags` how long parts of speech took (ms).
 */
export function compare(source, out, { lags }) {
  const names = ["source", "out"].map((name) => join(made, name));
  [source, out].forEach((sound, at) => writeFileSync(names[at], new Uint8Array(sound.buffer)));
  const program = fileURLToPath(new URL("score.py", import.meta.url));
  const options = [String(WINDOW), String(LEAST), ...(lags ? ["lags"] : [])];
  return JSON.parse(run(join(tools, "python/bin/python"), [program, ...names, ...options]));
}
