/**
 * The examples of docs/guide compile, and the tests in it pass. In a browser, with a real server:
 * web/e2e/guide.test.mjs.
 */

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { applicationAfter, filesOf, STEPS, write } from "./guide.mjs";

const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));

/** What the compiler says of the files of a folder, as strictly as in the templates. */
async function compile(folder) {
  const include = ["src", "server", "../../test/node.d.ts"];
  const config = { extends: "../../templates/common/tsconfig.json", include };
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify(config));
  const said = await promisify(execFile)(tsc, ["--project", folder]).catch(({ stdout, message }) => ({
    stdout: stdout || message,
  }));
  return said.stdout;
}

const codeOf = (page) => new Map(filesOf(page).map(({ name, code }) => [name, code]));

test.each(STEPS)("the examples of %s compile, on top of those before", async (page) => {
  expect(await compile(write(`types-${page}`, applicationAfter(page)))).toBe("");
});

test("the examples of going-live compile", async () => {
  expect(await compile(write("types-going-live", codeOf("going-live")))).toBe("");
});

test("an example that is wrong does not compile", async () => {
  const files = applicationAfter("presence");
  files.set("src/wrong.ts", 'import { board } from "./room";\nboard.join(5);\n');
  expect(await compile(write("types-wrong", files))).toMatch(/wrong\.ts\(2,7\): error TS2554/);
});

const tested = new Map([...applicationAfter("shared-data"), ...codeOf("testing")]);
const folder = write(
  "testing",
  [...tested].map(([name, code]) => [name.replace(".test.", ".check."), code]),
);

test("the examples of testing compile", async () => {
  expect([...tested.keys()]).toContain("src/room.test.ts");
  expect(await compile(folder)).toBe("");
});

// Its tests become tests of this file.
await import(/* @vite-ignore */ `${folder}src/room.check.ts`);
