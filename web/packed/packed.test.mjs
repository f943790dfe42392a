// The packed package, as users install it: its files, its types, and programs of its users, each
// with the default configuration of its tools, until messages have gone both ways over a real
// server.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { after, before, test } from "node:test";
import { Server } from "../e2e/server.mjs";
import { until } from "../e2e/wait.mjs";
import { launch } from "../e2e/window.mjs";
import { install, prepare, PROGRAMS } from "./scratch.mjs";
import { command, run, serveFiles, start } from "./servers.mjs";

const CHANNELS = ["brotli", "template", "zstd"];
const APPS = `${PROGRAMS}apps/`;

/** Long enough for a page that a development server builds when it is first asked for. */
const EXCHANGE_MS = 120_000;

/** Long enough for a program in Node to start. */
const START_MS = 60_000;

const packed = prepare();
const { connect, transaction } = await import(pathToFileURL(`${PROGRAMS}node_modules/groupwire/dist/node.js`));
let server, browser;
let rooms = 0;

before(async () => ([server, browser] = await Promise.all([Server.start("--origin", "*"), launch()])));
after(async () => {
  await browser?.close();
  await server?.kill();
});

/** The other participant: says hello on every channel, and waits for the answers. */
class Partner {
  room = `packed ${++rooms}`;
  query = `?${new URLSearchParams({ server: server.url, room: this.room })}`;
  answers = new Set();
  #session = connect(server.url, this.room);

  constructor() {
    for (const name of CHANNELS) {
      const channel = this.#session.channel(name, transaction());
      channel.on("message", ({ data }) => data === `answer on ${name}` && this.answers.add(name));
      channel.send(`hello on ${name}`);
    }
  }

  async isAnswered() {
    await until("an answer on every channel", () => this.answers.size === CHANNELS.length, EXCHANGE_MS);
  }

  leave() {
    this.#session.leave();
  }
}

/** A program has received every message, and reported no error. */
function assertComplete({ received, answered, errors }) {
  assert.deepEqual(
    { received: received.sort(), answered: answered.sort(), errors },
    { received: CHANNELS.map((name) => `hello on ${name}`), answered: CHANNELS, errors: [] },
  );
}

/** Opens a page in Chromium, and exchanges messages with it. */
async function exchange({ url }, hash = "") {
  const partner = new Partner();
  const page = await browser.newPage();
  const said = [];
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  try {
    await page.goto(`${url}${partner.query}${hash}`, { timeout: EXCHANGE_MS });
    await partner.isAnswered();
    // In development React runs an effect twice, so the one whose report is read may not be the one
    // that has answered.
    const seen = () => page.evaluate(() => window.seen);
    await until("its answers", async () => (await seen())?.answered.length === CHANNELS.length, EXCHANGE_MS);
    assertComplete(await seen());
  } catch (error) {
    throw new Error(`${error.message}\nThe page said: ${said.join("\n")}`, { cause: error });
  } finally {
    partner.leave();
    await page.close();
  }
}

/** Removes what earlier runs have built or cached in an application. */
function clean(folder) {
  for (const name of ["dist", ".next", "node_modules/.vite", "../../node_modules/.vite"])
    rmSync(folder + name, { recursive: true, force: true });
}

/** Opens the pages at these hashes of a server, and ends it. */
async function visit(pages, ...hashes) {
  try {
    for (const hash of hashes) await exchange(pages, hash);
  } finally {
    pages.close();
  }
}

test("publint and arethetypeswrong find nothing", async () => {
  await run(PROGRAMS, command(PROGRAMS, "publint", "src/cli.js"), "run", "--strict", packed);
  // Not `node10`: resolution without `exports`, which no supported version of Node and TypeScript
  // does. Not the entries for workers and pages of browsers, which `require` does not reach.
  const options = ["--profile", "node16", "--exclude-entrypoints", "modules/worker", "testing/page"];
  await run(PROGRAMS, command(PROGRAMS, "@arethetypeswrong/cli", "dist/index.js"), packed, ...options);
});

