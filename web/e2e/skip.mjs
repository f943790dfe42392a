// Tests that this machine cannot run.

import { test } from "node:test";
import { countSkipped } from "../../scripts/skipped.mjs";

/** Says that a test cannot run here, also to scripts/skipped.mjs. */
export function skip(name, missing) {
  test(name, { skip: `needs ${missing}` }, () => {});
  countSkipped(name, missing);
}
