// Checks the rules of the wire format (docs/wire), which are numbered W1, W2, ...:
//   1. each rule is defined once, and within a page the numbers ascend;
//   2. each rule is cited by a test: in crates/*/tests, in a module or file under #[cfg(test)], or
//      in a test in web;
//   3. nothing in code, tests or documents cites a rule that does not exist.
//
// A rule is defined by a line that begins with "- **W12**". It is cited as W12, or in the name of a
// test (fn w12_...). A range (W76 to W80) cites rules, too, but is no proof that a test checks each
// of them.
//
// Run it from anywhere: node scripts/check-wire.mjs

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Numbers that no rule has any more. They are never given to another rule. */
const RETIRED = [56, 57, 58, 59];

// Folders of the repository that hold what we wrote.
const OURS = ["crates", "docs", "fuzz", "lab", "scripts", "web"];
const SKIPPED = new Set(["node_modules", "target", "dist", "wasm", ".git"]);
const SOURCE = /\.(rs|ts|tsx|mjs|js|md|svelte|vue)$/;

/** The rules that pages define: [number, page, line]. */
export function definitions(pages) {
  return Object.entries(pages).flatMap(([page, text]) =>
    text.split("\n").flatMap((line, at) => {
      const match = /^- \*\*W(\d+)\*\*/.exec(line);
      return match ? [[Number(match[1]), page, at + 1]] : [];
    }),
  );
}

/** The faults of the definitions themselves: rules that are defined twice or not in order. */
export function wrongDefinitions(defined, retired = RETIRED) {
  const wrong = [];
  const seen = new Map();
  let last;
  for (const [number, page, line] of defined) {
    const place = `${page}:${line}`;
    if (seen.has(number)) wrong.push(`${place}: W${number} is defined at ${seen.get(number)}, too`);
    if (retired.includes(number)) wrong.push(`${place}: W${number} is retired: take a number that no rule ever had`);
    if (last?.page === page && last.number > number) {
      wrong.push(`${place}: W${number} stands behind W${last.number}: the numbers of a page ascend`);
    }
    seen.set(number, place);
    last = { page, number };
  }
  return wrong;
}

/**
 * The rules that a text cites: [number, line, whether it is named by itself and not by a range].
 */
export function citations(text) {
  return text.split("\n").flatMap((line, at) => {
    const found = [];
    for (const [, first, last] of line.matchAll(/\bW(\d{1,3}) to W(\d{1,3})\b/g)) {
      for (let number = Number(first); number <= Number(last); number++) found.push([number, at + 1, false]);
    }
    const alone = line.replaceAll(/\bW\d{1,3} to W\d{1,3}\b/g, "");
    for (const [, number] of alone.matchAll(/(?<![A-Za-z0-9_])W(\d{1,3})\b/g))
      found.push([Number(number), at + 1, true]);
    // The name of a test may cite several rules: fn w41_w74_...
    for (const [, names] of line.matchAll(/(?:\bfn |["'`])((?:w\d{1,3}_)+)/g)) {
      for (const [, number] of names.matchAll(/w(\d+)_/g)) found.push([Number(number), at + 1, true]);
    }
    return found;
  });
}

/** The part of a file that is tests; empty if none of it is. */
export function testsOf(path, text) {
  if (/^crates\/[^/]+\/tests\//.test(path)) return text;
  if (/^web\/.*(\.test\.|\/test\/|\/e2e\/)/.test(path)) return text;
  if (!path.endsWith(".rs")) return "";
  if (/(^|\/)tests(\/[^/]+)?\.rs$/.test(path) || /^\s*#!\[cfg\(test\)\]/m.test(text)) return text;
  // A module of tests stands last in its file, as everywhere here.
  const start = text.search(/^#\[cfg\(test\)\]\s*\nmod \w+ \{/m);
  return start < 0 ? "" : text.slice(start);
}

/** The faults of citations. `files` maps paths to text. */
export function wrongCitations(defined, files, retired = RETIRED) {
  const numbers = new Set(defined.map(([number]) => number));
  const tested = new Set();
  const wrong = [];
  for (const [path, text] of Object.entries(files)) {
    for (const [number, line] of citations(text)) {
      // The pages name the retired ones as such.
      const isRetired = path.startsWith("docs/wire/") && retired.includes(number);
      if (!numbers.has(number) && !isRetired) wrong.push(`${path}:${line}: there is no rule W${number}`);
    }
    // A range only describes a file. A test of a rule cites the rule by its own number.
    for (const [number, , isAlone] of citations(testsOf(path, text))) if (isAlone) tested.add(number);
  }
  const untested = [...numbers].filter((number) => !tested.has(number)).sort((one, two) => one - two);
  wrong.push(...untested.map((number) => `W${number} is cited by no test: write one that fails if the rule is broken`));
  return wrong;
}

function* walk(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (SOURCE.test(entry.name)) yield relative(root, path);
  }
}

function main() {
  const exists = new Set(readdirSync(root));
  const paths = OURS.filter((folder) => exists.has(folder)).flatMap((folder) => [...walk(join(root, folder))]);
  const files = Object.fromEntries(
    paths
      .filter((path) => !path.startsWith("scripts/check-wire."))
      .map((path) => [path, readFileSync(join(root, path), "utf8")]),
  );
  const pages = Object.fromEntries(Object.entries(files).filter(([path]) => /^docs\/wire\/[^/]+\.md$/.test(path)));
  const defined = definitions(pages);
  const wrong = [...wrongDefinitions(defined), ...wrongCitations(defined, files)];
  if (defined.length === 0) wrong.push("docs/wire: no rules found");
  if (wrong.length > 0) {
    console.error("wire-check: the rules of docs/wire and what cites them do not agree:");
    for (const line of wrong) console.error(`  ${line}`);
    process.exitCode = 1;
  } else {
    console.log(`wire-check: ${defined.length} rules, each defined once and cited by a test`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
