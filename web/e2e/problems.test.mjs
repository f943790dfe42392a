// What a page is told that finds no connection, in Chromium.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Network } from "./network.mjs";
import { Participant } from "./participant.mjs";
import { tells, WrongAddresses } from "./problems.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 300_000 };
const network = new Network();
/** Made by the first test, when the network is there. */
let wrong;
after(() => wrong?.close());

/** Opens the page of a participant that connects to another address. */
async function open(server) {
  const it = new Participant();
  it.context = await network.newContext();
  it.page = await it.context.newPage();
  const failed = [];
  it.page.on("console", (message) => message.type() === "error" && failed.push(message.text()));
  await it.page.goto(`${network.proxy.url}/e2e/page/index.html?${new URLSearchParams({ room: "wrong", server })}`);
  return { run: (act) => it.run(act), failed };
}

const NAMES = [
  "a server that is down",
  "a wrong path",
  "another server",
  "a server that refuses the page's origin",
  "http to a server that speaks https",
  "https to a server that speaks http",
];

for (const name of NAMES) {
  test(`${name} is told`, options, async () => {
    wrong ??= await WrongAddresses.start(network.server, network.proxy);
    const [address, code, sentence] = wrong.cases[name];
    const { run, failed } = await open(address);
    await tells(run, code, sentence);
    // The answers of our own servers can be read. Others' cannot, and browsers say so.
    if (code === "origin" || name === "a wrong path") assert.deepEqual(failed.filter(isBlocked), []);
  });
}

const isBlocked = (text) => /blocked by CORS/.test(text);

test("every case is tested", () => assert.deepEqual(Object.keys(wrong.cases), NAMES));

test("the problem ends when the server is there", options, async () => {
  const [ada] = [await network.join("returns", "Ada")];
  await network.server.kill();
  await until("the problem", () => ada.run(({ seen }) => seen.problems.some((one) => one?.code === "unreachable")));
  await network.server.restart();
  await until("its end", () =>
    ada.run(({ room, seen }) => room.problem === undefined && seen.problems.at(-1) === null),
  );
  assert.equal(await ada.run(({ room }) => room.status), "connected");
});
