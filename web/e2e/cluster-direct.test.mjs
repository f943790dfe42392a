// Windows that another server has connected move to the one that has their room (W117).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Board } from "./board.mjs";
import { Cluster, line } from "./cluster.mjs";
import { skip } from "./skip.mjs";
import { until } from "./wait.mjs";
import { closeAll, launch } from "./window.mjs";

const TRANSPORTS = ["webtransport", "websocket", "longpoll"];
const NAME = "windows move to the server that has their room, and back when it is killed";

const boards = [];
let browser;
let cluster;

if (Cluster.missing) {
  skip(NAME, Cluster.missing);
} else {
  before(async () => {
    cluster = await Cluster.start(true);
    browser = await launch(...(await cluster.certificate.flags()));
  });
  after(async () => {
    await closeAll(boards);
    await browser?.close();
    await cluster?.close();
  });
  test(NAME, { timeout: 120_000 }, run);
}

async function open(transport) {
  const board = await Board.open(browser, cluster, `direct&transport=${transport}`, transport);
  boards.push(board);
  await board.choose("pen");
  return board;
}

async function run() {
  await cluster.balancer.serve(cluster.hosts);
  // Somebody has to be in the room, so that it has an owner.
  const first = await open("websocket");
  const owner = await cluster.owner();
  const [edge, rest] = cluster.hosts.filter((host) => host !== owner);
  await cluster.balancer.serve([edge, owner, rest]);
  await Promise.all(TRANSPORTS.map(open));
  await until("all windows at the owner", async () => {
    const [there, here] = await Promise.all([cluster.status(owner), cluster.status(edge)]);
    return there.connections >= boards.length && here.connections === 0;
  });
  for (const board of boards) assert.equal(await board.read("status"), "connected");
  // Nobody notices that the server is gone that they were connected to first.
  await cluster.kill(edge);
  await Promise.all(boards.map((board, at) => board.drag(line(at, 0), 2)));
  await Promise.all(boards.map((board) => board.objects(boards.length)));
  for (const board of boards) assert.equal(await board.read("status"), "connected");
  await cluster.balancer.serve([rest]);
  await cluster.kill(owner);
  await until("noticed", async () => (await first.read("status")) === "reconnecting");
  await Promise.all(boards.map((board) => board.isConnected()));
  await Promise.all(boards.map((board, at) => board.drag(line(at, 1), 2)));
  await Promise.all(boards.map((board) => board.objects(2 * boards.length)));
}
