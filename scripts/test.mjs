// All checks and tests of the product: make targets, several at a time, up to the first that fails.
// What a target prints is shown when it ends. Tests that this machine cannot run are counted and
// listed at the end (scripts/skipped.mjs).

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { collect, report } from "./skipped.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The steps. `cores` says how many processors a step keeps busy. Of the steps that can start, the
 * first one in this list starts first, so the longest chains stand on top. Steps with the same
 * `lock` never run together: Cargo would let one wait for the other. `builds` is the environment of
 * a step that builds: it names what is built already. For the other steps everything is built. A
 * step with `repeats` meets real sockets, browsers and time: if it fails, it runs once more, and
 * the summary says so. (Rust's runner repeats single tests: .config/nextest.toml.)
 */
export const STEPS = [
  { target: "npm", name: "npm packages", cores: 1, repeats: true },
  { target: "wasm", name: "WebAssembly", cores: 1, after: ["npm"], builds: {} },
  // Neither needs the pages, and until the pages are built the other processors are idle.
  { target: "clippy", name: "clippy", cores: 1, lock: "cargo" },
  { target: "doc", name: "Rust documentation", cores: 1, lock: "cargo" },
  { target: "web", name: "web client and pages", cores: 1, after: ["wasm"], builds: {} },
  {
    target: "build",
    name: "groupwire",
    // One crate after the other is compiled. With two processors it would wait until both are free.
    cores: 1,
    after: ["web"],
    lock: "cargo",
    builds: { GROUPWIRE_WEB_IS_BUILT: "1", GROUPWIRE_PROFILE: "dev" },
  },
  // These tests mostly wait, so Rust's tests are compiled meanwhile.
  { target: "test-browser", name: "browser tests", cores: 0.5, after: ["build"], repeats: true },
  { target: "test-build", name: "programs of Rust's tests", cores: 1.5, after: ["build"], lock: "cargo" },
  { target: "test-rust", name: "Rust tests", cores: 1, after: ["test-build"], lock: "cargo" },
  // These tests mostly wait, too. They come after Rust's tests, which get the processors first.
  { target: "test-engines", name: "Firefox and WebKitGTK", cores: 0.5, after: ["build"], repeats: true },
  { target: "conflicts", name: "conflict markers", cores: 1 },
  { target: "fmt-check", name: "format", cores: 1, after: ["npm"] },
  { target: "core-check", name: "core and arrows", cores: 1 },
  { target: "wire-check", name: "rules of the wire format, evidence", cores: 1 },
  { target: "cycles-check", name: "circles of files", cores: 1 },
  { target: "comments-check", name: "comments", cores: 1 },
  { target: "links-check", name: "links in the documentation", cores: 1 },
  { target: "versions-check", name: "versions of all parts", cores: 1 },
  { target: "licences", name: "licences", cores: 1, after: ["npm"] },
  { target: "test-scripts", name: "the checks themselves", cores: 1, after: ["wasm"] },
  { target: "test-shared", name: "shared data in Rust and TypeScript", cores: 1, after: ["npm"], lock: "cargo" },
  { target: "fuzz-check", name: "fuzz targets", cores: 1, lock: "cargo" },
  { target: "size", name: "size in browsers", cores: 1, after: ["web"] },
  { target: "test-web", name: "TypeScript checks and tests", cores: 1, after: ["web"], repeats: true },
  { target: "test-python", name: "Python client", cores: 0.5, after: ["build"], repeats: true },
  { target: "test-c", name: "C library", cores: 1, after: ["test-build"], lock: "cargo", repeats: true },
  {
    target: "test-python-client",
    name: "Python package",
    cores: 1,
    after: ["test-build"],
    lock: "cargo",
    repeats: true,
  },
  {
    target: "test-conformance",
    name: "the same scenarios with every client",
    cores: 1,
    after: ["test-build"],
    lock: "cargo",
    repeats: true,
  },
  {
    target: "test-monitoring",
    name: "metrics, alerts and the dashboard",
    cores: 1,
    after: ["test-build"],
    repeats: true,
  },
  { target: "test-deploy", name: "deploy guides", cores: 1, after: ["build"], repeats: true },
  { target: "test-readme", name: "README commands", cores: 0.5, after: ["build"], repeats: true },
];

/** The step that starts next, if one can start now. `ended` and `running` are sets of steps. */
export function next(steps, ended, running, cores) {
  const targets = new Set([...ended].map(({ target }) => target));
  const busy = [...running].reduce((sum, step) => sum + step.cores, 0);
  const locks = new Set([...running].map(({ lock }) => lock));
  return steps.find((step) => {
    if (ended.has(step) || running.has(step)) return false;
    if (step.after?.some((target) => !targets.has(target))) return false;
    if (step.lock && locks.has(step.lock)) return false;
    // Something always runs, however few processors there are.
    return running.size === 0 || busy + step.cores <= cores;
  });
}

/**
 * Runs all steps; returns those that ran, { step, seconds, isFine, isRepeated, output }, up to the
 * first that failed for good.
 */
export async function runAll(steps, cores, run, print) {
  const [ended, running, repeated] = [new Set(), new Map(), new Set()];
  const results = [];
  let failed = false;
  while (!failed && ended.size < steps.length) {
    for (let step; (step = next(steps, ended, new Set(running.keys()), cores));) running.set(step, run(step));
    if (running.size === 0) throw new Error("the steps wait for each other");
    const result = await Promise.race(running.values());
    const { step, isFine } = result;
    const isRepeated = repeated.has(step);
    running.delete(step);
    if (isFine || isRepeated || !step.repeats) {
      ended.add(step);
      results.push({ ...result, isRepeated });
      failed = !isFine;
    } else {
      repeated.add(step);
      running.set(step, run(step));
    }
    print(result, [...running.keys()]);
  }
  return results;
}

/** Lines about steps, and about single tests of Rust, that failed once and passed when repeated. */
export function unsteadyIn(results) {
  return results.flatMap(({ step, isFine, isRepeated, output = "" }) => {
    const steps = isFine && isRepeated ? [`== UNSTEADY: ${step.name} failed once, and passed when it ran again`] : [];
    const tests = [...output.matchAll(/^ *FLAKY \d+\/\d+ \[.*?\] *(?:\(.*?\) *)?(.+)$/gm)].map(([, name]) =>
      name.trim(),
    );
    return [...steps, ...[...new Set(tests)].map((name) => `== FLAKY: ${name} failed once, and passed when repeated`)];
  });
}

const children = new Set();

function runStep(step, env) {
  const start = performance.now();
  // Only the steps with `builds` build the web parts and groupwire. Otherwise two steps would build
  // the web parts at the same time, and Cargo would make the browser tests wait for compiling
  // steps.
  const built = step.builds ?? { GROUPWIRE_WEB_IS_BUILT: "1", GROUPWIRE_IS_BUILT: "1" };
  const make = process.env.MAKE ?? "make";
  // A process group of its own, so that what it started ends with it.
  const child = spawn(make, ["--no-print-directory", step.target], {
    cwd: root,
    env: { ...env, ...built },
    detached: true,
  });
  children.add(child);
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => output.push(data));
  return new Promise((resolve) => {
    const end = (isFine) => {
      children.delete(child);
      resolve({ step, isFine, seconds: (performance.now() - start) / 1000, output: Buffer.concat(output).toString() });
    };
    child.on("error", (error) => end(false, output.push(Buffer.from(error.message))));
    child.on("close", (code) => end(code === 0));
  });
}

