/**
 * Applications of the templates within this repository, whose packages they find without being
 * installed. The one with Next.js is left out: Next.js is large, and only web/packed installs it.
 */

import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { TEMPLATES } from "../src/templates.mjs";
import { writeApplication } from "../src/write.mjs";

/**
 * Writes an application of each of these templates into a folder of its own below dist/, and
 * returns their paths by template.
 */
export function generate(purpose) {
  const root = fileURLToPath(new URL(`../dist/${purpose}/`, import.meta.url));
  rmSync(root, { recursive: true, force: true });
  return new Map(
    TEMPLATES.filter(({ name }) => name !== "next").map(({ name }) => {
      writeApplication(root + name, name);
      return [name, root + name];
    }),
  );
}
