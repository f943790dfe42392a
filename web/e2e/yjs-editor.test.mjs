// An editor with a binding of Yjs, on groupwire-yjs, in two windows: text and cursors of both, a
// server that is killed and started again, and a window that is offline, whose page is even loaded
// again meanwhile. And one window on groupwire-yjs, one on y-websocket.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { servePages } from "./pages.mjs";
import { NetworkProxy } from "./proxy.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { closeAll, launch, Window } from "./window.mjs";

const root = fileURLToPath(new URL("yjs-editor/", import.meta.url));
const options = { timeout: 300_000 };

let browser, server, proxy, pages, folder;
const windows = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "groupwire-e2e-"));
  [browser, server, pages] = await Promise.all([
    launch(),
    Server.start("--origin", "*", "--data", folder),
    servePages(root),
  ]);
  proxy = await NetworkProxy.to(server);
});
afterEach(() => closeAll(windows));
after(async () => {
  await browser?.close();
  await pages?.close();
  proxy?.close();
  await server?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the editor. Only Ada's connection goes through the proxy. */
async function open(name, color, settings, more = {}) {
  const query = new URLSearchParams({ server: name === "Ada" ? proxy.url : server.url, name, color, ...more });
  const window = await new Window("seen").open(browser, `${pages.address}?${query}`, name, settings);
  windows.push(window);
  return window;
}

const type = (window, text) => window.page.keyboard.type(text);
const label = (window) => window.page.locator(".cm-ySelectionInfo");

/** The windows show the same text, with all of these words in it, and the room has confirmed it. */
async function agree(all, ...words) {
  await until(`the same text with ${words}`, async () => {
    const texts = await Promise.all(all.flatMap((window) => [window.read("text"), window.read("shown")]));
    return texts.every((text) => text === texts[0]) && words.every((word) => texts[0].includes(word));
  });
  for (const window of all) await until("saved", () => window.read("saved"));
}

test("two people write in an editor, through a restart of the server and without a network", options, async () => {
  const [ada, bo] = [await open("Ada", "#c2410c"), await open("Bo", "#1d4ed8", { colorScheme: "dark" })];
  for (const window of [ada, bo]) {
    await until("both people", async () => (await window.page.locator("#people li").count()) === 2);
    await window.page.locator(".cm-content").click();
  }
  await type(ada, "Ada wrote this line.\n");
  await until("Ada's line", async () => (await bo.read("shown")).includes("this line.\n"));
  await bo.page.keyboard.press("Control+End");
  await Promise.all([type(ada, "Then she went on, "), type(bo, "while Bo answered.")]);
  await agree([ada, bo], "she", "Bo");
  // Each sees the other one's cursor, with the name.
  await until("Bo's cursor", async () => (await label(ada).textContent()) === "Bo");
  await until("Ada's cursor", async () => (await label(bo).textContent()) === "Ada");
  await ada.page.keyboard.press("Shift+Home");
  await until("what Ada has selected", () => bo.page.locator(".cm-ySelection").first().isVisible());
  await ada.screenshot("yjs-editor-ada-light");
  await bo.screenshot("yjs-editor-bo-dark");
  for (const window of [ada, bo]) await window.page.setViewportSize({ width: 400, height: 640 });
  await ada.screenshot("yjs-editor-ada-light-400");
  await bo.screenshot("yjs-editor-bo-dark-400");
  await ada.page.keyboard.press("End");

  await server.kill();
  await until("that it is not saved", async () => (await bo.page.locator("#saved").textContent()) === "Offline");
  // No cursor of a client that left stays behind.
  await until("Bo alone", async () => (await bo.page.locator("#people li").count()) === 1);
  assert.equal(await label(bo).count(), 0);
  await type(ada, " Ada, without a server.");
  await type(bo, " Bo, without a server.");
  assert.equal(await bo.read("saved"), false);
  await server.restart();
  await agree([ada, bo], "Ada, without", "Bo, without");
  await until("Ada's cursor again", async () => (await label(bo).textContent()) === "Ada");

  // Ada loses the network, goes on, and loads the page again: the browser has kept what she wrote.
  proxy.tcp = proxy.udp = false;
  proxy.cut();
  await until("Ada vanishes", async () => (await label(bo).count()) === 0);
  await type(ada, " Ada, on a train.");
  await type(bo, " Bo, at home.");
  await ada.read("kept");
  await ada.page.reload();
  await until("what was kept", async () => (await ada.read("shown"))?.includes("on a train"));
  assert.ok(!(await bo.read("shown")).includes("train"));
  await ada.screenshot("yjs-editor-ada-offline");
  proxy.open();
  await agree([ada, bo], "Ada, on a train", "Bo, at home");

  // Undo takes back what this window wrote, and nothing of the other one.
  await bo.page.keyboard.press("Control+z");
  await until("the undo", async () => !(await ada.read("shown")).includes("Bo, at home"));
  await agree([ada, bo], "Ada, on a train");

  await ada.closeTab();
  await until("Bo alone", async () => (await bo.page.locator("#people li").count()) === 1);
});

test("one writes through groupwire-yjs and one through y-websocket", options, async () => {
  const cleo = await open("Cleo", "#7c3aed");
  const dan = await open("Dan", "#0f766e", { colorScheme: "dark" }, { door: "socket" });
  for (const window of [cleo, dan]) {
    await until("both people", async () => (await window.page.locator("#people li").count()) === 2);
    await window.page.locator(".cm-content").click();
    await window.page.keyboard.press("Control+End");
  }
  await type(cleo, "\nCleo uses groupwire-yjs, ");
  await until("Cleo's words", async () => (await dan.read("shown")).includes("groupwire-yjs, "));
  await dan.page.keyboard.press("Control+End");
  await Promise.all([type(dan, "and Dan y-websocket."), cleo.page.keyboard.press("Shift+Home")]);
  await agree([cleo, dan], "Cleo uses", "Dan y-websocket.");
  await until("Dan's cursor", async () => (await label(cleo).textContent()) === "Dan");
  await until("Cleo's cursor", async () => (await label(dan).textContent()) === "Cleo");
  await cleo.screenshot("yjs-doors-groupwire-light");
  await dan.screenshot("yjs-doors-socket-dark");

  await server.kill();
  await until("that it is not connected", async () => (await dan.read("status")) === "disconnected");
  await type(cleo, " Cleo, without a server.");
  await type(dan, " Dan, without a server.");
  await server.restart();
  await agree([cleo, dan], "Cleo, without", "Dan, without");
  await until("Dan's cursor again", async () => (await label(cleo).textContent()) === "Dan");

  await dan.closeTab();
  await until("Cleo alone", async () => (await cleo.page.locator("#people li").count()) === 1);
});
