// y-websocket's own client in Chromium: in tabs of one browser, which also tell each other, and in
// another browser, with a program in Node.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { servePages } from "./pages.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { launch } from "./window.mjs";
import { Client } from "./yjs.mjs";

const root = fileURLToPath(new URL("yjs-socket/", import.meta.url));
const errors = [];

let browser, folder, pages, server;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "groupwire-yjs-"));
  pages = await servePages(root);
  const { origin } = new URL(pages.address);
  [browser, server] = await Promise.all([launch(), Server.start("--data", folder, "--origin", origin)]);
});
after(async () => {
  await browser?.close();
  await server?.kill();
  await pages?.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(context, name) {
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(`${pages.address}?${new URLSearchParams({ server: server.url.replace("http", "ws") })}`);
  const call = (method, ...values) =>
    page.evaluate(([method, values]) => window.client[method](...values), [method, values]);
  await call("show", name);
  return {
    close: () => page.close(),
    read: () => call("read"),
    show: (it) => call("show", it),
    write: (it) => call("write", it),
  };
}

test("browsers and a program share a document, and the server is killed", { timeout: 300_000 }, async () => {
  const [one, other] = [await browser.newContext(), await browser.newContext()];
  const [ada, tab, bo] = [await open(one, "Ada"), await open(one, "Ada's tab"), await open(other, "Bo")];
  const program = new Client(server.url, "from browsers");
  program.show({ name: "Program" });
  const text = program.doc.getText("text");
  const names = () => [...program.awareness.getStates().values()].map(({ name }) => name).sort();
  const all = async (words, expected) => {
    const wanted = JSON.stringify([true, words.toSorted(), expected]);
    const agree = ({ synced, words, names }) =>
      JSON.stringify([synced, words.split(" ").filter(Boolean).sort(), names]) === wanted;
    const present = [
      [ada, "Ada"],
      [tab, "Ada's tab"],
      [bo, "Bo"],
    ].filter(([, name]) => expected.includes(name));
    await until(`all have ${wanted}`, async () => {
      const seen = await Promise.all(present.map(([page]) => page.read()));
      return [...seen, { synced: program.provider.synced, words: text.toString(), names: names() }].every(agree);
    });
  };
  const everybody = ["Ada", "Ada's tab", "Bo", "Program"];
  await ada.write("one ");
  await bo.write("two ");
  text.insert(0, "three ");
  await all(["one", "two", "three"], everybody);

  await server.kill();
  await ada.write("four ");
  await bo.write("five ");
  text.insert(0, "six ");
  await server.restart();
  // A client takes another's state only if that is newer than the one before the break.
  for (const [page, name] of [
    [ada, "Ada"],
    [tab, "Ada's tab"],
    [bo, "Bo"],
  ])
    await page.show(name);
  program.show({ name: "Program" });
  const words = ["one", "two", "three", "four", "five", "six"];
  await all(words, everybody);

  await tab.close();
  await all(words, ["Ada", "Bo", "Program"]);
  await other.close();
  await all(words, ["Ada", "Program"]);
  program.leave(true);
  await one.close();
  assert.deepEqual(errors, []);
});
