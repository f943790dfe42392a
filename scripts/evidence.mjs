// Measures every table and figure of the five papers, and lays them beside what was published: runs
// the experiments that lab/evidence/registry.json names, and writes the page index.html, the rows,
// and result.json with a verdict for each entry. What was measured before by the same program is
// not measured again, so that a stopped run goes on where it was. Docs: lab/evidence/README.md.
//
//   node scripts/evidence.mjs GROUPWIRE-LAB [--quick] [--only RUN] [--fresh] [--out FOLDER] [--record]
//
// --quick measures every row once, in minutes. --only runs only this one, repeatable. --fresh
// measures all again. --out is target/evidence unless stated, target/evidence/quick with --quick.
// --record makes lab/evidence/result.json and docs/evidence.md of the result; entries whose
// experiments did not run stay as they were recorded.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { judge } from "../lab/experiments/report/page/verdicts.js";
import { markdown, summary } from "../lab/evidence/markdown.mjs";
import { rowsOf } from "./quick-rows.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const REGISTRY = join(root, "lab/evidence/registry.json");
const RESULT = join(root, "lab/evidence/result.json");
const PAGE = join(root, "docs/evidence.md");
/** How many lines of a failed experiment's messages are shown. */
const LAST_LINES = 5;

/** What the rows of all files come to, by the registry: a verdict for both sides of each entry. */
export function results(registry, rows) {
  return Object.fromEntries(
    registry.entries.map((entry) => {
      const { places, again, ours } = judge(entry, rows);
      return [entry.id, { again, ours, places }];
    }),
  );
}

/** Entries that count, and lack rows or a verdict on both sides. */
export const unanswered = (registry, entries) =>
  registry.entries
    .filter(({ counted }) => counted)
    .filter(({ id }) => {
      const verdicts = [entries[id].again.verdict, entries[id].ours.verdict];
      return verdicts.includes("missing") || verdicts.every((verdict) => verdict === "none");
    })
    .map(({ id }) => id);

/**
 * The recorded result with what was measured since. Entries that lack rows now, because their
 * experiments did not run again, stay as they were recorded.
 */
export function remember(before, now) {
  const isMissing = ({ again, ours }) => [again.verdict, ours.verdict].includes("missing");
  const entries = Object.entries(now.entries).map(([id, entry]) => [
    id,
    (isMissing(entry) && before.entries[id]) || entry,
  ]);
  const repeated = now.measured.flatMap(({ runs }) => runs);
  const isOld = (id) => !repeated.includes(id);
  const older = before.measured
    .map((one) => ({ ...one, runs: one.runs.filter(isOld), quick: one.quick.filter(isOld) }))
    .filter(({ runs }) => runs.length > 0);
  return { measured: [...older, ...now.measured], entries: Object.fromEntries(entries) };
}

/** The minutes that pending runs will take, at the pace of those that are done. */
export function minutesLeft(pending, { expected, spent }) {
  const pace = expected > 0 ? Math.max(0.2, spent / expected) : 1;
  return pace * pending.reduce((sum, { minutes }) => sum + minutes, 0);
}

/** Shows which experiment runs, and how much time is left. */
class Progress {
  #runs;
  #done = { expected: 0, spent: 0 };
  #timer;

  constructor(runs, quick) {
    this.#runs = runs.map((run) => ({ ...run, minutes: quick ? run.quickMinutes : run.minutes }));
  }

