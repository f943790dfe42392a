// Measures the shape of the product's Rust code: what a change of its structure is judged by.
// Prints one line for each measure.
//
// Run it from anywhere: node scripts/shape.mjs [ROOT...] Each ROOT is a checkout to measure, such
// as an older one beside this one; the measures of several stand side by side.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { components, imports, sources } from "./check-cycles.mjs";
import { blank, testFiles, withoutTests } from "./rust-source.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));

/** Structs of the room and the client's session with more fields than this are listed. */
const MANY_FIELDS = 15;
const LONGEST_FUNCTION = 100;
const WIDEST_COMMENT = 100;
const RAW_ID = /\b(?:participant|sender|channel|counter|position|order|class|link)(?:_id)?: u(?:32|64)\b/;

// The layers of a room, from the top. A file may import its own layer and those below it.
const ROOM_LAYERS = [
  /^room\/(mod|admission|poll|storage\/durable)\.rs$|^room\/(administration|inspection|periodic)\//,
  /^room\/peer\//,
  /^room\/(common|permissions|timers|storage\/storing|(accounting|members)\/mod)\.rs$|^room\/(attention|delivery|intake)\//,
  /^room\/inspector\//,
  /^room\/feed\//,
  /^room\/log\//,
  /^room\/(api|accounting\/upstream|members\/(news|roster)|storage\/stored)\.rs$|^room\/subscriptions\//,
];

