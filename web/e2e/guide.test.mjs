// The application of docs/guide as it is after each page, in two windows with a real server, and
// the commands of the pages.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { build, preview } from "vite";
import { applicationAfter, blocks, filesOf, pageOf, write } from "../create/test/guide.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { launch, newContext } from "./window.mjs";

/** The server of the guide. */
const SERVER = "http://127.0.0.1:8080";
const options = { timeout: 300_000 };

let browser, server;

before(async () => ([browser, server] = await Promise.all([launch(), Server.start("--origin", "*")])));
after(async () => {
  await browser?.close();
  await server?.kill();
});

/**
 * Builds files with the address of a server in them, and calls `use` with two windows that show
 * them.
 */
async function inTwoWindows(name, files, { url }, use, proxy = {}) {
  const root = write(
    name,
    [...files].map(([file, code]) => [file, code.replaceAll(SERVER, url)]),
  );
  const config = { root, logLevel: "error", configFile: false };
  await build(config);
  const pages = await preview({ ...config, preview: { port: 0, host: "127.0.0.1", proxy } });
  const errors = [];
  const context = await newContext(browser, { viewport: { width: 600, height: 400 } });
  try {
    const [ada, bo] = [await context.newPage(), await context.newPage()];
    for (const page of [ada, bo]) {
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(pages.resolvedUrls.local[0]);
    }
    await use(ada, bo);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
    await pages.close();
    rmSync(root, { recursive: true });
  }
}

const shows = (page, selector, text) =>
  until(`${selector} ${text}`, async () => (await page.locator(selector).allTextContents()).join() === text);

/** Tries the application after a page in a room of its own. */
const step = (page, use) =>
  test(page, options, () => {
    const files = [...applicationAfter(page)].map(([file, code]) => [file, code.replace('"demo"', `"${page}"`)]);
    return inTwoWindows(page, files, server, use);
  });

step("first-room", async (ada, bo) => {
  await ada.fill("#text", "hello");
  await ada.click("button");
  await shows(bo, "#messages li", "hello");
  await bo.fill("#text", "hi");
  await bo.click("button");
  await shows(ada, "#messages li", "hello,hi");
  await bo.reload();
  await shows(bo, "#messages li", "hello,hi");
});

step("presence", async (ada, bo) => {
  await shows(ada, "#status", "connected");
  await shows(ada, "#people li", "Guest");
  await ada.fill("#name", "Ada");
  await shows(bo, "#people li", "Ada");
  await ada.close({ runBeforeUnload: true });
  await shows(bo, "#people li", "");
});

step("shared-data", async (ada, bo) => {
  await ada.fill("#text", "tea");
  await ada.click("text=Add");
  await shows(bo, "#tasks li", "tea");
  await bo.locator("#tasks input").check();
  await until("a done task", () => ada.locator("#tasks input").isChecked());
  await shows(bo, "#status", "All is sent");
  await bo.click("text=Undo");
  await until("an open task", async () => !(await ada.locator("#tasks input").isChecked()));
  // As the page asks to try it: what is added without a server is kept, and sent later.
  await server.kill();
  await shows(ada, "#status", "reconnecting");
  await ada.fill("#text", "cake");
  await ada.click("text=Add");
  await shows(ada, "#tasks li", "tea,cake");
  await server.restart();
  await shows(bo, "#tasks li", "tea,cake");
  await shows(ada, "#status", "All is sent");
});

step("motion", async (ada, bo) => {
  await shows(ada, "#people li", "Guest");
  await ada.fill("#name", "Ada");
  await ada.mouse.move(100, 100);
  await ada.mouse.move(200, 300, { steps: 5 });
  const cursor = bo.locator(".cursor", { hasText: "Ada" });
  await until("a pointer", async () => {
    const box = await cursor.boundingBox();
    return box && Math.round(box.x) === 200 && Math.round(box.y) === 300;
  });
  await ada.close({ runBeforeUnload: true });
  await until("no pointer", async () => !(await cursor.isVisible()));
});

test("going-live", options, async () => {
  const folder = mkdtempSync(join(tmpdir(), "groupwire-guide-"));
  const groupwire = (...args) => execFileSync(process.env.GROUPWIRE_BINARY, args, { cwd: folder, encoding: "utf8" });
  const page = pageOf("going-live");
  /** The arguments of the first command of the page that begins so. */
  const args = (command) => {
    const line = blocks(page, "sh")
      .join("")
      .split("\n")
      .find((line) => line.startsWith(command));
    return line
      .split(" ")
      .slice(1)
      .map((word) => word.replaceAll("'", ""));
  };

  const [file] = blocks(page, "toml");
  writeFileSync(join(folder, "groupwire.toml"), file);
  assert.match(groupwire("config", "check", "groupwire.toml"), /rooms\.example\.com/);

  const made = groupwire(...args("groupwire token"));
  const serve = args("groupwire serve --jwt-keys").slice(1);
  const closed = await Server.start(
    ...serve.map((word) => word.replace("keys.json", join(folder, "keys.json"))),
    "--origin",
    "*",
  );
  const files = new Map(filesOf("going-live").map(({ name, code }) => [name, code]));
  // The page's server has both kinds of tokens: that of the command for the first window, one of
  // its own for the second.
  const program = write("token", [
    ["token.mts", files.get("server/token.mts").replace("keys.json", join(folder, "keys.json"))],
  ]);
  const { tokenOf } = await importTypeScript(program, "token.mts");
  const tokens = [made.trim(), tokenOf("bo")];
  const login = createServer((_, response) => response.end(tokens.shift() ?? tokenOf("late")));
  await new Promise((resolve) => login.listen(0, "127.0.0.1", resolve));
  const proxy = { "/token": `http://127.0.0.1:${login.address().port}` };
  const html = '<!doctype html><script type="module" src="/src/main.ts"></script>';
  try {
    const shown = new Map([
      ["index.html", html],
      ["src/main.ts", files.get("src/main.ts")],
    ]);
    await inTwoWindows(
      "going-live",
      shown,
      closed,
      async (ada, bo) => {
        // A title is the last message. Which window gets which token and whose message is last
        // depends on who was faster.
        const isByName = (title) => title === "ann: hello" || title === "bo: hello";
        await until("one's own message and the other's", async () => {
          const titles = [await ada.title(), await bo.title()];
          return titles.includes("you: hello") && titles.some(isByName);
        });
      },
      proxy,
    );
  } finally {
    login.close();
    await closed.kill();
    rmSync(folder, { recursive: true });
    rmSync(program, { recursive: true });
  }
});

/** Imports a program in TypeScript, which Node 20 does not do by itself. */
async function importTypeScript(root, name) {
  const lib = { entry: join(root, name), formats: ["es"], fileName: "built" };
  const rolldownOptions = { external: /^node:/ };
  await build({
    root,
    logLevel: "error",
    configFile: false,
    build: { lib, outDir: "built", rolldownOptions, target: "node20" },
  });
  return import(pathToFileURL(join(root, "built/built.js")));
}
