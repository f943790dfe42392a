// Applications that create-groupwire makes, as users do it: from the packed packages, installed by
// npm, checked and built by their own scripts, and used in two windows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
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

for (const template of ["react", "vue", "svelte", "plain"]) {
  test(`the template ${template}`, async () => {
    const app = `${folder}${template}/`;
    // The runner of this file tells its children where to report, which is not for them.
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const run = (program, ...args) => execFileSync(program, args, { cwd: app, encoding: "utf8", env });
    mkdirSync(app);
    assert.match(
      run(process.execPath, command, ".", "--template", template, "--packages", packages),
      /groupwire serve/,
    );
    writeFileSync(`${app}.env`, `VITE_GROUPWIRE_URL=${server.url}\n`);
    run("npm", "install", "--no-audit", "--no-fund", "--prefer-offline");
    run("npm", "run", "check");
    run("npm", "run", "build");
    // As `npm run dev` does it, at another port.
    const pages = await start(app, "node_modules/vite/bin/vite.js", "--port", "PORT", "--strictPort");
    try {
      await tryInTwoWindows(browser, `${pages.url}#packed-${template}`, server);
    } finally {
      pages.close();
    }
  });
}
