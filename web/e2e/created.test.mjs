// An application of each template of create-groupwire, built from the packages of this repository,
// in two windows. With the packed packages, as users install them: web/packed/create.test.mjs.

import { mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { build, preview } from "vite";
import { generate } from "../create/test/generate.mjs";
import { tryInTwoWindows } from "./created.mjs";
import { Server } from "./server.mjs";
import { launch } from "./window.mjs";

const options = { timeout: 300_000 };
const screenshots = fileURLToPath(new URL("screenshots/", import.meta.url));
const applications = generate("browser");

let browser, server;

before(async () => {
  [browser, server] = await Promise.all([launch(), Server.start("--origin", "*")]);
  await mkdir(screenshots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.kill();
  for (const root of applications.values()) await rm(root, { recursive: true });
});

for (const [template, root] of applications) {
  test(`the template ${template} in two windows`, options, async () => {
    process.env.VITE_GROUPWIRE_URL = server.url;
    await build({ root, logLevel: "error" });
    const pages = await preview({ root, logLevel: "error", preview: { port: 0, host: "127.0.0.1" } });
    const [address] = pages.resolvedUrls.local;
    const shoot = async (page) => {
      await page.screenshot({ path: `${screenshots}created-${template}.png` });
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 400, height: 640 });
      await page.screenshot({ path: `${screenshots}created-${template}-dark-400.png` });
    };
    try {
      await tryInTwoWindows(browser, `${address}#${template}`, server, shoot);
    } finally {
      await pages.close();
    }
  });
}
