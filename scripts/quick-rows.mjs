// Runs the experiments of the laboratory with --quick, except for fairness and yjs, whose rows
// depend on the machine, and checks that each ends with 0 and that no row is missing:
// lab/experiments/quick-rows.json has, for each of them, how many rows have which value of the
// fields that identify rows (keys.json). A row that is lost or has another name changes some of
// these numbers.
//
// The experiment `cluster` needs a nats-server on the PATH (scripts/nats.sh).
//
//   node scripts/quick-rows.mjs GROUPWIRE-LAB [--only 'afec --real'] [--out FOLDER] [--record]
//
// --only runs only this one, repeatable. --out keeps the rows, for scripts/compare-rows.mjs.
// --record writes what was measured as what is expected.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const read = (url) => JSON.parse(readFileSync(url, "utf8"));
const KEYS = read(new URL("../lab/experiments/keys.json", import.meta.url));
const EXPECTED = new URL("../lab/experiments/quick-rows.json", import.meta.url);

/** What is run: an experiment, and the options that give it other rows. */
const RUNS = [
  "gmc",
  "gmc --part paper",
  "gmc --part floor",
  "afec",
  "afec --real",
  "afec --real --part paper",
  "lossless",
  "lossless --memory",
  "lossless --part paper",
  "web",
  "web --part paper --browser chromium --browser native",
  "ace",
  "fanout",
  "fanout --system room",
  "durable",
  "cluster",
  "storm",
  "contract",
  "voice",
];

/** Rows that only some runs have: they are not counted. */
export const VARYING = {
  // Fields with few bits share a row, and how many bits a field has changes with the compressor.
  gmc: ({ figure, spent_on }) => figure === "account" && spent_on === "value",
  // Only the best static policy for a single file is shown, and it differs from run to run.
  ace: ({ part, file, policy }) =>
    part === "simulated" &&
    !["all", "mixed"].includes(file) &&
    !["ace-2005", "bound", "groupwire", "never", "oracle"].includes(policy),
};

/** The rows that an experiment printed, a JSON object in each line. */
export const rowsOf = (text) =>
  text
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => JSON.parse(line));

/** Counts, for each field that identifies rows of the experiment, the rows with each value. */
export function count(experiment, rows) {
  const { group, subject } = KEYS[experiment];
  const counted = rows.filter((row) => !VARYING[experiment]?.(row));
  const fields = [...group, ...subject].map((field) => {
    const values = {};
    for (const row of counted) {
      const value = String(row[field] ?? null);
      values[value] = (values[value] ?? 0) + 1;
    }
    return [field, values];
  });
  return { rows: counted.length, ...Object.fromEntries(fields) };
}

/** The lines that say how two counts differ; none if they do not. */
export function differences(expected, found) {
  const lines = expected.rows === found.rows ? [] : [`${found.rows} rows instead of ${expected.rows}`];
  for (const field of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    if (field === "rows") continue;
    const [before, after] = [expected[field] ?? {}, found[field] ?? {}];
    for (const value of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [was, is] = [before[value] ?? 0, after[value] ?? 0];
      if (was !== is) lines.push(`${field} ${value}: ${is} rows instead of ${was}`);
    }
  }
  return lines;
}

/** The file's text, with a line for each field. */
function written(expected) {
  const lines = (members, write) =>
    Object.entries(members).map(([name, of]) => `${JSON.stringify(name)}: ${write(of)}`);
  const runs = lines(expected, (counts) => `{\n    ${lines(counts, JSON.stringify).join(",\n    ")}\n  }`);
  return `{\n  ${runs.join(",\n  ")}\n}\n`;
}

/**
 * Runs an experiment in this folder; resolves with its rows, its exit status and the seconds that
 * it took.
 */
function measure(lab, words, cwd) {
  const start = performance.now();
  const child = spawn(lab, [...words.split(" "), "--quick", "--json"], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: [], stderr: [] };
  for (const [name, chunks] of Object.entries(output)) child[name].on("data", (chunk) => chunks.push(chunk));
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      const [stdout, stderr] = Object.values(output).map((chunks) => Buffer.concat(chunks).toString());
      const rows = rowsOf(stdout);
      done({ rows, status, stdout, stderr, seconds: (performance.now() - start) / 1000 });
    });
  });
}

async function main() {
  const options = {
    only: { type: "string", multiple: true, default: RUNS },
    out: { type: "string" },
    record: { type: "boolean", default: false },
  };
  const { values: chosen, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== 1)
    throw new Error("usage: quick-rows.mjs GROUPWIRE-LAB [--only RUN] [--out FOLDER] [--record]");
  const [lab] = positionals.map((path) => resolve(path));
  // Neither recordings nor other servers are found from there, so that every machine measures the
  // same.
  const folder = mkdtempSync(join(tmpdir(), "quick-rows-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const expected = read(EXPECTED);
  if (chosen.out) mkdirSync(chosen.out, { recursive: true });
  let failed = 0;
  for (const words of chosen.only) {
    const { rows, status, stdout, stderr, seconds } = await measure(lab, words, folder);
    if (chosen.out) {
      const file = join(chosen.out, words.replaceAll(/\W+/g, "-"));
      writeFileSync(`${file}.jsonl`, stdout);
      writeFileSync(`${file}.log`, stderr);
    }
    const counts = count(rows[0]?.experiment ?? words.split(" ")[0], rows);
    const lines = chosen.record || !expected[words] ? [] : differences(expected[words], counts);
    if (!chosen.record && !expected[words]) lines.push("lab/experiments/quick-rows.json does not say what is expected");
    if (status !== 0) lines.push(`it ended with ${status}:`, ...stderr.trim().split("\n").slice(-5));
    const failures = rows.filter((row) => row.failure);
    console.log(
      `${lines.length ? "FAILED" : "ok"}  ${words}: ${rows.length} rows in ${seconds.toFixed(0)} s, ${failures.length} with a failure`,
    );
    for (const line of lines.slice(0, 20)) console.log(`    ${line}`);
    failed += lines.length ? 1 : 0;
    expected[words] = counts;
  }
  if (chosen.record) writeFileSync(EXPECTED, written(expected));
  process.exitCode = failed ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
