// A page on groupwire-react in two windows: cursors, avatars, shared data, and nobody's cursor
// stays behind.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { servePages } from "./pages.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { launch, Window } from "./window.mjs";

const root = fileURLToPath(new URL("react/", import.meta.url));
const options = { timeout: 300_000 };

let browser, server, pages;

before(async () => {
  // A page for development, because only that has React's Profiler.
  const development = { mode: "development", define: { "process.env.NODE_ENV": '"development"' } };
  [browser, server, pages] = await Promise.all([
    launch(),
    Server.start("--origin", "*"),
    servePages(root, development),
  ]);
});
after(async () => {
  await browser?.close();
  await server?.kill();
  await pages?.close();
});

function open(name, color) {
  const query = new URLSearchParams({ server: server.url, name, color });
  return new Window("seen").open(browser, `${pages.address}?${query}`, name);
}

const place = (window) =>
  window.page.evaluate(() => {
    const cursor = document.querySelector(".cursor");
    return cursor && !cursor.hidden ? cursor.style.translate : undefined;
  });

test("cursors and shared data in two windows", options, async () => {
  const [ada, bo] = [await open("Ada", "#c2410c"), await open("Bo", "#1d4ed8")];
  await until("Bo sees Ada", () => bo.page.locator("li").filter({ hasText: "Ada" }).isVisible());
  await until("Ada sees Bo", () => ada.page.locator("li").filter({ hasText: "Bo" }).isVisible());
  await ada.page.mouse.move(100, 200);
  await until("a cursor", async () => (await place(bo)) === "100px 200px");

  const [renders, draws] = [await bo.read("renders"), await bo.read("draws")];
  await ada.page.mouse.move(600, 400, { steps: 60 });
  await until("the end of the way", async () => (await place(bo)) === "600px 400px");
  assert.equal(await bo.read("renders"), renders);
  assert.ok((await bo.read("draws")) > draws);

  await ada.page.getByRole("button").click();
  await until("a like", () => bo.page.getByRole("button", { name: "1 likes" }).isVisible());
  await bo.page.mouse.move(300, 300);
  await until("a cursor", async () => (await place(ada)) === "300px 300px");
  await ada.page.mouse.move(600, 400);
  await until("a cursor", async () => (await place(bo)) === "600px 400px");
  await ada.screenshot("react-ada");
  await bo.screenshot("react-bo");

  await ada.closeTab();
  await until("nobody's cursor stays behind", async () => (await bo.page.locator(".cursor, li").count()) === 0);
  await bo.close();
  await ada.close();
  assert.deepEqual([...ada.errors, ...bo.errors], []);
});
