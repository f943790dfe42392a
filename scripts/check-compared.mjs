// Checks docs/compared.md, the table of features beside those of others: each row names tests of ours that exist, in the form of
// docs/security.md, and each cell of others has a link to their documentation, or is "–" if we found nothing there.
//
// Run it from anywhere: node scripts/check-compared.mjs

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rows, wrong } from "./check-security.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const PAGE = "docs/compared.md";

/** The cells of a row: the feature, ours, those of the five others, our tests. */
const CELLS = 8;

/** What is wrong with the page. `read` returns the text of a file, or undefined. */
export function wrongComparison(page, read) {
  const cells = rows(page).flatMap(([line, cells]) => {
    if (cells.length !== CELLS) return [`${PAGE}:${line}: the row has ${cells.length} cells, not ${CELLS}`];
    const bare = cells.slice(2, -1).filter((cell) => cell.trim() !== "–" && !/\]\(https:\/\/[^\s)]+\)/.test(cell));
    return bare.map((cell) => `${PAGE}:${line}: no link proves this: ${cell.trim() || "an empty cell"}`);
  });
  return [...wrong(page, read, PAGE), ...cells];
}

function main() {
  const read = (file) => (existsSync(root + file) ? readFileSync(root + file, "utf8") : undefined);
  const page = read(PAGE) ?? "";
  const found = wrongComparison(page, read);
  if (found.length > 0) {
    console.error("wire-check: the table of features does not hold:");
    for (const line of found) console.error(`  ${line}`);
    process.exitCode = 1;
  } else {
    console.log(`wire-check: ${rows(page).length} features, each with tests that exist and links for what others have`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
