// Breaks the promise of stored rooms on purpose, one fault at a time in a copy of the sources, and
// checks that tests notice each.
//
// Run it from anywhere: node scripts/durable-mutations.mjs [WORD...]. With words, only faults whose
// name or file contains one. Each fault compiles a crate and runs its tests, which takes a minute
// or more, and the first one compiles all libraries, so this is not part of `make test`. The faults
// are in durable-faults.mjs.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FAULTS } from "./durable-faults.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// Always the same folder, so that only changed files are compiled again. Its build output has a
// folder of its own: Cargo identifies crates by their names, and would build the project from the
// broken ones.
const copy = join(root, "target/mutations/source");
const built = join(root, "target/mutations/built");
const skipped = join(root, "target/mutations/skipped");

function main() {
  const words = process.argv.slice(2);
  const faults = FAULTS.filter(
    ({ name, file }) => words.length === 0 || words.some((word) => `${file}: ${name}`.includes(word)),
  );
  copySources();
  const outcomes = faults.map((fault) => ({ ...fault, ...tryFault(fault) }));
  console.log("\n| fault | noticed by |\n| --- | --- |");
  for (const { name, noticed } of outcomes) console.log(`| ${name} | ${noticed.join(", ")} |`);
  const missed = outcomes.filter(({ noticed }) => noticed.length === 0);
  console.log(`\n${outcomes.length - missed.length} of ${outcomes.length} faults are noticed`);
  for (const { name, needs } of missed) console.error(`not noticed: ${name}${needs}`);
  process.exitCode = missed.length > 0 ? 1 : 0;
}

/** Copies the sources that differ from those of the last run. */
function copySources() {
  const paths = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  for (const path of paths) {
    const [from, to] = [join(root, path), join(copy, path)];
    if (!/^(Cargo|clippy|crates\/|docs\/|lab\/)/.test(path) || !existsSync(from)) continue;
    const bytes = readFileSync(from);
    if (existsSync(to) && bytes.equals(readFileSync(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, bytes);
  }
}

/** Runs the tests with the fault: the names of those that failed, and why others did not run. */
function tryFault({ name, file, from, to, tests }) {
  const path = join(copy, "crates", file);
  const source = readFileSync(path, "utf8");
  if (source.split(from).length !== 2) throw new Error(`${name}: the text is not in ${file} exactly once`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  try {
    const filter = tests.at(-1);
    const options = tests.slice(0, -1);
    const build = cargo(...options, "--no-run");
    if (build.status !== 0) return { noticed: [], needs: `; it does not compile:\n${build.stderr}` };
    rmSync(skipped, { force: true });
    const { status, stdout } = cargo(...options, "--", filter);
    const failed = [...stdout.matchAll(/^---- (.+) stdout ----$/gm)].map(([, test]) => test);
    if (/running 0 tests/.test(stdout)) return { noticed: [], needs: `; there are no tests ${filter}` };
    // A test program that is aborted names no test.
    const noticed = status !== 0 && failed.length === 0 ? ["an abort"] : failed;
    const needs = existsSync(skipped) ? `; not run here: ${readFileSync(skipped, "utf8").trim()}` : "";
    console.log(`${noticed.length > 0 ? "noticed" : "NOT NOTICED"}: ${name}`);
    return { noticed, needs };
  } finally {
    writeFileSync(path, source);
  }
}

function cargo(...options) {
  return spawnSync("cargo", ["test", "--quiet", ...options], {
    cwd: copy,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: {
      ...process.env,
      CARGO_TARGET_DIR: built,
      GROUPWIRE_SKIPPED: skipped,
      RUST_BACKTRACE: "0",
    },
  });
}

main();
