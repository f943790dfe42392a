// Applications that create-groupwire makes, as users do it: from the packed packages, installed by
// npm, checked and built by their own scripts, and used in two windows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { tryInTwoWindows } from "../e2e/created.mjs";
import { Server } from "../e2e/server.mjs";
import { launch } from "../e2e/window.mjs";
import { install, packInto, SCRATCH } from "./scratch.mjs";
import { start } from "./servers.mjs";

const PACKED = ["client", "react", "vue", "svelte", "create"];
const folder = `${SCRATCH}created/`;

let browser, server, packages, command;

before(async () => {
  rmSync(folder, { recursive: true, force: true });
  packages = `${folder}packages/`;
  mkdirSync(packages, { recursive: true });
  const files = new Map(PACKED.map((name) => [name, packInto(packages, name)]));
  // The command itself runs from its package, too.
  command = `${install("create", files.get("create"))}node_modules/create-groupwire/src/main.mjs`;
  [browser, server] = await Promise.all([launch(), Server.start("--origin", "*")]);
});
after(async () => {
  await browser?.close();
  await server?.kill();
});

/** Writes an application, and installs, checks and builds it. Returns its folder. */
function made(template, variable) {
  const app = `${folder}${template}/`;
  // The runner of this file tells its children where to report, which is not for them.
  const { NODE_TEST_CONTEXT, ...environment } = process.env;
  const env = { ...environment, NEXT_TELEMETRY_DISABLED: "1" };
  const run = (program, ...args) => execFileSync(program, args, { cwd: app, encoding: "utf8", env });
  mkdirSync(app);
  assert.match(run(process.execPath, command, ".", "--template", template, "--packages", packages), /groupwire serve/);
  writeFileSync(`${app}.env`, `${variable}=${server.url}\n`);
  run("npm", "install", "--no-audit", "--no-fund", "--prefer-offline");
  run("npm", "run", "check");
  run("npm", "run", "build");
  return app;
}

for (const template of ["react", "vue", "svelte", "plain"]) {
  test(`the template ${template}`, async () => {
    const app = made(template, "VITE_GROUPWIRE_URL");
    // As `npm run dev` does it, at another port.
    const pages = await start(app, "node_modules/vite/bin/vite.js", "--port", "PORT", "--strictPort");
    try {
      await tryInTwoWindows(browser, `${pages.url}#packed-${template}`, server);
    } finally {
      pages.close();
    }
  });
}

test("the template next, as it is built and as it is developed", async () => {
  const app = made("next", "NEXT_PUBLIC_GROUPWIRE_URL");
  const written = readFileSync(`${app}tsconfig.json`, "utf8");
  assert.equal(written, readFileSync(new URL("../create/templates/next/tsconfig.json", import.meta.url), "utf8"));
  const screenshots = new URL("../e2e/screenshots/", import.meta.url).pathname;
  const shoot = async (page) => {
    await page.screenshot({ path: `${screenshots}created-next.png` });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 400, height: 640 });
    await page.screenshot({ path: `${screenshots}created-next-dark-400.png` });
  };
  for (const mode of ["start", "dev"]) {
    const pages = await start(app, "node_modules/next/dist/bin/next", mode, "--port", "PORT");
    try {
      // The server renders the page with an empty room, and makes no connection.
      const html = await (await fetch(`${pages.url}packed-next-${mode}`)).text();
      assert.match(html, /<h1>Room (<!-- -->)?packed-next-(start|dev)<\/h1>/);
      assert.match(html, /aria-label="Who is here"/);
      await tryInTwoWindows(browser, `${pages.url}packed-next-${mode}`, server, mode === "start" ? shoot : undefined);
      assert.doesNotMatch(pages.said(), /groupwire|[Ee]rror/);
    } finally {
      pages.close();
    }
  }
});
