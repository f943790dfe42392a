// Measures how long a newcomer waits for each of the three ways to start in README.md, from nothing
// to two windows that see each other: `node newcomer.mjs WAY...` (source, application, container).
// "Nothing" is a machine with Rust, Node and a browser whose folders of caches are empty. Files of
// a release come from GROUPWIRE_RELEASE, the folder that `make release` wrote, over a server on
// this machine: their downloads from elsewhere are not in the times, so their sizes are printed.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Board } from "../e2e/board.mjs";
import { until } from "../e2e/wait.mjs";
import { launch, newContext } from "../e2e/window.mjs";
import { serveFiles } from "./servers.mjs";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const LONGEST_MS = 60 * 60_000;
const WAYS = { source, application, container };

const root = mkdtempSync(join(tmpdir(), "groupwire-newcomer-"));
/** What ends the programs of a way. */
const stops = [];
const stop = () => stops.splice(0).forEach((end) => end());
process.on("exit", stop);

const ways = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(WAYS);
const wrong = ways.find((way) => !Object.hasOwn(WAYS, way));
if (wrong) throw new Error(`there is no way ${wrong}, only ${Object.keys(WAYS).join(", ")}`);
const browser = await launch();
try {
  for (const way of ways) {
    const begin = performance.now();
    await WAYS[way](steps(way));
    console.log(`${way}: ${minutes(performance.now() - begin)} in all`);
    stop();
  }
} finally {
  await browser.close();
  stop();
  rmSync(root, { recursive: true, force: true });
}

/** README.md's first way: the sources and `make run`. */
async function source(step) {
  const folder = join(root, "source");
  const cargo = join(root, "cargo");
  mkdirSync(cargo);
  // Where the packages of Rust come from is a setting of the machine, not a cache.
  const settings = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "config.toml");
  if (existsSync(settings)) cpSync(settings, join(cargo, "config.toml"));
  await step("git clone", () => run(root, "git", "clone", "--quiet", "--no-hardlinks", REPOSITORY, folder));
  const url = await step("make run", () =>
    serve(folder, { CARGO_HOME: cargo }, "make", "run", "GROUPWIRE_LISTEN=127.0.0.1:0"),
  );
  await step("two windows", () => drawInTwoWindows(url));
}

/** The second way: the program by `install.sh`, and an application by create-groupwire. */
async function application(step) {
  const release = released();
  const files = await serveFiles([release]);
  stops.push(files.close);
  const bin = join(root, "bin");
  const install = { GROUPWIRE_INSTALL_DIR: bin, GROUPWIRE_BASE_URL: files.url.slice(0, -1) };
  await step("install.sh", () => run(root, install, "sh", "-c", `curl -fsS ${files.url}install.sh | sh`));
  const packages = join(release, "npm");
  const create = readdirSync(packages).find((name) => name.startsWith("create-groupwire-"));
  const options = ["--template", "react", "--packages", packages];
  await step("npm create", () =>
    run(
      root,
      "npm",
      "exec",
      "--yes",
      "--package",
      join(packages, create),
      "--",
      "create-groupwire",
      "my-app",
      ...options,
    ),
  );
  const folder = join(root, "my-app");
  await step("npm install", () => run(folder, "npm", "install", "--no-audit", "--no-fund"));
  const server = [join(bin, "groupwire"), "serve", "--origin", "*"];
  await step("groupwire serve", () => serve(root, {}, ...server));
  const page = await step("npm run dev", () => serve(folder, {}, "npm", "run", "dev"));
  await step("two windows", () => meetInTwoWindows(page));
}