test("the types are those of import, require and bundlers", () => {
  const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
  const strict = ["--noEmit", "--strict", "--target", "ES2022", "--lib", "ES2023,DOM,DOM.Iterable", "--types", ""];
  const cwd = `${PROGRAMS}types`;
  const check = (...args) => execFileSync(tsc, [...strict, ...args], { cwd, stdio: "inherit" });
  check("--module", "Node16", "import.mts", "require.cts");
  check("--module", "NodeNext", "import.mts", "require.cts");
  check("--module", "ESNext", "--moduleResolution", "Bundler", "import.mts");
});

test("every source that a map names is in the package", () => {
  const folder = `${PROGRAMS}node_modules/groupwire/`;
  const files = execFileSync("tar", ["-tzf", packed], { encoding: "utf8" }).split("\n");
  const maps = files.filter((file) => file.endsWith(".map")).map((file) => file.replace("package/", folder));
  assert.ok(maps.some((map) => map.endsWith("/index.js.map")) && maps.some((map) => map.endsWith("/index.d.ts.map")));
  for (const map of maps) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(map));
    if (sourcesContent?.every((text) => text)) continue;
    for (const source of sources) assert.ok(existsSync(new URL(source, pathToFileURL(map))), `${map}: ${source}`);
  }
  for (const name of ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]) assert.ok(existsSync(folder + name), name);
});

for (const version of ["vite7", "vite8"]) {
  const folder = `${APPS}${version}/`;
  const vite = () => command(folder, "vite", "bin/vite.js");
  test(`${version}: development server`, async () => {
    clean(folder);
    await visit(await start(folder, vite(), "--port", "PORT", "--strictPort"), "", "#worker");
  });
  test(`${version}: devtools in development`, async () => {
    const pages = await start(folder, vite(), "--port", "PORT", "--strictPort");
    const page = await browser.newPage();
    try {
      const query = new URLSearchParams({ server: server.url, room: `packed ${++rooms}` });
      await page.goto(`${pages.url}?${query}`, { timeout: EXCHANGE_MS });
      const badge = page.locator("gw-devtools .badge");
      await until(
        "a badge",
        async () => (await badge.textContent({ timeout: EXCHANGE_MS })) === "Connected",
        EXCHANGE_MS,
      );
    } finally {
      await page.close();
      pages.close();
    }
  });
  test(`${version}: production, without devtools`, async () => {
    await run(folder, vite(), "build");
    const scripts = readdirSync(`${folder}dist/assets`).filter((name) => name.endsWith(".js"));
    for (const name of scripts)
      assert.ok(!readFileSync(`${folder}dist/assets/${name}`, "utf8").includes("gw-devtools"));
    await visit(await serveFiles([`${folder}dist`]), "", "#worker");
  });
}

