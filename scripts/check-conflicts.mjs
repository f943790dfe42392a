// Checks that no file holds conflict markers of an unfinished merge.
//
// Run it from anywhere in a Git checkout: node scripts/check-conflicts.mjs

import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

// Seven equal characters at the start of a line: Git puts a label behind three of the four markers.
// The fourth, seven equals signs alone, would also underline a Markdown heading; headings in this
// project begin with #.
const MARKER = /^(?:<{7}|\|{7}|>{7})(?: |$)|^={7}$/;

/** The lines of `text` that are conflict markers, counted from 1. */
export function conflictLines(text) {
  return text.split(/\r?\n/).flatMap((line, index) => (MARKER.test(line) ? [index + 1] : []));
}

/**
 * The places of conflict markers in the files with these paths, as "path:line". Binary files have
 * none.
 */
export function conflicts(paths, read) {
  return paths.flatMap((path) => {
    const text = read(path);
    return text.includes("\0") ? [] : conflictLines(text).map((line) => `${path}:${line}`);
  });
}

// Files that Git tracks and files that it would add. A deleted file stays in Git's list until the
// deletion is staged. Symbolic links are left out: they may lead to a folder.
function files() {
  const git = (...options) =>
    execFileSync("git", ["ls-files", "-z", ...options], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 })
      .split("\0")
      .filter(Boolean);
  const deleted = new Set(git("--deleted"));
  const present = [...new Set(git("--cached", "--others", "--exclude-standard"))].filter((path) => !deleted.has(path));
  return present.filter((path) => !lstatSync(join(root, path)).isSymbolicLink());
}

function main() {
  const paths = files();
  if (paths.length === 0) throw new Error("Git lists no files");
  const found = conflicts(paths, (path) => readFileSync(join(root, path), "utf8"));
  if (found.length === 0) {
    console.log(`conflicts: none in ${paths.length} files`);
    return;
  }
  console.error("conflicts: these lines are markers of an unfinished merge:");
  for (const place of found) console.error(`  ${place}`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(`conflicts: ${error.message}`);
    process.exitCode = 1;
  }
}
