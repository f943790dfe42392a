/** The command: what it writes, what it refuses, and what it asks. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { ask } from "../src/questions.mjs";
import { TEMPLATES } from "../src/templates.mjs";

const main = fileURLToPath(new URL("../src/main.mjs", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "create-groupwire-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Runs the command without a terminal. */
async function run(...args) {
  const env = { ...process.env, npm_config_user_agent: "" };
  const options = { cwd: root, env };
  return promisify(execFile)(process.execPath, [main, ...args], options).catch(({ stderr, code }) => ({
    stderr,
    code,
  }));
}

const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), "utf8"));

test.each(TEMPLATES)("writes an application of the template $name", async ({ name }) => {
  const { stdout } = await run(`My App ${name}`, "--template", name);
  expect(stdout).toContain("groupwire serve --origin http://localhost:5173\n");
  expect(stdout).toContain(`cd "My App ${name}" && npm install && npm run dev`);
  const files = readdirSync(join(root, `My App ${name}`)).sort();
  const written = [".gitignore", "README.md", "index.html", "package.json", "src", "tsconfig.json"];
  if (name !== "plain") written.push("vite.config.ts");
  expect(files).toEqual(written);
  expect(readJson(`My App ${name}`, "package.json")).toMatchObject({ name: `my-app-${name}`, private: true });
});

test("takes the packages of Groupwire from files", async () => {
  const packages = join(root, "packages");
  mkdirSync(packages);
  writeFileSync(join(packages, "groupwire-0.1.0.tgz"), "");
  const lacking = await run("from-files", "--template", "vue", "--packages", packages);
  expect(lacking).toMatchObject({ code: 1, stderr: expect.stringContaining("has no file groupwire-vue-VERSION.tgz") });
  expect(readdirSync(root)).not.toContain("from-files");

  writeFileSync(join(packages, "groupwire-vue-0.1.0.tgz"), "");
  await run("from-files", "--template", "vue", "--packages", "packages");
  expect(readJson("from-files", "package.json").dependencies).toMatchObject({
    groupwire: `file:${join(packages, "groupwire-0.1.0.tgz")}`,
    "groupwire-vue": `file:${join(packages, "groupwire-vue-0.1.0.tgz")}`,
  });
});

test("writes into an empty repository of Git, and into the folder in which it runs", async () => {
  mkdirSync(join(root, "cloned/.git"), { recursive: true });
  const env = { ...process.env, npm_config_user_agent: "pnpm/10.1.0 npm/? node/v22" };
  const options = { cwd: join(root, "cloned"), env };
  const { stdout } = await promisify(execFile)(process.execPath, [main, ".", "--template", "plain"], options);
  expect(stdout).toContain("\n  pnpm install && pnpm dev\n");
  expect(readJson("cloned/package.json").name).toBe("cloned");
});

test("refuses a folder that is not empty, and writes nothing", async () => {
  mkdirSync(join(root, "used"));
  writeFileSync(join(root, "used/notes.txt"), "mine");
  const { code, stderr } = await run("used", "--template", "react");
  expect(code).toBe(1);
  expect(stderr).toBe(
    "create-groupwire: the folder used is not empty (notes.txt), and nothing was written: name another folder\n",
  );
  expect(readdirSync(join(root, "used"))).toEqual(["notes.txt"]);
  expect(await run("used/notes.txt", "--template", "react")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is a file"),
  });
});

test.each([
  [[], /name a folder: npm create groupwire FOLDER/],
  [["a"], /name a template: .*react\|vue\|svelte\|plain/],
  [["a", "b"], /name one folder, not 2/],
  [["a", "--template", "ember"], /there is no template ember; there are react, vue, svelte, plain/],
  [["a", "--tempalte", "vue"], /Unknown option '--tempalte'/],
  [["", "--template", "vue"], /folder's name is empty/],
])("says what is wrong with the arguments %j", async (args, message) => {
  expect(await run(...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
});

/** Answers questions on a terminal. Returns what was chosen, and all that was written there. */
async function answer(given, ...answers) {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
  let said = "";
  output.on("data", (text) => {
    said += text;
    if (!said.endsWith("): ")) return;
    if (answers.length > 0) input.write(`${answers.shift()}\n`);
    else input.end();
  });
  return { chosen: await ask(given, input, output), said };
}

test("asks for what the arguments lack", async () => {
  expect((await answer({}, "", "")).chosen).toEqual({ folder: "groupwire-app", template: "react" });
  expect((await answer({}, "tea", "3")).chosen).toEqual({ folder: "tea", template: "svelte" });
  const { chosen, said } = await answer({ folder: "tea" }, "ember", "Vue");
  expect(chosen).toEqual({ folder: "tea", template: "vue" });
  expect(said).toContain("There is no template ember.");
  expect(said).not.toContain("Folder");
});

test("says that nothing was written if the input ends", async () => {
  await expect(answer({}, "tea")).rejects.toThrow("nothing was written");
});
