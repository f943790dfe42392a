// Breaks the law of shared data (docs/shared.md) on purpose, one fault at a time, and checks that
// its random test notices each. The faults are in web/client/test/shared/mutations.config.mjs.
//
// Run it after `make web`: node scripts/shared-mutations.mjs

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { FAULTS } from "../web/client/test/shared/mutations.config.mjs";

const web = fileURLToPath(new URL("../web", import.meta.url));

/** Whether the test passes with a fault. */
function passes(fault) {
  const config = "client/test/shared/mutations.config.mjs";
  const args = ["vitest", "run", "--root", ".", "--config", config, "client/test/shared/law.test.ts"];
  const env = { ...process.env, NO_COLOR: "1", SHARED_FAULT: fault, GROUPWIRE_SEEDS: "300" };
  const { status, stdout, stderr } = spawnSync("npx", args, { cwd: web, env, encoding: "utf8" });
  // Only a broken law counts, and not that the test could not run.
  const reason = /(?<=AssertionError.*: ).*/.exec(stdout + stderr)?.[0];
  if (status !== 0 && reason === undefined) throw new Error(stdout + stderr);
  console.log(`${fault || "no fault"}: ${status === 0 ? "passes" : `noticed: ${reason}`}`);
  return status === 0;
}

const missed = Object.keys(FAULTS).filter(passes);
for (const fault of missed) console.error(`not noticed: ${fault}`);
process.exitCode = missed.length > 0 ? 1 : 0;
