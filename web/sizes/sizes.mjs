// Prints the tables of docs/sizes.md: sizes of pages beside those on other packages, and of each
// package.
//
// Run it after `make web`: (cd web/sizes && npm ci) && node web/sizes/sizes.mjs

import { readFileSync } from "node:fs";
import { brotli, gzip } from "../../scripts/compress.mjs";
import { codeOf, ENTRIES } from "./packages.mjs";
import { filesOf, PAGES } from "./pages.mjs";

const number = new Intl.NumberFormat("en");
const zipped = (bytes) => gzip(bytes).length;
// Files that take too long to compress by brotli are sent in gzip.
const brotlied = (bytes) => (brotli(bytes) ?? gzip(bytes)).length;

/** The cell of a table: the sum of files, each compressed alone. */
function size(files, compress) {
  if (files.length === 0) return "";
  return number.format(files.reduce((sum, file) => sum + compress(Buffer.from(file)), 0));
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  console.log([line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n") + "\n");
}

const pages = [];
for (const [page, title] of Object.entries(PAGES)) {
  const { javascript, first, second } = await filesOf(page);
  const all = [...javascript, ...first, ...second];
  pages.push([title, ...[javascript, first, second, all].map((files) => size(files, zipped)), size(all, brotlied)]);
}
const parts = [
  "JavaScript",
  "WebAssembly before the first message",
  "WebAssembly after it",
  "together",
  "together, by brotli",
];
table(["page", ...parts], pages);

const packages = [];
for (const entry of ENTRIES) {
  const code = await codeOf(entry);
  packages.push([`\`${entry[0]}\``, size(code, zipped), size(code, brotlied)]);
}
table(["import", "gzip", "brotli"], packages);

const MODULES = {
  first: "the core, first part: before the first message",
  second: "the core, second part: after it",
  codecs_bg: "codecs other than the default, when a channel asks for one",
  brotli_bg: "brotli, when a channel asks for it",
};
const wasm = (name) => readFileSync(new URL(`../client/wasm/groupwire_wasm_${name}.wasm`, import.meta.url));
table(
  ["WebAssembly of `groupwire`", "gzip", "brotli"],
  Object.entries(MODULES).map(([name, title]) => [title, size([wasm(name)], zipped), size([wasm(name)], brotlied)]),
);