/** Measures a checkout: returns a list of [name, value]. */
export function measures(root) {
  const crates = readCrates(root);
  const all = [...crates.values()].flatMap((files) => Object.values(files));
  const measured = [];
  const add = (name, value) => measured.push([name, value]);

  const functions = all.flatMap(({ path, code }) => functionsOf(code).map((found) => ({ path, ...found })));
  const lengths = functions.map(({ lines }) => lines).sort((one, other) => one - other);
  const long = functions.filter(({ lines }) => lines > LONGEST_FUNCTION);
  const sizes = all.map(({ text }) => lineCount(text)).sort((one, other) => one - other);
  add("functions: median, p99, longest (lines)", [middle(lengths), at(lengths, 0.99), lengths.at(-1)].join(", "));
  add(`functions above ${LONGEST_FUNCTION} lines`, long.length);
  add("files: median, p99, longest (lines)", [middle(sizes), at(sizes, 0.99), sizes.at(-1)].join(", "));

  const circles = [...crates.values()].map((files) => circlesOf(files));
  add("circles of files, all crates", sum(circles.map(({ count }) => count)));
  add("files in circles, all crates", sum(circles.map(({ files }) => files)));
  const server = crates.get("server");
  const ofServer = circlesOf(server);
  add("server: circles of files, files in them", `${ofServer.count}, ${ofServer.files}`);
  add("server: folders that import each other in circles", foldersInCircles(server));
  add("server: files directly in src/", Object.keys(server).filter((path) => !path.includes("/")).length);
  add("server: files that name the crate of the store", count(server, /\bgroupwire_store\b/).files);
  add("server: files that name the store's struct", count(server, /\bStore\b/).files);
  add("server: struct with most fields", widest(server));

  const session = crates.get("session");
  const room = below(session, "room/");
  const client = below(session, "client/");
  add("session: files directly in room/", Object.keys(room).filter((path) => path.split("/").length === 2).length);
  for (const [name, files] of Object.entries({ room, client })) {
    const wide = structs(files).filter(({ fields }) => fields > MANY_FIELDS);
    const listed = wide.map((found) => `${found.name} ${found.fields}`).join(", ");
    add(`session: structs in ${name}/ with more than ${MANY_FIELDS} fields`, listed || "none");
  }
  add("session: imports that point up inside the room", upwardImports(session));
  add("session: raw integers named as ids", count(session, RAW_ID).places);
  add("session: mem::take, replace, swap in the room", count(room, /mem::(?:take|replace|swap)\b/).places);
  add("session: signatures with &mut Common", count(room, /:\s*&mut Common\b/).places);
  add("session: files with an impl of the client's Session", count(client, /\bimpl Session\b/).files);

  for (const name of ["Shared", "Stream", "Line", "Place"]) {
    add(`types named ${name}`, count(merged(crates), new RegExp(`\\b(?:struct|enum|trait|type) ${name}\\b`)).places);
  }
  add("functions named tell", count(merged(crates), /\bfn tell\b/).places);
  for (const crate of ["server", "store", "client", "quic", "session"]) {
    add(`${crate}: debug assertions`, count(crates.get(crate), /\bdebug_assert(?:_eq|_ne)?!/).places);
  }

  const every = rustFiles(root);
  const comments = every.flatMap((text) => text.split("\n").filter((line) => /^\s*\/\//.test(line)));
  add('lines with "octet", laboratory and docs too', linesWith(root, /octet/i));
  add('lines of comments with "so many"', comments.filter((line) => /\bso many\b/i.test(line)).length);
  add(
    `lines of comments above ${WIDEST_COMMENT} columns`,
    comments.filter((line) => line.length > WIDEST_COMMENT).length,
  );
  add("longest cell of a table in ARCHITECTURE.md", longestCell(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")));

  for (const [crate, files] of crates) {
    add(`${crate}: lines of code, without comments, blank lines and tests`, sum(Object.values(files).map(codeLines)));
  }
  for (const folder of ["crates", "lab", "web", "scripts", "examples", "fuzz"]) {
    add(`${folder}/: lines of sources, all`, allLines(join(root, folder)));
  }
  return measured;
}

/**
 * The product's crates: { path below src/: { path, text, code } }; `code` has blanks for comments,
 * strings and tests.
 */
function readCrates(root) {
  const names = readdirSync(join(root, "crates")).filter((name) => existsSync(join(root, "crates", name, "src")));
  return new Map(
    names.map((crate) => {
      const files = sources(crate, root);
      const tests = testFiles(files);
      const isTest = (path) => tests.has(path) || /(^|\/)\w*tests(\.rs|\/)/.test(path);
      const product = Object.entries(files).filter(([path]) => !isTest(path));
      const read = ([path, text]) => [path, { path: `${crate}/${path}`, text, code: withoutTests(blank(text)) }];
      return [crate, Object.fromEntries(product.map(read))];
    }),
  );
}

function merged(crates) {
  const entries = [...crates.values()].flatMap((files) => Object.values(files).map((file) => [file.path, file]));
  return Object.fromEntries(entries);
}

function below(files, folder) {
  return Object.fromEntries(Object.entries(files).filter(([path]) => path.startsWith(folder)));
}

/** All functions with a body in blanked code: { name, lines }. */
export function functionsOf(code) {
  const lines = code.split("\n");
  return lines.flatMap((line, at) => {
    const start = /^(\s*)(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe )*fn (\w+)/.exec(line);
    if (!start) return [];
    if (/\{.*\}\s*$/.test(line)) return [{ name: start[2], lines: 1 }];
    const isEnd = (other) =>
      other.trimEnd() === `${start[1]}}` || (other.startsWith(`${start[1]}fn `) && other !== line);
    const end = lines.findIndex((other, later) => later > at && isEnd(other));
    const body = lines.slice(at, end < 0 ? at + 1 : end + 1);
    // A method of a trait without a body ends with a semicolon.
    const isDeclared = body.findIndex((one) => /;\s*$/.test(one)) < body.findIndex((one) => /\{\s*$/.test(one));
    if (!body.some((one) => /\{\s*$/.test(one)) || (isDeclared && /;\s*$/.test(line))) return [];
    return [{ name: start[2], lines: body.length }];
  });
}

/** All structs with named fields: { name, fields }, those with most fields first. */
export function structs(files) {
  const found = [];
  for (const { code } of Object.values(files)) {
    for (const { 1: name, 2: body } of code.matchAll(/\bstruct (\w+)[^;{(]*\{([^}]*)\}/g)) {
      found.push({ name, fields: body.match(/^\s*(?:pub(?:\([^)]*\))? )?\w+:/gm)?.length ?? 0 });
    }
  }
  return found.sort((one, other) => other.fields - one.fields);
}

function widest(files) {
  const [first] = structs(files);
  return `${first.name} ${first.fields}`;
}

/** In how many places and in how many files the code has a pattern. */
function count(files, pattern) {
  const found = Object.values(files).map(({ code }) => code.match(new RegExp(pattern, "g"))?.length ?? 0);
  return { places: sum(found), files: found.filter((places) => places > 0).length };
}

/** Which of the files import which: a Map of Sets. */
function importsOf(files) {
  return imports(Object.fromEntries(Object.entries(files).map(([path, { text }]) => [path, text])));
}

function circlesOf(files) {
  const circles = components(importsOf(files)).filter((circle) => circle.length > 1);
  return { count: circles.length, files: sum(circles.map((circle) => circle.length)) };
}

/** The number of imports inside the room that lead from a layer to a higher one. */
function upwardImports(files) {
  const layer = (path) => ROOM_LAYERS.findIndex((pattern) => pattern.test(path));
  const isUp = (from, target) => layer(from) > 0 && layer(target) >= 0 && layer(target) < layer(from);
  return sum(
    [...importsOf(files)].map(([from, targets]) => [...targets].filter((target) => isUp(from, target)).length),
  );
}

/** The number of folders (and files directly in src/) that are in a circle of imports. */
function foldersInCircles(files) {
  const folder = (path) => path.split("/")[0].replace(/\.rs$/, "");
  const edges = new Map();
  for (const [from, targets] of importsOf(files)) {
    const known = edges.get(folder(from)) ?? edges.set(folder(from), new Set()).get(folder(from));
    for (const target of targets) if (folder(target) !== folder(from)) known.add(folder(target));
  }
  return sum(
    components(edges)
      .map((circle) => circle.length)
      .filter((length) => length > 1),
  );
}

const IGNORED = new Set(["node_modules", "dist", "target", "wasm", "testdata", "vectors", "conversations"]);
const SOURCE = /\.(rs|ts|tsx|mjs|js|vue|svelte|css|html|sh|py)$/;

/** All files below a folder whose names match, without what is built or installed. */
function* filesBelow(folder, pattern) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !IGNORED.has(entry.name)) yield* filesBelow(path, pattern);
    else if (entry.isFile() && pattern.test(entry.name)) yield path;
  }
}

function rustFiles(root) {
  return ["crates", "lab"].flatMap((folder) =>
    [...filesBelow(join(root, folder), /\.rs$/)].map((path) => readFileSync(path, "utf8")),
  );
}

function linesWith(root, pattern) {
  const files = ["crates", "lab", "docs", "web", "scripts", "fuzz", "examples"].flatMap((folder) => [
    ...filesBelow(join(root, folder), /\.(rs|ts|mjs|md)$/),
  ]);
  return sum(
    files.map(
      (path) =>
        readFileSync(path, "utf8")
          .split("\n")
          .filter((line) => pattern.test(line)).length,
    ),
  );
}

function allLines(folder) {
  return sum([...filesBelow(folder, SOURCE)].map((path) => lineCount(readFileSync(path, "utf8"))));
}

function longestCell(markdown) {
  const rows = markdown.split("\n").filter((line) => line.startsWith("| "));
  return Math.max(...rows.flatMap((row) => row.split("|").map((cell) => cell.trim().length)));
}

const codeLines = ({ code }) => code.split("\n").filter((line) => line.trim() !== "").length;
const lineCount = (text) => text.split("\n").length - 1;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const middle = (sorted) => at(sorted, 0.5);

function main() {
  const roots = process.argv.length > 2 ? process.argv.slice(2).map((root) => resolve(root)) : [here];
  const columns = roots.map((root) => new Map(measures(root)));
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  for (const name of names) {
    console.log(`${name}: ${columns.map((column) => column.get(name) ?? "-").join(" | ")}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
