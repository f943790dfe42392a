/** Checks the types of an application of each template, as its own script `check` does. */

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generate } from "./generate.mjs";

const require = createRequire(import.meta.url);
const bin = (name, path) => join(require.resolve(`${name}/package.json`), "..", path);
const newest = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

// In this repository TypeScript 7 is beside vue-tsc, which needs the compiler of TypeScript 6.
const vue = `require(${JSON.stringify(require.resolve("vue-tsc"))}).run(${JSON.stringify(require.resolve("typescript/lib/tsc"))})`;

const CHECKS = {
  react: [newest],
  plain: [newest],
  vue: ["--eval", vue, "--"],
  svelte: [bin("svelte-check", "bin/svelte-check"), "--fail-on-warnings"],
};

for (const [template, cwd] of generate("check")) {
  const { status } = spawnSync(process.execPath, CHECKS[template], { cwd, stdio: "inherit" });
  if (status === 0) continue;
  console.error(`create-groupwire: the template ${template} has errors`);
  process.exitCode = 1;
}
