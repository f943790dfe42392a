// Measures the shape of crates/session: what a change of its structure is judged by. Prints one
// line for each measure.
//
// Run it from anywhere: node scripts/session-shape.mjs [ROOT]
// ROOT is another checkout to measure, such as an older one beside this one.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { imports, largestCircle } from "./check-cycles.mjs";

const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url));
const src = join(root, "crates/session/src");

/** All sources below a folder: { path below it: text }. */
function sources(folder, below = folder) {
  const found = {};
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) Object.assign(found, sources(path, below));
    else if (name.endsWith(".rs")) found[relative(below, path)] = readFileSync(path, "utf8");
  }
  return found;
}

/** The text without comments and without the tests at its end. */
function code(text) {
  const withoutTests = text.replace(/#\[cfg\(test\)\]\s*mod \w+(;| \{[\s\S]*)/, "");
  return withoutTests.replace(/\/\/.*$/gm, "").replace(/\/\*[\s\S]*?\*\//g, "");
}

const files = sources(src);
const isTest = (path) => /(^|\/)tests(\.rs|\/)/.test(path);
const product = Object.entries(files).filter(([path]) => !isTest(path));
const codeOf = Object.fromEntries(product.map(([path, text]) => [path, code(text)]));
const room = Object.entries(codeOf).filter(([path]) => path.startsWith("room/"));

/** How often a pattern occurs, in all of these files. */
function count(pattern, among = Object.entries(codeOf)) {
  return among.reduce((sum, [, text]) => sum + (text.match(pattern)?.length ?? 0), 0);
}

/** The longest function: { name, lines }. */
function longestFunction() {
  let longest = { name: "", lines: 0 };
  for (const [path, text] of Object.entries(codeOf)) {
    const lines = text.split("\n");
    lines.forEach((line, at) => {
      const start = /^(\s*)(?:pub(?:\([^)]*\))? )?(?:const )?fn (\w+)/.exec(line);
      if (!start) return;
      const end = lines.findIndex((other, later) => later > at && other === `${start[1]}}`);
      if (end - at + 1 > longest.lines) longest = { name: `${path} ${start[2]}`, lines: end - at + 1 };
    });
  }
  return longest;
}

// The layers of a room, from the top. A file may import its own layer and those below it.
const LAYERS = [
  /^room\/(mod|admission|poll|storage\/durable)\.rs$|^room\/(administration|inspection|periodic)\//,
  /^room\/peer\//,
  /^room\/(common|permissions|timers|storage\/storing|(accounting|members)\/mod)\.rs$|^room\/(attention|delivery|intake)\//,
  /^room\/inspector\//,
  /^room\/feed\//,
  /^room\/log\//,
  /^room\/(api|accounting\/upstream|members\/(news|roster)|storage\/stored)\.rs$|^room\/subscriptions\//,
];

/**
 * Imports inside the room that lead from a layer to a higher one; undefined where the room has no
 * such layers.
 */
function upward() {
  if (!codeOf["room/log/mod.rs"]) return undefined;
  const layer = (path) => LAYERS.findIndex((pattern) => pattern.test(path));
  const found = [];
  for (const [from, targets] of imports(files)) {
    for (const target of targets) {
      if (layer(from) > 0 && layer(target) >= 0 && layer(target) < layer(from)) found.push(`${from} -> ${target}`);
    }
  }
  return found;
}

const lines = Object.values(codeOf)
  .join("\n")
  .split("\n")
  .filter((line) => line.trim() !== "");
const walks = count(/\b(transactions_after|awareness_after)\(|self\.(transactions|values)\.after\(/g, room);
const longest = longestFunction();
const circle = largestCircle(files);
const ups = upward();
const sizes = product.map(([path, text]) => [text.split("\n").length, path]).sort((one, two) => two[0] - one[0]);

console.log(`code lines without comments, blank lines and tests: ${lines.length}`);
console.log(`files: ${product.length}, the longest: ${sizes[0][1]} with ${sizes[0][0]} lines`);
console.log(`places in the room that iterate over the log's messages: ${walks}`);
console.log(`mem::take, replace, swap in the room: ${count(/mem::(take|replace|swap)\b/g, room)}`);
console.log(`as_deref_mut in the room: ${count(/as_deref_mut\(\)/g, room)}`);
console.log(`cfg(feature) lines: ${count(/cfg(_attr)?\(.*feature/g)}`);
console.log(
  `raw integers named as ids: ${count(/\b(participant|sender|channel|counter|position|order|class|link)(_id)?: u(32|64)\b/g)}`,
);
console.log(`largest circle of files: ${circle.length}`);
console.log(`imports that point up inside the room: ${ups === undefined ? "the room has no layers" : ups.length}`);
ups?.forEach((up) => console.log(`  ${up}`));
console.log(`longest function: ${longest.name}, ${longest.lines} lines`);
