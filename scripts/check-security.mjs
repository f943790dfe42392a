// Checks docs/security.md: each row of its table of attacks names a test, and each test that it
// names exists. A test is named as `crates/server/tests/all/jwt.rs`: `name_of_the_test`; a file may
// have several, with commas between them. In JavaScript and TypeScript the name is the test's
// title.
//
// Run it from anywhere: node scripts/check-security.mjs

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const PAGE = "docs/security.md";

/** The rows of all tables of a page, without their heads: [line, cells]. */
export function rows(page) {
  const lines = page.split("\n");
  const isRule = (line) => /^\|[\s|:-]+\|$/.test(line ?? "");
  return lines.flatMap((line, at) => {
    if (!line.startsWith("|") || isRule(line) || isRule(lines[at + 1])) return [];
    return [[at + 1, line.split("|").slice(1, -1)]];
  });
}

/** The tests that a text names: [file, name]. */
export function named(text) {
  return [...text.matchAll(/`([\w./-]+\.(?:rs|mjs|tsx?))`:((?:,? `[^`]+`)+)/g)].flatMap(([, file, names]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => [file, name]),
  );
}

/** Whether a file with this text has a test of this name. */
export function hasTest(file, text, name) {
  const exact = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (!file.endsWith(".rs")) return new RegExp(`\\btest\\(\\s*(["'\`])${exact}\\1`).test(text);
  // A macro makes tests of functions that it names, one for each transport.
  const isMade = new RegExp(`over_every_transport! \\{[^}]*\\b${exact}\\b[^}]*\\}`).test(text);
  if (isMade && new RegExp(`async fn ${exact}\\(`).test(text)) return true;
  // Between the attribute and the function may stand other attributes and documentation.
  return new RegExp(
    `#\\[(?:tokio::)?test\\b[^\\]]*\\]\\s+(?:#\\[[^\\]]*\\]\\s+|//[^\\n]*\\n\\s*)*(?:async )?fn ${exact}\\(`,
  ).test(text);
}

/**
 * What is wrong with the tests that a page names. `read` returns the text of a file, or undefined.
 */
export function wrong(page, read, name = PAGE) {
  const all = rows(page);
  if (all.length === 0) return [`${name}: it has no table`];
  return all.flatMap(([line, cells]) => {
    const tests = named(cells.at(-1) ?? "");
    if (tests.length === 0) return [`${name}:${line}: the row names no test in its last cell`];
    return tests.flatMap(([file, test]) => {
      const text = read(file);
      if (text === undefined) return [`${name}:${line}: there is no file ${file}`];
      return hasTest(file, text, test) ? [] : [`${name}:${line}: ${file} has no test ${test}`];
    });
  });
}

/**
 * Prints the problems that `find` finds on this page, after `complaint`; if there are none, the
 * number of rows and `praise`.
 */
export function check(name, find, complaint, praise) {
  const read = (file) => (existsSync(root + file) ? readFileSync(root + file, "utf8") : undefined);
  const page = read(name) ?? "";
  const found = find(page, read);
  if (found.length > 0) {
    console.error(`wire-check: ${complaint}:`);
    for (const line of found) console.error(`  ${line}`);
    process.exitCode = 1;
  } else {
    console.log(`wire-check: ${rows(page).length} ${praise}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  check(PAGE, wrong, "the table of attacks and the tests do not agree", "attacks, each with tests that exist");
}
