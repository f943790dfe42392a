// Prints a bill of materials without what differs between two runs on the same commit: sbom.mjs
// FILE. The serial number is random, the time is that of the run, and paths are of this machine.
// npm names our own packages by their folders; here they have the names in their package URLs.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `time` is in seconds since 1970; paths below `root` begin with /groupwire then. */
export function reproducible(bom, root, time) {
  const { serialNumber: _, ...rest } = bom;
  const same = { ...rest, metadata: { ...rest.metadata, timestamp: new Date(time * 1000).toISOString() } };
  for (const component of same.components ?? []) {
    const [, name] = /^pkg:npm\/([^@]+)@/.exec(component.purl ?? "") ?? [];
    if (name) component.name = decodeURIComponent(name);
  }
  const text = JSON.stringify(same, null, 2);
  return `${text.replaceAll(root.replace(/\/$/, ""), "/groupwire")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const bom = JSON.parse(readFileSync(process.argv[2], "utf8"));
  process.stdout.write(reproducible(bom, root, Number(process.env.SOURCE_DATE_EPOCH)));
}
