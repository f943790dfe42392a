// The whiteboard over each transport on three servers that share their rooms, while the servers
// that its windows are connected to are killed.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { Board } from "./board.mjs";
import { Cluster, line } from "./cluster.mjs";
import { skip } from "./skip.mjs";
import { until } from "./wait.mjs";
import { closeAll, launch } from "./window.mjs";

const TRANSPORTS = ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"];
const NAME = "the servers of windows over each transport are killed, and nothing is lost";
const ROOM = "killed";

const boards = [];
let browser;
let cluster;

if (Cluster.missing) {
  skip(NAME, Cluster.missing);
} else {
  before(async () => {
    cluster = await Cluster.start();
    browser = await launch(...(await cluster.certificate.flags()));
  });
  afterEach(() => closeAll(boards));
  after(async () => {
    await browser?.close();
    await cluster?.close();
  });
  test(NAME, { timeout: 300_000 }, run);
}

async function open(transport) {
  const board = await Board.open(browser, cluster, `${ROOM}&transport=${transport}`, transport);
  boards.push(board);
  board.page.on("console", (message) => message.text().includes("gap") && board.errors.push(message.text()));
  await board.choose("pen");
  return board;
}

async function run(t) {
  await cluster.balancer.serve(cluster.hosts);
  // Somebody has to be in the room, so that it has an owner.
  await open("websocket");
  const owner = await cluster.owner();
  await closeAll(boards);
  const [edge, rest] = cluster.hosts.filter((host) => host !== owner);
  await cluster.balancer.serve([edge, owner, rest]);
  await Promise.all(TRANSPORTS.map(open));
  const numbers = await Promise.all(boards.map((board) => board.read("self")));
  for (const [round, server] of [edge, owner].entries()) {
    const drawn = 2 * round * boards.length;
    await areConnectedTo(server);
    await Promise.all(boards.map((board, at) => board.drag(line(at, 2 * round), 2)));
    await Promise.all(boards.map((board) => isSaved(board, drawn + boards.length)));
    const has = (await cluster.owner()) === server ? "has" : "does not have";
    t.diagnostic(`${server}, which ${has} the room, is killed`);
    const began = performance.now();
    // For a while no server takes the windows, so that they draw without one.
    cluster.balancer.isClosed = true;
    await cluster.kill(server);
    await Promise.all(boards.map((board) => until("noticed", () => isReconnecting(board))));
    await Promise.all(boards.map((board, at) => board.drag(line(at, 2 * round + 1), 2)));
    for (const board of boards) assert.match(await saved(board), /Your changes are kept\.$/);
    cluster.balancer.isClosed = false;
    const back = boards.map(async (board, at) => {
      await board.isConnected();
      t.diagnostic(`${TRANSPORTS[at]} is back after ${Math.round(performance.now() - began)} ms`);
      await isSaved(board, drawn + 2 * boards.length);
    });
    await Promise.all(back);
  }
  await areConnectedTo(rest);
  const drawings = await Promise.all(boards.map((board) => board.read("objects")));
  for (const drawing of drawings) assert.deepEqual(drawing, drawings[0]);
  assert.deepEqual(await Promise.all(boards.map((board) => board.read("self"))), numbers, "they resumed");
  assert.deepEqual(await (await open("websocket")).objects(drawings[0].length), drawings[0]);
}

const isReconnecting = async (board) => (await board.read("status")) === "reconnecting";

/** What a window says of its changes, or of the connection. */
const saved = (board) => board.part("gw-status", "text").textContent();

/** Waits until a window has all objects, and says that its own are saved. */
async function isSaved(board, count) {
  await board.objects(count);
  // For some time after a change the window says nothing of it.
  await until("confirmed", async () => (await board.read("waiting")) === 0);
  await until("saved", async () => (await saved(board)) === "Saved");
}

/** Checks that all windows are connected to one server, apart from connections that just end. */
async function areConnectedTo(host) {
  const { connections } = await cluster.status(host);
  assert.ok(connections >= boards.length, `${connections} connections to ${host}`);
}
