// The site in a real browser: accessible in both colour schemes and on a phone, and searchable.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "../../e2e/axe.mjs";
import { launch } from "../../e2e/window.mjs";
import { serve } from "./host.mjs";

const PAGES = ["/", "/guide/presence", "/operations/certificates", "/evidence", "/api/groupwire/", "/demos"];
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };

let host, browser;
before(async () => {
  host = await serve();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  host?.close();
});

/** Opens a page in a context of its own; errors in it fail the test. */
async function open(path, options) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(host.url + path, { waitUntil: "networkidle" });
  // The switch of colours gets its name when the page has come alive.
  await page.waitForFunction(() => document.querySelector(".VPSwitchAppearance")?.title);
  return { page, errors, close: () => context.close() };
}

for (const [name, options] of [
  ["light", { viewport: DESK, colorScheme: "light" }],
  ["dark", { viewport: DESK, colorScheme: "dark" }],
  ["a phone, light", { viewport: PHONE, colorScheme: "light", hasTouch: true }],
  ["a phone, dark", { viewport: PHONE, colorScheme: "dark", hasTouch: true }],
]) {
  test(`axe finds nothing, and nothing is wider than the window: ${name}`, async () => {
    for (const path of PAGES) {
      const { page, errors, close } = await open(path, options);
      assert.deepEqual(await violations(page), [], path);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${path} is ${overflow} pixels wider than the window`);
      assert.deepEqual(errors, [], path);
      await close();
    }
  });
}

test("the search finds awareness, in the explanation first, and leads there", async () => {
  const { page, errors, close } = await open("/guide/", { viewport: DESK });
  await page.keyboard.press("Control+k");
  await page.locator("#localsearch-input").fill("awareness");
  const results = page.locator("#localsearch-list a.result");
  await results.first().waitFor();
  const addresses = await results.evaluateAll((links) => links.map((link) => new URL(link.href).pathname));
  assert.ok(!addresses[0].startsWith("/api/"), `the first result is ${addresses[0]}`);
  assert.ok(addresses.includes("/qos"), `qos is not among ${addresses}`);
  await page.locator('#localsearch-list a.result[href^="/qos"]').first().click();
  await page.waitForURL("**/qos**");
  assert.deepEqual(errors, []);
  await close();
});

test("the recording on the first page moves, and stops when it is told to", async () => {
  const { page, errors, close } = await open("/", { viewport: DESK, reducedMotion: "no-preference" });
  const count = page.locator(".recording b");
  await page.waitForFunction(() => Number(document.querySelector(".recording b").textContent) > 20);
  await page.getByRole("button", { name: "Pause" }).click();
  const shown = await count.textContent();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  assert.equal(await count.textContent(), shown);
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction((shown) => document.querySelector(".recording b").textContent !== shown, shown);
  assert.deepEqual(errors, []);
  await close();
});