test("vite8: production, under a strict content security policy", async () => {
  const socket = server.url.replace("http", "ws");
  const policy = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${server.url} ${socket}`;
  await visit(await serveFiles([`${APPS}vite8/dist`], { "content-security-policy": policy }), "");
});

test("webpack: development server", async () => {
  const folder = `${APPS}webpack/`;
  const webpack = command(folder, "webpack-cli", "bin/cli.js");
  await visit(await start(folder, webpack, "serve", "--mode", "development", "--port", "PORT"), "", "#worker");
});

test("webpack: production", async () => {
  const folder = `${APPS}webpack/`;
  await run(folder, command(folder, "webpack-cli", "bin/cli.js"), "--mode", "production");
  await visit(await serveFiles([`${folder}public`, `${folder}dist`]), "", "#worker");
});

for (const [version, bundler, ...option] of [
  ["next15", "webpack"],
  ["next15", "Turbopack", "--turbopack"],
  ["next16", "webpack", "--webpack"],
  ["next16", "Turbopack"],
]) {
  const folder = `${APPS}${version}/`;
  const next = () => command(folder, "next", "dist/bin/next");
  test(`${version} with ${bundler}: development server`, async () => {
    clean(folder);
    await visit(await start(folder, next(), "dev", ...option, "--port", "PORT"), "");
  });
  test(`${version} with ${bundler}: production`, async () => {
    clean(folder);
    await run(folder, next(), "build", ...option);
    await visit(await start(folder, next(), "start", "--port", "PORT"), "");
  });
}

test("static files, without a bundler", async () => {
  await visit(await serveFiles([`${PROGRAMS}static`, PROGRAMS]), "");
});

/** The folder of programs in Node, with the package and others installed. */
function nodeFolder(name, ...packages) {
  const folder = install(name, packed, ...packages);
  cpSync(`${PROGRAMS}node`, folder, { recursive: true });
  cpSync(`${PROGRAMS}join`, `${folder}join`, { recursive: true });
  return folder;
}

/** Runs a program in a version of Node, and exchanges messages with it. */
async function exchangeWithNode(node, folder, program) {
  const partner = new Partner();
  const child = spawn(node, [program, partner.query], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  try {
    await partner.isAnswered();
    await until("its report", () => said.endsWith("\n"));
    assertComplete(JSON.parse(said.trim().split("\n").at(-1)));
  } finally {
    partner.leave();
    child.kill();
  }
}

const node = (version) => `${PROGRAMS}node_modules/node${version}/bin/node`;
const lacks = (version) => !existsSync(node(version)) && `npm has no Node ${version} for this platform`;

for (const [title, version, ...packages] of [
  ["Node 20 with the package ws", 20, "ws@8.23.0"],
  ["Node 22 with its own WebSocket", 22],
]) {
  test(title, { skip: lacks(version) }, async () => {
    const folder = nodeFolder(`node-${version}`, ...packages);
    for (const program of ["run.mjs", "run.cjs"]) await exchangeWithNode(node(version), folder, program);
  });
}

test("Node 20 without a WebSocket says what to install", { skip: lacks(20) }, async () => {
  const folder = nodeFolder("node-without-ws");
  for (const program of ["run.mjs", "run.cjs"]) {
    const run = promisify(execFile)(node(20), [program, `?server=${server.url}&room=none`], {
      cwd: folder,
      timeout: START_MS,
    });
    await assert.rejects(run, /npm install ws/);
  }
});

/** The examples of the README of the package, with the address of the server in them. */
function examples() {
  const text = readFileSync(`${PROGRAMS}node_modules/groupwire/README.md`, "utf8");
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code.replace(/"wss?:\/\/[^"]*"/, `"${server.url}"`));
}

test("the README's first example", async () => {
  const [example] = examples();
  assert.match(example, /show\(.*movePointer\(/s);
  const page = readFileSync(`${PROGRAMS}static/index.html`, "utf8").split('<script type="module">')[0];
  // The functions that the example leaves to the reader.
  const functions = `for (const name of ["show", "movePointer", "showNames"]) window[name] = (...a) => (window[name].last = a);`;
  writeFileSync(`${PROGRAMS}static/readme.html`, `${page}<script type="module">${functions}\n${example}</script>`);
  const files = await serveFiles([`${PROGRAMS}static`, PROGRAMS]);
  const other = connect(server.url, "demo", { presence: { name: "Bo" } });
  const opened = await browser.newPage();
  const last = (name) => opened.evaluate((name) => window[name]?.last, name);
  try {
    await opened.goto(`${files.url}readme.html`);
    await until("its own shape", async () => (await last("show"))?.[0].shape === "circle");
    await until("the other's name", async () => (await last("showNames"))?.[0][0]?.presence.name === "Bo");
    other.channel("draw", transaction()).send({ shape: "square" });
    await until("the other's shape", async () => (await last("show"))?.[0].shape === "square");
  } finally {
    other.leave();
    await opened.close();
    files.close();
  }
});

test("the README's example in Node", { skip: lacks(20) }, async () => {
  const folder = nodeFolder("node-readme", "ws@8.23.0");
  writeFileSync(
    `${folder}example.mjs`,
    examples().find((code) => code.includes("require(")),
  );
  const other = connect(server.url, "demo");
  other.channel("draw", transaction()).send({ shape: "for Node" });
  const child = spawn(node(20), ["example.mjs"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  try {
    await until("the message", () => said.includes("shape: 'for Node'"), START_MS);
  } finally {
    other.leave();
    child.kill();
  }
});
