// Checks docs/compared.md, the table of features beside those of others: each row names tests of
// ours that exist, in the form of docs/security.md, and each cell of others has a link to their
// documentation, or is "–" if we found nothing there.
//
// Run it from anywhere: node scripts/check-compared.mjs

import { fileURLToPath } from "node:url";
import { check, rows, wrong } from "./check-security.mjs";

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const praise = "features, each with tests that exist and links for what others have";
  check(PAGE, wrongComparison, "the table of features does not hold", praise);
}
