/** The examples of docs/react.md compile and run: their last one is a test itself. */

import "../../common/test/dom.js";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const here = fileURLToPath(new URL("..", import.meta.url));
// Not below node_modules, where Vitest would take them as they are.
const folder = join(here, "dist/docs");
mkdirSync(folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));

const page = readFileSync(join(here, "../../docs/react.md"), "utf8");
// The name of its file is the first line of an example.
const examples = [...page.matchAll(/^```tsx\n\/\/ (\S+)\n(.*?)^```$/gms)];
// Vitest must not find it by itself.
const nameOf = (name) => name.replace(".test.", ".check.");
for (const [, name, code] of examples) writeFileSync(join(folder, nameOf(name)), code);

test("the examples compile", async () => {
  expect(examples.map(([, name]) => name)).toEqual(["room.ts", "app.tsx", "app.test.tsx"]);
  const config = { extends: join(here, "tsconfig.json"), include: ["*"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(here, "../node_modules/.bin/tsc");
  const said = await promisify(execFile)(tsc, ["--noEmit", "--project", folder]).catch(({ stdout }) => ({ stdout }));
  expect(said.stdout).toBe("");
});

await import(/* @vite-ignore */ join(folder, "app.check.tsx"));
