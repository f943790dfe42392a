// Makes docs/images/devtools.png, the picture in docs/devtools.md: the devtools of a participant on
// whose page a message and pointers of another one arrive. GROUPWIRE_BINARY and GROUPWIRE_BROWSER
// as for the tests; `node devtools-picture.mjs` in this folder.

import { fileURLToPath } from "node:url";
import { servePages } from "./pages.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { launch, Window } from "./window.mjs";

const PICTURE = fileURLToPath(new URL("../../docs/images/devtools.png", import.meta.url));
const viewport = { width: 1000, height: 640 };
const root = fileURLToPath(new URL("devtools/", import.meta.url));

const [browser, server, pages] = await Promise.all([launch(), Server.start("--origin", "*"), servePages(root)]);
const open = (name) => {
  const query = new URLSearchParams({ server: server.url, room: "shopping list", name });
  return new Window("seen").open(browser, `${pages.address}?${query}`, name, { viewport });
};
const [ada, bo] = [await open("Ada"), await open("Bo")];
const devtools = ada.page.locator("gw-devtools");
await devtools.locator(".badge").click();
await devtools.getByRole("tab", { name: "Packets" }).click();
await bo.page.mouse.move(420, 300, { steps: 30 });
await bo.page.getByLabel("Entry").fill("bread");
await bo.page.getByLabel("Entry").press("Enter");
await bo.page.mouse.move(200, 200, { steps: 3 });
const row = devtools.locator(".packet", { hasText: "shared" });
await until("the entry's packet", async () => (await row.count()) > 0);
await row.first().dispatchEvent("pointerdown", { bubbles: true, composed: true });
await until("its contents", () => devtools.locator(".carried li").first().isVisible());
await devtools.locator(".panel").screenshot({ path: PICTURE });
await browser.close();
await server.kill();
await pages.close();
