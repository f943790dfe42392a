// The packed package `groupwire-yjs`, as users install it: its files and types, the README's
// example in Node by import and by require, and the warning about a second copy of Yjs.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { after, before, test } from "node:test";
import { Server } from "../e2e/server.mjs";
import { until } from "../e2e/wait.mjs";
import { install, pack } from "./scratch.mjs";
import { command, run } from "./servers.mjs";

const { devDependencies: TOOLS } = JSON.parse(readFileSync(new URL("package.json", import.meta.url)));
const { devDependencies: YJS } = JSON.parse(readFileSync(new URL("../yjs/package.json", import.meta.url)));
const named = (versions, ...names) => names.map((name) => `${name}@${versions[name]}`);

let server, folder, packed;

before(async () => {
  packed = pack("yjs");
  const tools = named(TOOLS, "publint", "@arethetypeswrong/cli");
  const second = `second-yjs@npm:yjs@${YJS.yjs}`;
  folder = install("yjs", pack(), packed, ...named(YJS, "yjs", "y-protocols"), second, "ws@8.23.0", ...tools);
  server = await Server.start();
});
after(() => server?.kill());

test("publint and arethetypeswrong find nothing", async () => {
  await run(folder, command(folder, "publint", "src/cli.js"), "run", "--strict", packed);
  // Not `node10`: resolution without `exports`, which no supported version of Node and TypeScript
  // does.
  await run(folder, command(folder, "@arethetypeswrong/cli", "dist/index.js"), packed, "--profile", "node16");
});

/** The README's example, with the address of the server in it. */
function example() {
  const text = readFileSync(`${folder}node_modules/groupwire-yjs/README.md`, "utf8");
  const [, code] = /```ts\n(.*?)```/s.exec(text);
  return `const show = (what) => console.log(JSON.stringify(what));\n${code.replace("wss://example.com", server.url)}`;
}

/** A program that loads the package by `require`. */
const required = (code) =>
  code.replace(
    /import (.*) from (".*");/g,
    (_, what, from) => `const ${what.replace("* as ", "")} = require(${from});`,
  );

for (const [way, file, adapt] of [
  ["import", "example.mjs", (code) => code],
  ["require", "example.cjs", required],
]) {
  test(`the README's example, by ${way}`, async () => {
    const room = `by ${way}`;
    writeFileSync(folder + file, adapt(example().replace("my-document", room)));
    const of = async (path) => import(pathToFileURL(`${folder}node_modules/${path}`));
    const [{ connect }, { GroupwireProvider }, Y] = await Promise.all(
      ["groupwire/dist/node.js", "groupwire-yjs/dist/index.js", "yjs/dist/yjs.mjs"].map(of),
    );
    const other = new GroupwireProvider(() => connect(server.url, room), new Y.Doc());
    other.awareness.setLocalStateField("user", { name: "Bo" });
    const child = spawn(process.execPath, [file], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (data) => (said += data));
    try {
      await until("the text", () => other.doc.getText("notes").toString() === "hello");
      await until("that it is saved", () => said.includes('"Saved"'));
      await until("the other's name", () => said.includes('"Bo"'));
      await until("its name", () => JSON.stringify([...other.awareness.getStates().values()]).includes('"Ada"'));
    } finally {
      other.doc.destroy();
      child.kill();
    }
  });
}

test("a second copy of Yjs is noticed", async () => {
  const code = example().replace('from "yjs"', 'from "second-yjs"');
  writeFileSync(`${folder}second.mjs`, `${code}\nprocess.exit();`);
  const { stderr } = await promisify(execFile)(process.execPath, ["second.mjs"], { cwd: folder });
  assert.match(stderr, /two copies of yjs.*npm dedupe/);
});