  begin(index) {
    const started = performance.now();
    const line = () => this.#line(index, (performance.now() - started) / 60_000);
    if (!process.stderr.isTTY) {
      console.error(line());
      return () => this.#end(index, started);
    }
    const draw = () => process.stderr.write(`\r\u001b[2K${line()}`);
    draw();
    this.#timer = setInterval(draw, 1000);
    return () => {
      clearInterval(this.#timer);
      process.stderr.write("\r\u001b[2K");
      return this.#end(index, started);
    };
  }

  #line(index, minutes) {
    const { words, minutes: expected } = this.#runs[index];
    const here = minutesLeft([{ minutes: Math.max(0, expected - minutes) }], this.#done);
    const left = here + minutesLeft(this.#runs.slice(index + 1), this.#done);
    const width = 20;
    const full = Math.round((width * index) / this.#runs.length);
    const bar = "█".repeat(full) + "░".repeat(width - full);
    return `${bar} ${index + 1} of ${this.#runs.length}: ${words}, some ${Math.ceil(left)} min left in all`;
  }

  #end(index, started) {
    const spent = (performance.now() - started) / 60_000;
    this.#done.expected += this.#runs[index].minutes;
    this.#done.spent += spent;
    return spent;
  }
}

/** Runs one experiment, whose rows go to a file; resolves with its status and its last messages. */
function measure(lab, { id, words }, quick, folder) {
  const unfinished = join(folder, `${id}.unfinished`);
  const file = createWriteStream(unfinished);
  const child = spawn(lab, [...words.split(" "), ...(quick ? ["--quick"] : []), "--json"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(file);
  let messages = "";
  child.stderr.on("data", (chunk) => (messages = (messages + chunk).slice(-4000)));
  const stop = (signal) => {
    child.kill(signal);
    process.exit(130);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
      file.end(() => done({ status, messages, unfinished }));
    });
  });
}

/** The commit of this checkout, with a plus sign if files of it were changed. */
function commit() {
  const git = (...words) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain", "--untracked-files=no") !== "";
  return git("rev-parse", "--short=12", "HEAD") + (isChanged ? "+" : "");
}

/** Which runs were measured, which of them quickly, at which commits, and on what. */
function measurement(states) {
  return {
    runs: states.map(({ id }) => id),
    quick: states.filter(({ quick }) => quick).map(({ id }) => id),
    commits: [...new Set(states.map(({ commit }) => commit))],
    machine: machine(),
  };
}

/** What the figures were measured on. */
function machine() {
  const [first] = cpus();
  return {
    processor: first?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
  };
}

async function main() {
  const options = {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    fresh: { type: "boolean", default: false },
    out: { type: "string" },
    record: { type: "boolean", default: false },
  };
  const { values: chosen, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== 1)
    throw new Error("usage: evidence.mjs GROUPWIRE-LAB [--quick] [--only RUN] [--fresh] [--out FOLDER] [--record]");
  const lab = resolve(positionals[0]);
  const registry = JSON.parse(readFileSync(REGISTRY, "utf8"));
  const unknown = chosen.only?.filter((id) => !registry.runs.some((run) => run.id === id)) ?? [];
  if (unknown.length)
    throw new Error(`there is no run ${unknown.join(", ")}; there are ${registry.runs.map(({ id }) => id).join(", ")}`);
  const out = resolve(chosen.out ?? join(root, chosen.quick ? "target/evidence/quick" : "target/evidence"));
  const folder = join(out, "rows");
  mkdirSync(folder, { recursive: true });
  const program = createHash("sha256").update(readFileSync(lab)).digest("hex");
  const now = { commit: commit() };

  const done = (run) => {
    const path = join(folder, `${run.id}.state`);
    if (chosen.fresh || !existsSync(path) || !existsSync(join(folder, `${run.id}.jsonl`))) return undefined;
    const state = JSON.parse(readFileSync(path, "utf8"));
    return state.words === run.words && state.program === program && state.quick === chosen.quick ? state : undefined;
  };
  const wanted = registry.runs.filter(({ id }) => !chosen.only || chosen.only.includes(id));
  const pending = wanted.filter((run) => !done(run));
  if (pending.length < wanted.length)
    console.log(`${wanted.length - pending.length} of ${wanted.length} runs were done before; --fresh repeats them`);
  const progress = new Progress(pending, chosen.quick);
  let failed = 0;
  for (const [index, run] of pending.entries()) {
    const end = progress.begin(index);
    const { status, messages, unfinished } = await measure(lab, run, chosen.quick, folder);
    const minutes = end();
    const rows = rowsOf(readFileSync(unfinished, "utf8"));
    console.log(`${status === 0 ? "ok" : "FAILED"}  ${run.words}: ${rows.length} rows in ${minutes.toFixed(1)} min`);
    if (status !== 0) {
      failed += 1;
      for (const line of messages.trim().split("\n").slice(-LAST_LINES)) console.log(`    ${line}`);
      continue;
    }
    renameSync(unfinished, join(folder, `${run.id}.jsonl`));
    writeFileSync(
      join(folder, `${run.id}.state`),
      JSON.stringify({ ...run, ...now, quick: chosen.quick, program, minutes }),
    );
  }
  // Rows of runs that the registry no longer has would be shown beside those that it has.
  for (const name of readdirSync(folder)) {
    const [id] = name.split(".");
    if (!registry.runs.some((run) => run.id === id)) rmSync(join(folder, name));
  }

  const rows = registry.runs
    .map(({ id }) => join(folder, `${id}.jsonl`))
    .filter((path) => existsSync(path))
    .flatMap((path) => rowsOf(readFileSync(path, "utf8")));
  const states = registry.runs
    .map(({ id }) => join(folder, `${id}.state`))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, "utf8")));
  const entries = results(registry, rows);
  const result = { measured: [measurement(states)], entries };
  writeFileSync(join(out, "result.json"), `${JSON.stringify(result, null, 1)}\n`);
  const page = execFileSync(lab, ["report", "--from", folder, "--registry", REGISTRY, "--out", out], {
    encoding: "utf8",
  });
  console.log(summary(registry, result));
  console.log(page.trim());
  if (chosen.record) {
    const verdicts = Object.entries(entries).map(([id, { again, ours }]) => [id, { again, ours }]);
    const now = { ...result, entries: Object.fromEntries(verdicts) };
    const recorded = remember(JSON.parse(readFileSync(RESULT, "utf8")), now);
    writeFileSync(RESULT, `${JSON.stringify(recorded, null, 1)}\n`);
    writeFileSync(PAGE, markdown(registry, recorded));
  }
  const lost = unanswered(registry, entries);
  if (lost.length) console.log(`without rows or a verdict: ${lost.join(", ")}`);
  process.exitCode = failed || (lost.length && !chosen.only) ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
