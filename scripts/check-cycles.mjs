// Finds circles of files: files of one crate that import each other, directly or through others. A
// reader of one of them has to know all of them. For each crate it prints the largest circle; 1
// file means that there is none.
//
// An import is a path in a `use` declaration or in code that leads to another file of the crate.
// Where that file re-exports the name, the import leads to the file from which the name comes. A
// `mod` declaration is no import, and neither is anything under #[cfg(test)].
//
// Run it from anywhere: node scripts/check-cycles.mjs [--max FILES] [CRATE...]
// With --max it fails if a circle has more files.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { blank, itemEnd, modulePath, testFiles, withoutTests } from "./rust-source.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The largest circle among the sources of a crate. `files` maps paths below src/ to text. */
export function largestCircle(files) {
  const edges = imports(files);
  const circles = components(edges);
  return circles.reduce((largest, circle) => (circle.length > largest.length ? circle : largest), []).sort();
}

/** Which files each file of a crate imports: a Map of Sets. */
export function imports(files) {
  const modules = new Map();
  const code = new Map();
  for (const [file, text] of Object.entries(files)) {
    const clean = withoutTests(blank(text));
    if (/^\s*#!\[cfg\(test\)\]/.test(clean)) continue;
    code.set(file, clean);
  }
  for (const file of testFiles(files)) code.delete(file);
  for (const file of code.keys()) modules.set(modulePath(file).join("::"), file);

  const names = new Map();
  for (const [file, text] of code) names.set(file, usedNames(text, modulePath(file), modules));

  const edges = new Map();
  for (const [file, text] of code) {
    const found = [...names.get(file).values(), ...codePaths(text, modulePath(file), names.get(file), modules)];
    const targets = found.map((path) => origin(path, file, names, modules));
    edges.set(file, new Set(targets.filter((target) => target !== undefined && target !== file)));
  }
  return edges;
}

// The file to which a path leads: that of the longest part of the path that is a module with a file
// of its own, or the file from which that one re-exports the rest of the path.
function origin(path, from, names, modules) {
  const seen = new Set([from]);
  for (;;) {
    let length = path.length;
    while (length > 0 && !modules.has(path.slice(0, length).join("::"))) length--;
    const file = modules.get(path.slice(0, length).join("::"));
    const next = length < path.length && !seen.has(file) ? names.get(file)?.get(path[length]) : undefined;
    if (next === undefined) return file;
    seen.add(file);
    path = [...next, ...path.slice(length + 1)];
  }
}

// The modules with a body in which a place of the file is, from the root of the crate on.
function moduleFinder(text, module) {
  const inner = innerModules(text);
  return (index) => [
    ...module,
    ...inner.filter(({ start, end }) => start < index && index < end).map(({ name }) => name),
  ];
}

// The names that the `use` declarations of a file give to paths into the crate: a Map.
function usedNames(text, module, modules) {
  const moduleAt = moduleFinder(text, module);
  const names = new Map();
  for (const { index, path, name } of usedPaths(text)) {
    const full = resolve(path, moduleAt(index), names, modules);
    // Globs and `as _` give no name, and a name may be imported twice, under opposite #[cfg]; each
    // gets an entry of its own.
    const isNew = /^\w+$/.test(name ?? "") && name !== "_" && !names.has(name);
    if (full) names.set(isNew ? name : `${name} ${names.size}`, full);
  }
  return names;
}

// All paths into the crate that occur in the code of a file, from the root of the crate on.
function* codePaths(text, module, names, modules) {
  const moduleAt = moduleFinder(text, module);
  const code = text.replace(/\buse\s[^;]*;/g, (use) => use.replace(/[^\n]/g, " "));
  for (const { 0: found, index } of code.matchAll(/(?<![\w:.$])[a-z_]\w*(?:\s*::\s*\w+)+/g)) {
    // The visibility `pub(in path)` is no import.
    if (/\(\s*in\s+$/.test(code.slice(0, index))) continue;
    const full = resolve(
      found.split("::").map((part) => part.trim()),
      moduleAt(index),
      names,
      modules,
    );
    if (full) yield full;
  }
}

// The path from the root of the crate on; nothing if it leads to another crate.
function resolve(path, module, names, modules) {
  const [first, ...rest] = path;
  if (first === "crate") return rest;
  if (first === "self") return resolveSupers(rest, module);
  if (first === "super") return resolveSupers(path, module);
  if (names.has(first) && modules.has(names.get(first).join("::"))) return [...names.get(first), ...rest];
  if (modules.has([...module, first].join("::"))) return [...module, ...path];
}

function resolveSupers(path, module) {
  const ups = path.findIndex((part) => part !== "super");
  const count = ups < 0 ? path.length : ups;
  return [...module.slice(0, module.length - count), ...path.slice(count)];
}

// Every path of the `use` declarations with the braces multiplied out, and the name that it gets in
// the file.
function* usedPaths(text) {
  for (const { 1: body, index } of text.matchAll(/\buse\s+([^;]*);/g)) {
    const tokens = [...body.matchAll(/::|[{},*]|\w+/g)].map(([token]) => token);
    for (const { path, name } of expand(tokens, [])) yield { index, path, name };
  }
}

// Reads `a::b::{self, d::e as f}` from the start of tokens: a::b, a::b::d::e.
function expand(tokens, prefix) {
  if (tokens[0] === "::") tokens.shift();
  const path = [...prefix];
  while (tokens.length > 0) {
    const token = tokens.shift();
    if (token === "{") {
      const all = [];
      while (tokens.length > 0 && tokens[0] !== "}") {
        if (tokens[0] === ",") tokens.shift();
        else all.push(...expand(tokens, path));
      }
      tokens.shift();
      return all;
    }
    if (token === "*") return [{ path, name: "*" }];
    if (token !== "self" || path.length === 0) path.push(token);
    if (tokens[0] === "as") {
      tokens.shift();
      return [{ path, name: tokens.shift() }];
    }
    if (tokens[0] !== "::") return [{ path, name: path.at(-1) }];
    tokens.shift();
  }
  return [];
}

// Modules with a body in the file: what `super` and `self` mean in them is one level deeper.
function innerModules(text) {
  return [...text.matchAll(/\bmod\s+(\w+)\s*\{/g)].map(({ 0: found, 1: name, index }) => {
    const start = index + found.length;
    return { name, start, end: itemEnd(text, start - 1) };
  });
}

/** The strongly connected components of a graph: Tarjan's algorithm. */
export function components(edges) {
  const found = [];
  const order = new Map();
  const low = new Map();
  const stack = [];
  const visit = (node) => {
    order.set(node, order.size);
    low.set(node, order.get(node));
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node), low.get(next)));
      } else if (stack.includes(next)) {
        low.set(node, Math.min(low.get(node), order.get(next)));
      }
    }
    if (low.get(node) === order.get(node)) found.push(stack.splice(stack.indexOf(node)));
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return found;
}

/** The sources of a crate, without programs beside the library: { path below src/: text }. */
export function sources(crate, from = root) {
  const folder = join(from, "crates", crate, "src");
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".rs"));
  const isProgram = (name) => name.startsWith("bin/") || (name === "main.rs" && names.includes("lib.rs"));
  const library = names.filter((name) => !isProgram(name));
  return Object.fromEntries(library.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function main() {
  const { values, positionals } = parseArgs({ options: { max: { type: "string" } }, allowPositionals: true });
  const max = values.max === undefined ? Infinity : Number(values.max);
  if (Number.isNaN(max)) throw new Error(`--max takes a number of files, not ${values.max}`);
  const all = readdirSync(join(root, "crates")).filter((crate) => existsSync(join(root, "crates", crate, "src")));
  const crates = positionals.length > 0 ? positionals.map((name) => basename(name)) : all;
  let wrong = 0;
  for (const crate of crates) {
    const circle = largestCircle(sources(crate));
    const names = circle.length > 1 ? `: ${circle.join(" ")}` : "";
    console.log(`${crate}: ${circle.length}${names}`);
    if (circle.length > max) wrong++;
  }
  if (wrong > 0) {
    console.error(`check-cycles: ${wrong} crates have a circle of more than ${max} files`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