/** The third way: the image, which is unpacked and started as Docker would do it. */
async function container(step) {
  const release = released();
  const name = readdirSync(release).find((file) =>
    file.endsWith(`-image-${process.arch === "x64" ? "amd64" : "arm64"}.tar`),
  );
  assert(name, `${release} has no image for this machine`);
  const [layout, files] = [join(root, "layout"), join(root, "image")];
  mkdirSync(layout);
  mkdirSync(files);
  console.log(`container: the image has ${megabytes(join(release, name))}`);
  await step("unpack the image", async () => {
    await run(root, "tar", "-xf", join(release, name), "-C", layout);
    const unpack = join(REPOSITORY, "scripts/release/unpack-image.mjs");
    await run(root, process.execPath, unpack, layout, files);
  });
  const url = await step("serve", () =>
    serve(
      root,
      { GROUPWIRE_LISTEN: "127.0.0.1:0" },
      "chroot",
      "--userspec=10001:10001",
      files,
      "/usr/local/bin/groupwire",
      "serve",
    ),
  );
  await step("two windows", () => drawInTwoWindows(url));
}

function released() {
  const folder = process.env.GROUPWIRE_RELEASE;
  if (!folder) throw new Error("set GROUPWIRE_RELEASE to the folder that make release wrote");
  const program = readdirSync(folder).find((file) =>
    file.endsWith(`${process.arch === "x64" ? "x86_64" : "aarch64"}-linux.tar.gz`),
  );
  console.log(`the program's archive has ${megabytes(join(folder, program))}`);
  return folder;
}

/** The whiteboard in two windows: what one draws, the other one shows. */
async function drawInTwoWindows(url) {
  const open = (name) => Board.open(browser, { url }, "newcomer", name);
  const [ada, bo] = [await open("Ada"), await open("Bo")];
  await ada.choose("rectangle");
  await ada.drag([
    [200, 200],
    [320, 280],
  ]);
  await bo.objects(1);
  await Promise.all([ada.close(), bo.close()]);
}

/** An application of create-groupwire in two windows: a task of one is in the list of the other. */
async function meetInTwoWindows(url) {
  const open = async () => {
    const page = await (await newContext(browser)).newPage();
    await page.goto(url);
    return page;
  };
  const [ada, bo] = [await open(), await open()];
  await ada.getByRole("textbox", { name: "New task" }).fill("Tea");
  await ada.getByRole("button", { name: "Add" }).click();
  await bo.getByRole("list", { name: "Tasks" }).getByText("Tea").waitFor();
  await Promise.all([ada.context().close(), bo.context().close()]);
}

/** Returns a function that carries out a step and prints how long it took. */
function steps(way) {
  return async (name, work) => {
    const begin = performance.now();
    const result = await work();
    console.log(`${way}: ${name}, ${minutes(performance.now() - begin)}`);
    return result;
  };
}

function minutes(ms) {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

function megabytes(file) {
  return `${(statSync(file).size / 1e6).toFixed(1)} MB`;
}

function environment(more) {
  const { CARGO_TARGET_DIR, CI, ...rest } = process.env;
  return { ...rest, npm_config_cache: join(root, "npm"), NO_COLOR: "1", ...more };
}

/**
 * Runs a program to its end. Not synchronously, because files of the release come from this
 * process.
 */
async function run(folder, ...words) {
  const more = typeof words[0] === "object" ? words.shift() : {};
  const [program, ...args] = words;
  await promisify(execFile)(program, args, { cwd: folder, env: environment(more), maxBuffer: 1 << 24 });
}

/** Starts a program, and waits until it prints an address, which is returned. */
async function serve(folder, more, program, ...args) {
  // A process group of its own, because these programs start others.
  const child = spawn(program, args, {
    cwd: folder,
    env: environment(more),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  stops.push(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGKILL");
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  const address = () => /https?:\/\/(localhost|127\.0\.0\.1):\d+/.exec(said)?.[0];
  await until(
    `${program} ${args.join(" ")} prints an address`,
    async () => address() ?? child.exitCode !== null,
    LONGEST_MS,
  );
  if (child.exitCode !== null) throw new Error(`${program} has ended: ${said}`);
  return address();
}
