// The whiteboard in Firefox over WebSocket on three servers that share their rooms, while the
// server that it is connected to is killed.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Cluster } from "../cluster.mjs";
import { skip } from "../skip.mjs";
import { until } from "../wait.mjs";
import { FIREFOX } from "./firefox.mjs";
import { isInstalled } from "./program.mjs";

const NAME = "Firefox: the servers of a window are killed, and nothing is lost";

const missing = Cluster.missing ?? FIREFOX.needs.find((program) => !isInstalled(program));
let browser;
let cluster;

if (missing) {
  skip(NAME, missing);
} else {
  before(async () => {
    const launching = FIREFOX.launch({ acceptInsecureCerts: true });
    [browser, cluster] = await Promise.all([launching, Cluster.start()]);
  });
  after(async () => {
    await browser?.close();
    await cluster?.close();
  });
  test(NAME, { timeout: 300_000 }, run);
}

async function run() {
  await cluster.balancer.serve(cluster.hosts);
  const board = await open();
  const owner = await cluster.owner();
  const [edge, rest] = cluster.hosts.filter((host) => host !== owner);
  await cluster.balancer.serve([edge, owner, rest]);
  await board.reload();
  await until("connected", async () => (await read(board, "status")) === "connected");
  await board.click(`[data-testid="tool-pen"]`);
  const number = await read(board, "self");
  for (const [round, server] of [edge, owner].entries()) {
    assert.ok((await cluster.status(server)).connections > 0, `no connection to ${server}`);
    await board.drag(line(2 * round));
    await isSaved(board, 2 * round + 1);
    // For a while no server takes the page, so that it draws without one.
    cluster.balancer.isClosed = true;
    await cluster.kill(server);
    await until("noticed", async () => (await read(board, "status")) === "reconnecting");
    await board.drag(line(2 * round + 1));
    assert.match(await saved(board), /Your changes are kept\.$/);
    cluster.balancer.isClosed = false;
    await isSaved(board, 2 * round + 2);
  }
  assert.ok((await cluster.status(rest)).connections > 0);
  assert.equal(await read(board, "self"), number, "it resumed");
  const drawing = await read(board, "objects");
  const late = await open();
  await isSaved(late, drawing.length);
  assert.deepEqual(await read(late, "objects"), drawing);
  for (const page of [board, late]) {
    await page.leave();
    assert.deepEqual(page.errors, []);
  }
}

/** A line in one round, at a place of its own. */
const line = (round) => [
  [300 + 60 * round, 200],
  [330 + 60 * round, 300],
  [300 + 60 * round, 400],
];

async function open() {
  const page = await browser.open();
  await page.goto(`${cluster.url}/?room=killed&transport=websocket`);
  await until("connected", async () => (await read(page, "status")) === "connected");
  return page;
}

/** What the page's hook tells (web/whiteboard/src/hook.ts). */
const read = (page, field) =>
  page.evaluate((field) => {
    const value = window.groupwireBoard?.[field];
    return typeof value === "function" ? value() : value;
  }, field);

/** What the page says of its changes, or of the connection. */
const saved = (page) =>
  page.evaluate(() => document.querySelector("gw-status").shadowRoot.querySelector(`[part~="text"]`).textContent);

/** Waits until the page has all objects, and says that its own are saved. */
async function isSaved(page, count) {
  await until(`${count} objects`, async () => (await read(page, "objects")).length === count);
  // For some time after a change the page says nothing of it.
  await until("confirmed", async () => (await read(page, "waiting")) === 0);
  await until("saved", async () => (await saved(page)) === "Saved");
}
