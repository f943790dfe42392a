/** The examples of the documentation compile, and those of motion.md run. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { simulate } from "groupwire/testing";
import { afterAll, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 120_000 });

const simulated = vi.hoisted(() => ({ connect: undefined }));
vi.mock("groupwire", async () => ({
  ...(await import("groupwire/testing")),
  connect: (...parameters) => simulated.connect(...parameters),
}));

const client = fileURLToPath(new URL("..", import.meta.url));
// Within the package, so that the examples find its dependencies.
mkdirSync(join(client, "node_modules"), { recursive: true });
const folder = mkdtempSync(join(client, "node_modules", ".examples-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each(["bindings.md", "devtools.md", "motion.md", "schema.md", "shared.md", "voice.md", "widgets.md", "yjs.md"])(
  "the examples of docs/%s compile",
  async (page) => {
    const examples = examplesOf(readFileSync(join(client, "../../docs", page), "utf8"));
    expect(examples.length).toBeGreaterThan(0);
    expect(await compile(page, examples)).toBe("");
  },
);

test("the examples of docs/motion.md run, together in one room", async () => {
  const net = simulate({ seed: 1 });
  simulated.connect = net.connect;
  const shown = [];
  vi.stubGlobal("show", (...things) => shown.push(things));
  vi.stubGlobal("addEventListener", () => {});
  // Outside of node_modules, where Vitest leaves TypeScript as it is.
  const run = mkdtempSync(join(client, "test/docs/run-"));
  try {
    const examples = examplesOf(readFileSync(join(client, "../../docs/motion.md"), "utf8"));
    for (const [at, code] of examples.entries()) {
      const file = join(run, `example-${at + 1}.ts`);
      writeFileSync(file, code);
      const before = shown.length;
      await import(file);
      if (!code.includes("connect(")) expect(shown.length).toBeGreaterThan(before);
    }
    await net.settle();
    await net.run(2000);
    expect(shown).toContainEqual([6]);
    // What another example of the room dragged, told by a participant who joined before.
    expect(shown.flat(3).length).toBeGreaterThan(examples.length);
  } finally {
    rmSync(run, { recursive: true });
    vi.unstubAllGlobals();
    net.end();
  }
});

test("an example that is wrong does not compile", async () => {
  const wrong = ['import { connect } from "groupwire";\nconnect("wss://example.com", 5);\n'];
  expect(await compile("wrong", wrong)).toMatch(/wrong-1\.ts\(2,30\): error TS2345/);
});

/** The blocks of TypeScript of a Markdown text. */
function examplesOf(markdown) {
  return [...markdown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
}

/** What the compiler says of the examples. */
async function compile(page, examples) {
  const root = join(folder, page);
  mkdirSync(root);
  const files = examples.map((code, at) => {
    // An example that others import says its name in its first line.
    const name = /^\/\/ (\w+\.ts)\n/.exec(code)?.[1] ?? `${page}-${at + 1}.ts`;
    const file = join(root, name);
    writeFileSync(file, code);
    return file;
  });
  const source = (name) => [join(client, "src", name)];
  const paths = {
    groupwire: source("index.ts"),
    "groupwire/devtools": source("devtools.ts"),
    "groupwire/motion": source("motion.ts"),
    "groupwire/schema": source("schema.ts"),
    "groupwire/shared": source("shared.ts"),
    "groupwire/store": source("store.ts"),
    "groupwire/testing": source("testing.ts"),
    "groupwire/voice": source("voice.ts"),
    ...Object.fromEntries(["vue", "solid"].map((name) => [`groupwire-${name}`, source(`../../${name}/src/index.ts`)])),
    "groupwire-widgets": [join(client, "../widgets/src/index.ts")],
    "groupwire-widgets/voice": [join(client, "../widgets/src/voice.ts")],
    "groupwire-widgets/avatars": [join(client, "../widgets/src/avatars.ts")],
    "groupwire-yjs": [join(client, "../yjs/src/index.ts")],
  };
  const compilerOptions = { paths, module: "ESNext", moduleResolution: "Bundler" };
  const config = {
    extends: join(client, "tsconfig.json"),
    compilerOptions,
    include: [],
    files: [...files, join(client, "test/docs/globals.d.ts"), join(client, "src/node-modules.d.ts")],
  };
  const project = join(root, "tsconfig.json");
  writeFileSync(project, JSON.stringify(config));
  try {
    await promisify(execFile)(join(client, "../node_modules/.bin/tsc"), ["--noEmit", "--project", project], {
      cwd: dirname(project),
    });
    return "";
  } catch (error) {
    return error.stdout || String(error);
  }
}
