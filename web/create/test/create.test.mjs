/** The command: what it writes, what it refuses, and what it asks. */

import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test, vi } from "vitest";
import { ask } from "../src/questions.mjs";
import { TEMPLATES } from "../src/templates.mjs";

const main = fileURLToPath(new URL("../src/main.mjs", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "create-groupwire-"));

// npm takes seconds to start on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** The version of all our packages. */
const VERSION = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

/** Files of all packages that templates need: with them npm is not asked. */
const OWN = ["groupwire", "groupwire-react", "groupwire-vue", "groupwire-svelte"];
const PACKED = join(root, "packed");
mkdirSync(PACKED);
for (const name of OWN) writeFileSync(join(PACKED, `${name}-${VERSION}.tgz`), "");

/** The registry that the command asks: what it answers about a package, by name. */
const packument = (name, version) => [
  200,
  { name, "dist-tags": { latest: version }, versions: { [version]: { name, version, dist: {} } } },
];
let registry = (name) => (OWN.includes(name) ? packument(name, VERSION) : [404, { error: "Not found" }]);
const server = createServer(({ url }, response) => {
  const [status, body] = registry(url.slice(1));
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}/`;

afterAll(() => {
  rmSync(root, { recursive: true });
  server.close();
});

/** Runs the command without a terminal. */
function run(...args) {
  return runWith({}, main, ...args);
}

/** The same with further variables, by the program in the file `program`. */
function runWith(variables, program, ...args) {
  return runIn(root, variables, program, ...args);
}

/** Runs a program in the folder `cwd`. */
async function runIn(cwd, variables, program, ...args) {
  const env = {
    ...process.env,
    npm_config_user_agent: "",
    npm_config_registry: address,
    npm_config_cache: join(root, "cache"),
    ...variables,
  };
  const options = { cwd, env };
  return promisify(execFile)(process.execPath, [program, ...args], options).catch(({ stderr, code }) => ({
    stderr,
    code,
  }));
}

const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), "utf8"));

test.each(TEMPLATES)("writes an application of the template $name", async ({ name }) => {
  const { stdout } = await run(`My App ${name}`, "--template", name, "--packages", PACKED);
  expect(stdout).toContain("groupwire serve --origin http://localhost:5173\n");
  expect(stdout).toContain(`cd "My App ${name}" && npm install && npm run dev`);
  const files = readdirSync(join(root, `My App ${name}`)).sort();
  const written = [".gitignore", "README.md", "package.json", "src", "tsconfig.json"];
  if (name !== "next") written.splice(2, 0, "index.html");
  if (name !== "plain" && name !== "next") written.push("vite.config.ts");
  expect(files).toEqual(written);
  expect(readJson(`My App ${name}`, "package.json")).toMatchObject({ name: `my-app-${name}`, private: true });
});

test("takes the packages of Groupwire from files", async () => {
  const packages = join(root, "packages");
  mkdirSync(packages);
  writeFileSync(join(packages, `groupwire-${VERSION}.tgz`), "");
  const lacking = await run("from-files", "--template", "vue", "--packages", packages);
  expect(lacking).toMatchObject({ code: 1, stderr: expect.stringContaining("has no file groupwire-vue-VERSION.tgz") });
  expect(readdirSync(root)).not.toContain("from-files");

  writeFileSync(join(packages, `groupwire-vue-${VERSION}.tgz`), "");
  await run("from-files", "--template", "vue", "--packages", "packages");
  expect(readJson("from-files", "package.json").dependencies).toMatchObject({
    groupwire: `file:${join(packages, `groupwire-${VERSION}.tgz`)}`,
    "groupwire-vue": `file:${join(packages, `groupwire-vue-${VERSION}.tgz`)}`,
  });
});

test("writes into an empty repository of Git, and into the folder in which it runs", async () => {
  mkdirSync(join(root, "cloned/.git"), { recursive: true });
  const agent = { npm_config_user_agent: "pnpm/10.1.0 npm/? node/v22" };
  const { stdout } = await runIn(join(root, "cloned"), agent, main, ".", "--template", "plain", "--packages", PACKED);
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
  [["a"], /name a template: .*react\|vue\|svelte\|plain\|next/],
  [["a", "b"], /name one folder, not 2/],
  [["a", "--template", "ember"], /there is no template ember; there are react, vue, svelte, plain, next/],
  [["a", "--tempalte", "vue"], /Unknown option '--tempalte'/],
  [["", "--template", "vue"], /folder's name is empty/],
])("says what is wrong with the arguments %j", async (args, message) => {
  expect(await run(...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
});

/** Lets the registry answer in another way while `during` runs. */
async function answering(other, during) {
  const usual = registry;
  registry = other;
  try {
    return await during();
  } finally {
    registry = usual;
  }
}

test.each([
  ["has no such package", () => [404, { error: "Not found" }]],
  ["has other versions only", (name) => packument(name, "0.0.1")],
])("writes nothing if the registry %s, and says how to make the packages", async (_, answer) => {
  const { code, stderr } = await answering(answer, () => run("early", "--template", "react"));
  expect(code).toBe(1);
  expect(stderr).toContain(
    `the registry does not have groupwire ${VERSION} and groupwire-react ${VERSION}, so npm install`,
  );
  expect(stderr).toMatch(/nothing was written/);
  const sources = fileURLToPath(new URL("../../../", import.meta.url));
  expect(stderr).toContain(`cd ${sources}\n  make build\n`);
  expect(stderr).toContain("for name in client react; do npm pack ./web/$name --pack-destination packages; done");
  expect(stderr).toContain(`again with --packages ${sources}packages.`);
  expect(readdirSync(root)).not.toContain("early");
});

test("outside of the repository it names no folder of this machine", async () => {
  const alone = join(root, "alone");
  for (const part of ["src", "templates"]) {
    cpSync(fileURLToPath(new URL(`../${part}`, import.meta.url)), join(alone, part), { recursive: true });
  }
  const { code, stderr } = await answering(
    () => [404, {}],
    () => runWith({}, join(alone, "src/main.mjs"), "early", "--template", "plain"),
  );
  expect(code).toBe(1);
  expect(stderr).toContain("Make the packages from the sources of Groupwire, in the folder of its repository:");
  expect(stderr).toContain("again with --packages and that folder.");
  expect(stderr).not.toContain("cd ");
});

test("an application is written if the registry has the packages, and with files of them it is not asked", async () => {
  const asked = [];
  const counting = (name) => {
    asked.push(name);
    return packument(name, VERSION);
  };
  await answering(counting, async () => {
    await run("from-packed", "--template", "plain", "--packages", PACKED);
    expect(asked).toEqual([]);
    await run("from-registry", "--template", "react");
  });
  expect(asked.sort()).toEqual(["groupwire", "groupwire-react"]);
  expect(readJson("from-packed/package.json").dependencies.groupwire).toMatch(/^file:/);
  expect(readJson("from-registry/package.json").dependencies["groupwire-react"]).toBe(VERSION);
});

test.each([
  ["an error", {}, () => [503, {}], /could not be asked .*503/],
  ["nothing", { npm_config_registry: "http://127.0.0.1:9" }, undefined, /could not be asked .*127\.0\.0\.1:9/],
])("an application is written if the registry answers with %s, and a note tells what may lack", async (...row) => {
  const [how, variables, answer, note] = row;
  const name = `unknown ${how}`;
  const { stdout } = await answering(answer ?? registry, () => runWith(variables, main, name, "--template", "plain"));
  expect(stdout).toMatch(note);
  expect(stdout).toMatch(/E404.*--packages/);
  expect(readJson(name, "package.json").name).toBe(name.replaceAll(" ", "-"));
});

test("says where the server's command is if the shell does not find it", async () => {
  const folder = join(root, "programs");
  mkdirSync(folder);
  const args = (name) => [main, name, "--template", "plain", "--packages", PACKED];
  const { stdout: lacking } = await runWith({ PATH: folder }, ...args("no-server"));
  expect(lacking).toContain("target/release/groupwire");
  writeFileSync(join(folder, "groupwire"), "", { mode: 0o755 });
  const { stdout: found } = await runWith({ PATH: folder }, ...args("with-server"));
  expect(found).not.toContain("target/release");
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
