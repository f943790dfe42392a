/**
 * The examples of docs/guide. The first line of each is the name of its file; a page goes on from
 * the files of those before.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const GUIDE = fileURLToPath(new URL("../../../docs/guide/", import.meta.url));

/** The pages that build one application, in their order. */
export const STEPS = ["first-room", "presence", "shared-data", "motion"];

/** The text of a page. */
export function pageOf(name) {
  return readFileSync(`${GUIDE}${name}.md`, "utf8");
}

/** The blocks of a Markdown text in this language. */
export function blocks(markdown, language) {
  const form = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return [...markdown.matchAll(form)].map(([, code]) => code);
}

/**
 * The files of a page: { name, code, isEnd }. With `isEnd` the code belongs at the end of the file
 * that is there.
 */
export function filesOf(page) {
  const found = blocks(pageOf(page), "(?:ts|html)").map((code) => {
    const [first, ...rest] = code.split("\n");
    const [, name, end] = /^(?:\/\/|<!--) ([\w./-]+)(, at its end)?(?: -->)?$/.exec(first) ?? [];
    if (!name)
      throw new Error(`docs/guide/${page}.md: the first line of an example has to name its file, not: ${first}`);
    return { name, code: rest.join("\n"), isEnd: end !== undefined };
  });
  if (found.length === 0) throw new Error(`docs/guide/${page}.md has no example`);
  return found;
}

/** The application as it is after a page: its files by name. */
export function applicationAfter(page) {
  const files = new Map();
  for (const step of STEPS.slice(0, STEPS.indexOf(page) + 1)) {
    for (const { name, code, isEnd } of filesOf(step)) {
      if (isEnd && !files.has(name)) throw new Error(`docs/guide/${step}.md adds to ${name}, which is not there`);
      files.set(name, isEnd ? `${files.get(name)}\n${code}` : code);
    }
  }
  return files;
}

/**
 * Writes files, by name, into a folder within this repository, so that they find its packages.
 * Returns its path.
 */
export function write(name, files) {
  const folder = fileURLToPath(new URL(`../dist/guide-${name}/`, import.meta.url));
  rmSync(folder, { recursive: true, force: true });
  for (const [file, code] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), code);
  }
  return folder;
}
