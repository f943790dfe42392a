// Compares the rows of two runs of an experiment, before and after a change of the laboratory:
// their names, which are the values of the fields that identify them, and their sets of fields. The
// values of simulated experiments must be equal, too, except in the fields that measure time and
// memory.
//
// node scripts/compare-rows.mjs EXPERIMENT BEFORE.jsonl AFTER.jsonl [--values]
//
// --values compares the values. A field that only the later run has is no difference; one that is
// gone is.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const KEYS = JSON.parse(readFileSync(new URL("../lab/experiments/keys.json", import.meta.url), "utf8"));

/** Fields whose values are measured, and so differ from run to run. */
const MEASURED = new Set(["encode_us", "decode_us", "encode_p99_us", "cpu_us", "cpu_mean_us", "memory_bytes"]);

/** The lines that say how the rows differ; none if they do not. */
export function differences(experiment, before, after, { values = false } = {}) {
  const keys = KEYS[experiment];
  if (!keys) throw new Error(`there is no experiment ${experiment}; there are ${Object.keys(KEYS).join(", ")}`);
  const fields = [...keys.group, ...keys.subject];
  // Fields that do not apply to a row are not named.
  const known = (row) => fields.filter((field) => row[field] != null);
  const name = (row) =>
    known(row)
      .map((field) => `${field} ${JSON.stringify(row[field])}`)
      .join(", ");
  const [old, current] = [before, after].map((rows) => named(rows, name));
  const lines = [];
  for (const [row, was] of old) {
    const is = current.get(row);
    if (!is) {
      lines.push(`gone: ${row}`);
      continue;
    }
    const gone = Object.keys(was).filter((field) => !(field in is));
    if (gone.length) lines.push(`without ${gone.join(", ")}: ${row}`);
    if (!values) continue;
    for (const field of Object.keys(was).filter((field) => field in is && !MEASURED.has(field))) {
      const [from, to] = [was[field], is[field]].map((value) => JSON.stringify(value));
      if (from !== to) lines.push(`${field} ${from} is ${to}: ${row}`);
    }
  }
  for (const row of current.keys()) if (!old.has(row)) lines.push(`new: ${row}`);
  return lines;
}

/** Rows by their names. Rows with the same name, such as lines through points, are numbered. */
function named(rows, name) {
  const byName = new Map();
  const counts = new Map();
  for (const row of rows) {
    const of = name(row);
    const count = counts.get(of) ?? 0;
    counts.set(of, count + 1);
    byName.set(count ? `${of} (${count + 1})` : of, row);
  }
  return byName;
}

function read(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim()).map((line) => JSON.parse(line));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = { values: { type: "boolean", default: false } };
  const { values: chosen, positionals } = parseArgs({ options, allowPositionals: true });
  const [experiment, ...paths] = positionals;
  if (paths.length !== 2) throw new Error("usage: compare-rows.mjs EXPERIMENT BEFORE.jsonl AFTER.jsonl [--values]");
  const [before, after] = paths.map(read);
  const lines = differences(experiment, before, after, chosen);
  console.log(lines.slice(0, 50).join("\n"));
  console.log(`${before.length} rows and ${after.length} rows, ${lines.length} differences`);
  process.exitCode = lines.length ? 1 : 0;
}
