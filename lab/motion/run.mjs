// Shows recorded pointers to somebody else by several methods, over a simulated network, and
// measures how well: error, jumps, stops, bytes. Prints a row of JSON for each method and network;
// `--out DIR` writes them to DIR/motion.jsonl and draws DIR/motion.html.
//
// Build the client (`make web`), install the peers (npm ci --prefix lab/motion) and, for plots, npm
// ci --prefix lab/experiments/report:
//
//   node lab/motion/run.mjs FOLDER [--out DIR] [--quick] [--seed N] [--recordings N] [--skip N] [--seconds N]
//     [--method NAME] [--loss NAME] [--transport NAME] (each repeatable)
//
// FOLDER has recordings as in SapiMouse: tables (.csv or .csv.gz) with the columns "client
// timestamp", button, state, x, y.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Judge } from "./judge.mjs";
import { METHODS } from "./methods.mjs";
import { conflate, LOSSES, travel, TRANSPORTS } from "./network.mjs";
import { recordingsIn } from "./recording.mjs";
import { show } from "./show.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    quick: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    recordings: { type: "string" },
    // The constants of groupwire/motion were chosen with the first three.
    skip: { type: "string", default: "3" },
    seconds: { type: "string" },
    method: { type: "string", multiple: true, default: METHODS.map(({ name }) => name) },
    loss: { type: "string", multiple: true, default: LOSSES },
    transport: { type: "string", multiple: true, default: TRANSPORTS },
  },
});
const [folder] = positionals;
if (!folder) throw new Error("usage: node lab/motion/run.mjs FOLDER [--out DIR] [--quick] [--seed N]");
const count = Number(options.recordings ?? (options.quick ? 3 : 10));
const seconds = Number(options.seconds ?? (options.quick ? 30 : 120));
const seed = Number(options.seed);

const recordings = recordingsIn(folder, { skip: Number(options.skip), count, seconds });
if (recordings.length === 0) throw new Error(`no recordings in ${folder}`);
const [rows, series] = [[], []];
for (const transport of options.transport)
  for (const loss of options.loss)
    for (const method of METHODS.filter(({ name }) => options.method.includes(name))) {
      process.stderr.write(`motion: ${transport} ${loss} ${method.name}            \r`);
      const { row, errors } = measure(method, transport, loss);
      rows.push(row);
      series.push(...errors);
      console.log(JSON.stringify(row));
    }

if (options.out) {
  mkdirSync(options.out, { recursive: true });
  const lines = [...rows, ...series].map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(join(options.out, "motion.jsonl"), lines.join(""));
  const { page } = await import("./page.mjs");
  writeFileSync(join(options.out, "motion.html"), await page(rows, series));
}

function measure(method, transport, loss) {
  const judge = new Judge();
  let [messages, bytes] = [0, 0];
  recordings.forEach((recording, at) => {
    // All methods have the same network: the n-th packet has the same fate with each method.
    const sent = conflate(method.messages(recording), method.interval);
    const arrivals = travel(sent, { transport, loss, seed: seed + at });
    messages += sent.length;
    bytes += sent.reduce((sum, message) => sum + message.bytes, 0);
    judge.add(recording, show(method, arrivals, recording));
  });
  const conditions = { method: method.name, transport, loss };
  const all = { recordings: recordings.length, seconds, ...(options.quick && { quick: true }) };
  const sizes = { messages, bytes_sent: bytes, bytes_per_s: round(bytes / recordings.length / seconds) };
  const errors = judge.series().map((row) => ({ experiment: "motion-series", ...conditions, ...row }));
  return { row: { experiment: "motion", ...conditions, ...all, ...sizes, ...judge.result() }, errors };
}

function round(value) {
  return Math.round(value * 10) / 10;
}
