// What axe, a checker of accessibility, finds on a page.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * A line for each violation, with the elements as they are shown now. `exclude` are selectors of
 * elements that are not checked.
 */
export async function violations(page, exclude = []) {
  await page.evaluate(`if (!window.axe) { ${axe} }`);
  const found = await page.evaluate(
    (exclude) => window.axe.run({ include: [document.documentElement], exclude }, { resultTypes: ["violations"] }),
    exclude,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html.slice(0, 120)} ${any.map(({ message }) => message).join("; ")}`),
  );
}
