// Checks two rules of the architecture (ARCHITECTURE.md has the map of crates):
//   1. law 4 of docs/laws.md: the core crates have no clock, socket, thread, file or random source,
//      neither in their own code nor in their dependencies;
//   2. dependencies point one way: each crate of the workspace depends only on the crates that
//      ARROWS lists for it.
//
// Run it from anywhere: node scripts/check-core.mjs

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { blank, testFiles, withoutTests } from "./rust-source.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

// The crates of this workspace on which each crate may depend. Development dependencies are free: a
// test may use anything.
const ARROWS = {
  codecs: [],
  gmc: ["codecs"],
  afec: [],
  ace: ["codecs"],
  session: ["gmc", "afec", "ace", "codecs"],
  tunnel: ["ace", "codecs"],
  shared: [],
  quic: [],
  server: ["session", "quic", "store", "yjs", "cluster", "engine"],
  client: ["session", "shared", "quic"],
  agent: ["client", "yjs"],
  ffi: ["client"],
  simulation: ["client", "session"],
  c: ["ffi"],
  python: ["client", "ffi", "simulation", "yjs"],
  uniffi: ["ffi"],
  conformance: ["client"],
  trace: [],
  yjs: [],
  cluster: [],
  store: [],
  engine: [],
  // The laboratory may use everything; nothing may use it.
  sim: [],
  disk: [],
  ports: [],
  benches: [],
  papers: ["ace", "codecs"],
  lab: [
    "sim",
    "ports",
    "papers",
    "client",
    "session",
    "store",
    "quic",
    "tunnel",
    "trace",
    "gmc",
    "afec",
    "ace",
    "codecs",
  ],
  wasm: ["session"],
  "wasm-codecs": ["codecs"],
  "wasm-brotli": ["codecs"],
  "wasm-room": ["session", "codecs", "simulation"],
  "wasm-room-page": ["session", "simulation"],
  cli: ["server", "client", "agent", "tunnel", "trace"],
};

// The core crates, which use nothing but their arguments. no_std: the compiler itself keeps std
// out. std: std may be used except for the modules that reach the world.
const CORE = {
  codecs: "std",
  gmc: "no_std",
  afec: "no_std",
  ace: "no_std",
  session: "no_std",
  shared: "no_std",
  yjs: "no_std",
  cluster: "no_std",
};

const WORLDLY_STD = ["env", "fs", "net", "os", "process", "thread", "time"];
// Standard input and output of std::io; its traits and Cursor reach nothing.
const WORLDLY_IO = ["stdin", "stdout", "stderr", "Stdin", "Stdout", "Stderr"];
// std seeds these from a random source, so that their order differs from run to run.
const RANDOM_STD = ["HashMap", "HashSet", "RandomState", "hash_map", "hash_set"];
const WORLDLY_MACROS = /\b(?:print|println|eprint|eprintln|dbg|thread_local)\s*!/g;

// Crates whose purpose is a clock, socket, thread, file or random source, and the bindings those
// are made from.
const WORLDLY_CRATES = new Set(
  `ahash async-std chrono const-random coarsetime crossbeam-channel fastrand getrandom instant js-sys libc mio nix
   oorandom parking_lot polling quanta quinn rand rayon rustix smol socket2 tempfile time tokio wasm-bindgen web-sys
   web-time windows-sys`.split(/\s+/),
);

/** The crates of a `cargo tree --prefix none --format {p}` that reach the world. */
export function worldlyCrates(tree) {
  const names = tree.split("\n").map((line) => line.split(" ")[0]);
  return [...new Set(names)].filter((name) => WORLDLY_CRATES.has(name));
}

/** What is wrong with the packages of `cargo metadata --no-deps`, by ARROWS. */
export function wrongArrows(packages, arrows = ARROWS) {
  const ours = (name) => name.replace(/^groupwire-/, "");
  return packages.flatMap(({ name, dependencies }) => {
    const allowed = arrows[ours(name)];
    if (!allowed) return [`${name}: not in ARROWS of scripts/check-core.mjs; say there what it may depend on`];
    return dependencies
      .filter((dep) => dep.path && dep.kind !== "dev" && !allowed.includes(ours(dep.name)))
      .map((dep) => `${name} depends on ${dep.name}; it may only on: ${allowed.join(", ") || "none of ours"}`);
  });
}

/**
 * What a crate's source does that its kind ("std" or "no_std") forbids. `files` maps paths to text.
 */
