// Tests that this machine cannot run.

import { appendFileSync } from "node:fs";
import { test } from "node:test";

/** Says that a test cannot run here, also to scripts/skipped.mjs. */
export function skip(name, missing) {
  test(name, { skip: `needs ${missing}` }, () => {});
  const file = process.env.GROUPWIRE_SKIPPED;
  if (file) appendFileSync(file, `${name}: needs ${missing}\n`);
}
