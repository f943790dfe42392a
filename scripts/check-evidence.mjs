// Checks that docs/evidence.md is what lab/evidence/result.json and registry.json come to, that
// every entry that counts has rows and a verdict, and that each one that differs says why.
//
//   node scripts/check-evidence.mjs
//
// After a change of the registry alone, --write makes the document anew.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { markdown } from "../lab/evidence/markdown.mjs";
import { unanswered } from "./evidence.mjs";

const at = (path) => new URL(`../${path}`, import.meta.url);
const read = (path) => readFileSync(at(path), "utf8");

/** What is wrong with a result and its document; nothing if the list is empty. */
export function faults(registry, result, document) {
  const counted = registry.entries.filter((entry) => entry.counted);
  const strange = counted.filter(({ id }) => !result.entries[id]).map(({ id }) => `${id} is not in the result`);
  if (strange.length) return strange;
  const lines = unanswered(registry, result.entries).map((id) => `${id} has no rows or no verdict`);
  for (const { id, because } of counted)
    for (const side of ["again", "ours"])
      if (result.entries[id][side].verdict === "differs" && !because?.[side])
        lines.push(`${id} differs (${side}), and its \`because\` in the registry does not say why`);
  if (markdown(registry, result) !== document)
    lines.push("docs/evidence.md is not of this result; --write makes it anew");
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [registry, result] = ["registry", "result"].map((name) => JSON.parse(read(`lab/evidence/${name}.json`)));
  if (process.argv.includes("--write")) writeFileSync(at("docs/evidence.md"), markdown(registry, result));
  const lines = faults(registry, result, read("docs/evidence.md"));
  for (const line of lines) console.error(`evidence: ${line}`);
  if (lines.length === 0) console.log("evidence: the document is of the result, and every entry has a verdict");
  process.exitCode = lines.length ? 1 : 0;
}