function stopAll() {
  for (const { pid } of children) {
    try {
      process.kill(-pid, "SIGTERM");
    } catch {
      // The process group has ended already.
    }
  }
}

async function main() {
  process.on("exit", stopAll);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  const start = performance.now();
  const since = () => Math.round((performance.now() - start) / 1000);
  const print = ({ step, isFine, seconds, output }, others) => {
    const still = others.length > 0 ? `; still running: ${others.map(({ name }) => name).join(", ")}` : "";
    console.log(`\n== ${step.name} (make ${step.target}), ${Math.round(seconds)} s, at ${since()} s${still}`);
    process.stdout.write(output);
    if (isFine) return;
    console.log(`\n== FAILED: ${step.name}. To repeat it alone: make ${step.target}`);
    if (others.includes(step)) console.log("== It runs once more.");
  };
  const { result, skipped } = await collect((env) => {
    // Some tools colour their output in CI even if it goes to no terminal.
    const run = (step) => runStep(step, { ...env, NO_COLOR: "1" });
    return runAll(STEPS, availableParallelism(), run, print);
  });
  const unsteady = unsteadyIn(result);
  if (result.some(({ isFine }) => !isFine)) {
    for (const line of unsteady) console.log(line);
    return process.exit(1);
  }
  console.log("\n== summary, each step's own time");
  for (const { step, seconds } of result) console.log(`${String(Math.round(seconds)).padStart(5)} s  ${step.name}`);
  console.log(`${String(since()).padStart(5)} s  in all`);
  for (const line of unsteady) console.log(line);
  if (!report(skipped)) process.exit(1);
  console.log("== all passed");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