export function worldlySource(kind, files) {
  const code = new Map(Object.entries(files).map(([path, text]) => [path, withoutTests(blank(text))]));
  const tests = testFiles(files);
  const wrong = [];
  const lib = Object.keys(files).find((path) => basename(path) === "lib.rs");
  if (kind === "no_std" && !/#!\[(?:cfg_attr\(not\(test\), )?no_std\)?\]/.test(code.get(lib))) {
    wrong.push(`${lib}: lacks #![no_std]`);
  }
  for (const [path, text] of code) {
    if (tests.has(path) || /^\s*#!\[cfg\(test\)\]/.test(text)) continue;
    for (const [line, what] of kind === "no_std" ? anyStd(text) : worldlyStd(text)) {
      wrong.push(`${path}:${line}: ${what}`);
    }
  }
  return wrong;
}

function* anyStd(text) {
  for (const { index } of text.matchAll(/\bstd\b/g)) {
    // The name of a Cargo feature is inside a string and blanked by now.
    yield [lineAt(text, index), "std outside of tests; this crate is no_std"];
  }
}

function* worldlyStd(text) {
  for (const { index, path } of stdPaths(text)) {
    const wrong = worldlyPath(path);
    if (wrong) yield [lineAt(text, index), wrong];
  }
  for (const { index } of text.matchAll(WORLDLY_MACROS)) {
    yield [lineAt(text, index), "a macro of std that reaches the world"];
  }
}

// What is wrong with a path such as [std, io, Read], if anything.
function worldlyPath([, module, leaf, ...rest]) {
  if (["self", "*", "as"].includes(module)) return "std under another name hides what is used";
  if (WORLDLY_STD.includes(module)) return `std::${module} reaches the world`;
  if (module === "io" && [...WORLDLY_IO, "*"].includes(leaf)) return `std::io::${leaf} reaches the world`;
  const random = [leaf, ...rest].some((part) => RANDOM_STD.includes(part));
  if (random || (module === "collections" && leaf === "*")) {
    return "std's hash tables are seeded at random; use BTreeMap, or a table with a fixed hasher";
  }
}

// Every path that begins with std, with the braces of use declarations multiplied out.
function* stdPaths(text) {
  for (const match of text.matchAll(/(?<![\w:])(?:::)?std\b/g)) {
    const statement = text.slice(match.index).split(";", 1)[0];
    const tokens = [...statement.matchAll(/::|[{},;*]|\w+|\S/g)].map(([token]) => token);
    if (tokens[0] === "::") tokens.shift();
    for (const path of paths(tokens)) yield { index: match.index, path };
  }
}

// Reads `a::b::{c, d::e as f}` off the front of tokens: [a, b, c], [a, b, d, e, as].
function paths(tokens, prefix = []) {
  const path = [...prefix, tokens.shift()];
  while (tokens[0] === "::") {
    tokens.shift();
    if (tokens[0] !== "{") {
      path.push(tokens.shift());
      continue;
    }
    tokens.shift();
    const all = [];
    while (tokens.length > 0 && tokens[0] !== "}") {
      if (tokens[0] === ",") tokens.shift();
      else all.push(...paths(tokens, path));
    }
    tokens.shift();
    return all;
  }
  if (tokens[0] === "as") {
    path.push(tokens.shift());
    tokens.shift();
  }
  return [path];
}

function lineAt(text, index) {
  return text.slice(0, index).split("\n").length;
}

function sources(crate) {
  const folder = join("crates", crate, "src");
  const names = readdirSync(join(root, folder), { recursive: true }).filter((name) => name.endsWith(".rs"));
  return Object.fromEntries(names.map((name) => [join(folder, name), readFileSync(join(root, folder, name), "utf8")]));
}

function cargo(...args) {
  return execFileSync("cargo", [...args, "--quiet"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function main() {
  const { packages } = JSON.parse(cargo("metadata", "--format-version", "1", "--no-deps"));
  const wrong = wrongArrows(packages);
  for (const [crate, kind] of Object.entries(CORE)) {
    wrong.push(...worldlySource(kind, sources(crate)));
    if (existsSync(join(root, "crates", crate, "build.rs"))) {
      wrong.push(`crates/${crate}/build.rs: a build script may bring the world into the core`);
    }
    // Includes dependencies of all platforms and features.
    const scope = ["--edges", "normal", "--target", "all", "--all-features", "--package", `groupwire-${crate}`];
    const tree = cargo("tree", ...scope, "--prefix", "none", "--format", "{p}");
    for (const name of worldlyCrates(tree)) {
      wrong.push(`groupwire-${crate} depends on ${name}; see why: cargo tree ${scope.join(" ")} --invert ${name}`);
    }
  }
  if (wrong.length > 0) {
    console.error("core-check: the laws in scripts/check-core.mjs are broken:");
    for (const line of wrong) console.error(`  ${line}`);
    process.exitCode = 1;
  } else {
    console.log(`core-check: ${Object.keys(CORE).join(", ")} reach no world; all arrows point the right way`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
