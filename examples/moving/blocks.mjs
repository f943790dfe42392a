// The code blocks of docs/moving: each is a copy of regions of the files in src, which a comment
// before it names: <!-- code: socket-io/before.ts#client -->. With --write it writes the copies.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const DOCS = new URL("../../docs/moving/", import.meta.url);
const SOURCES = new URL("src/", import.meta.url);

const BLOCK = /^(?:<!-- code: (\S+) -->\n)?```ts\n(.*?)^```$/gms;

/** The code that `FILE#REGION,REGION` names, of which each region begins at the margin. */
export function codeOf(name) {
  const [file, regions = ""] = name.split("#");
  const lines = readFileSync(new URL(file, SOURCES), "utf8").split("\n");
  return regions
    .split(",")
    .map((region) => {
      const [begin, end] = ["region", "endregion"].map((word) =>
        lines.findIndex((line) => line.trim() === `// #${word} ${region}`),
      );
      if (begin < 0 || end < begin) throw new Error(`src/${file} has no region ${region}`);
      const inner = lines.slice(begin + 1, end);
      const indent = Math.min(...inner.filter((line) => line !== "").map((line) => line.search(/\S/)));
      return inner.map((line) => line.slice(indent)).join("\n");
    })
    .join("\n\n")
    .concat("\n");
}

/** The lines of code, without those that are blank or comments. */
export function linesOf(...names) {
  const lines = names.flatMap((name) => codeOf(name).split("\n"));
  return lines.filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;
}

/** The pages, by name, and their text. */
export function pages() {
  const names = readdirSync(DOCS).filter((name) => name.endsWith(".md"));
  return new Map(names.map((name) => [name, readFileSync(new URL(name, DOCS), "utf8")]));
}

/** The blocks of a page: `name` is undefined if no comment says where the code is from. */
export function blocksOf(text) {
  return [...text.matchAll(BLOCK)].map(([, name, code]) => ({ name, code }));
}

/** A page with the copies as the files are now. */
export function renewed(text) {
  return text.replace(BLOCK, (block, name) =>
    name ? `<!-- code: ${name} -->\n\`\`\`ts\n${codeOf(name)}\`\`\`` : block,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv.includes("--write")) {
  for (const [name, text] of pages()) writeFileSync(new URL(name, DOCS), renewed(text));
}
