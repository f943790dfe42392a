// Prints the names of all tests, one per line, and compares two such lists, so that a change of the
// tests' layout can prove that it lost none.
//
//   node scripts/test-names.mjs [CARGO OPTION...] > before     (such as --workspace; without options the default members)
//   node scripts/test-names.mjs [CARGO OPTION...] > after
//   node scripts/test-names.mjs --compare before after         fails if a test of the first list is missing in the second
//
// A name stays the same when a test moves between programs and files: crate, kind and path of
// modules in Rust, where a program of integration tests counts as a module, unless it is called
// `all`; for Node's tests the folder and the title. A Rust test that moved to another module or
// crate, with its function's name kept, is listed as moved and is not lost.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The one program of integration tests of a crate. Its name says nothing. */
const PROGRAM = "all";

/** Folders of tests for Node's own runner. */
const NODE_FOLDERS = ["scripts", "web/e2e", "web/e2e/engines"];

/**
 * The name of a Rust test in a list. `kind` and `target` are Cargo's kind and name of the program
 * that holds it.
 */
export function rustName(crate, kind, target, path) {
  if (kind !== "test") return `${crate} ${kind} ${path}`;
  return `${crate} test ${target === PROGRAM ? path : `${target}::${path}`}`;
}

/** The names in what a program of Rust tests prints with `--list --format terse`. */
export function listed(text) {
  return text.split("\n").flatMap((line) => /^(.*): test$/.exec(line)?.[1] ?? []);
}

/**
 * The name of an example in documentation, without its line, which changes with the text above it.
 */
export function exampleName(text) {
  return text.replace(/ \(line \d+\)/, "");
}

/** Compares two lists of names. Returns lost and new names, and pairs of names of moved tests. */
export function compare(before, after) {
  const added = count(after);
  const lost = before.filter((name) => !take(added, name));
  const fresh = [...added].flatMap(([name, times]) => Array(times).fill(name));
  const moved = [];
  const gone = lost.filter((name) => {
    const at = fresh.findIndex((other) => / (lib|bin|test) /.test(other) && lastPart(other) === lastPart(name));
    if (at >= 0) moved.push([name, ...fresh.splice(at, 1)]);
    return at < 0;
  });
  return { lost: gone, added: fresh, moved };
}

function count(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function take(counts, name) {
  const times = counts.get(name);
  if (!times) return false;
  if (times === 1) counts.delete(name);
  else counts.set(name, times - 1);
  return true;
}

function lastPart(name) {
  return name.split(/::| /).at(-1);
}

function rustTests(options) {
  const built = run("cargo", ["test", "--lib", "--bins", "--tests", "--no-run", "--message-format=json", ...options]);
  const names = [];
  for (const line of built.split("\n")) {
    const message = line.startsWith("{") ? JSON.parse(line) : {};
    if (message.reason !== "compiler-artifact" || !message.executable || !message.profile.test) continue;
    const crate = /([^/#]+)[#@][^#@]*$/.exec(message.package_id)[1];
    const { kind, name } = message.target;
    const text = run(message.executable, ["--list", "--format", "terse"]);
    const inKind = kind.includes("test") ? "test" : kind.includes("bin") ? "bin" : "lib";
    names.push(...listed(text).map((path) => rustName(crate, inKind, name, path)));
  }
  const examples = run("cargo", ["test", "--doc", ...options, "--", "--list", "--format", "terse"]);
  return [...names, ...listed(examples).map((text) => `example ${exampleName(text)}`)];
}

function vitestTests() {
  // The folders that `npm test` names.
  const { test } = JSON.parse(readFileSync(`${root}web/package.json`, "utf8")).scripts;
  const folders = test.split(" ").slice(2);
  const text = run("node_modules/.bin/vitest", ["list", ...folders, "--json"], `${root}web`);
  return JSON.parse(text).map(({ name, file }) => `vitest ${file.slice(root.length)} ${name}`);
}

// Imports each file with a `node:test` that prints titles and runs nothing.
function nodeTests() {
  return NODE_FOLDERS.filter((folder) => existsSync(root + folder)).flatMap((folder) => {
    const files = readdirSync(root + folder).filter((file) => file.endsWith(".test.mjs"));
    const titles = files.flatMap((file) => {
      const url = pathToFileURL(`${root}${folder}/${file}`).href;
      const script = `await import(${JSON.stringify(url)})`;
      const options = ["--import", recorder(), "--input-type=module", "--eval", script];
      return run("node", options, `${root}web`).split("\n").filter(Boolean).map(JSON.parse);
    });
    return titles.map((title) => `${folder} ${title}`);
  });
}

function recorder() {
  const data = (script) => `data:text/javascript,${encodeURIComponent(script)}`;
  const fake = data(`
    const print = (title) => console.log(JSON.stringify(title));
    export const test = Object.assign(print, { skip: print, todo: print });
    export const it = test;
    export const describe = (title, body) => body();
    const ignore = () => {};
    export { test as default, ignore as before, ignore as after, ignore as beforeEach, ignore as afterEach };
  `);
  const hooks = data(`
    export const resolve = (name, context, next) =>
      name === "node:test" ? { url: ${JSON.stringify(fake)}, shortCircuit: true } : next(name, context);
  `);
  return data(`import { register } from "node:module"; register(${JSON.stringify(hooks)});`);
}

function run(program, options, cwd = root) {
  const ran = spawnSync(program, options, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1e9,
  });
  if (ran.status !== 0) throw new Error(`${program} ${options.join(" ")} failed`);
  return ran.stdout;
}

function main([first, ...rest]) {
  if (first !== "--compare") {
    const options = first === undefined ? [] : [first, ...rest];
    const names = [...rustTests(options), ...vitestTests(), ...nodeTests()];
    console.log(names.sort().join("\n"));
    return;
  }
  const [before, after] = rest.map((file) => readFileSync(file, "utf8").split("\n").filter(Boolean));
  const { lost, added, moved } = compare(before, after);
  for (const name of lost) console.log(`lost   ${name}`);
  for (const [from, to] of moved) console.log(`moved  ${from}\n    to ${to}`);
  for (const name of added) console.log(`new    ${name}`);
  console.log(`test-names: ${before.length} before, ${after.length} after, ${lost.length} lost, ${moved.length} moved`);
  if (lost.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
