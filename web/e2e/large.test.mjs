// Transactions that are far larger than a message may be, in rooms that are stored, over each kind
// of transport.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Participant } from "./participant.mjs";
import { NetworkProxy } from "./proxy.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { launch } from "./window.mjs";

const options = { timeout: 300_000 };
const SIZE = 4 << 20;

let browser;
let folder;
let server;
let proxy;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "groupwire-e2e-"));
  [browser, server] = await Promise.all([launch(), Server.start("--data", folder)]);
  proxy = await NetworkProxy.to(server);
});
after(async () => {
  await browser?.close();
  proxy?.close();
  await server?.kill();
  await rm(folder, { recursive: true });
});

/** What tells whether two pages have the same large text, without bringing it here. */
const digest = (person, at) =>
  person.run(async ({ seen }, at) => {
    const { text } = seen.texts[at];
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return `${text.length} ${[...new Uint8Array(hash)].join()}`;
  }, at);

for (const transports of [["websocket"], ["webtransport"], ["longpoll"]]) {
  test(`${transports}: four megabytes come whole, in their place, and survive the server`, options, async () => {
    const room = `large-${transports}`;
    const people = [
      await Participant.open(browser, proxy, room, { name: "Ada", transports }),
      await Participant.open(browser, proxy, room, { name: "Bo", transports }),
    ];
    const [ada, bo] = people;
    await ada.run(({ draw }) => draw("before"));
    await ada.run(({ drawRandom }, size) => drawRandom(size), SIZE);
    await ada.run(({ draw }) => draw("after"));
    for (const person of people) assert.equal((await person.got(3)).at(-1), "after");
    const sent = await digest(ada, 1);
    assert.match(sent, new RegExp(`^${SIZE} `));
    assert.equal(await digest(bo, 1), sent);
    await until("confirmed", () => ada.run(({ room }) => room.pending === 0));
    await server.kill();
    await server.restart();
    const cy = await Participant.open(browser, proxy, room, { name: "Cy", transports });
    await cy.got(3);
    assert.equal(await digest(cy, 1), sent);
    for (const person of [...people, cy]) {
      assert.deepEqual(await person.errorsTold(), []);
      await person.close();
    }
  });
}

test("a room that is not stored refuses it in plain words", options, async () => {
  const memory = await Server.start();
  const direct = await NetworkProxy.to(memory);
  try {
    const ada = await Participant.open(browser, direct, "memory", { name: "Ada" });
    const refused = await ada.run(({ drawRandom }, size) => {
      try {
        return drawRandom(size);
      } catch (error) {
        return error.message;
      }
    }, SIZE);
    assert.match(refused, /4194304 bytes is over the limit of 60000/);
    await ada.close();
  } finally {
    direct.close();
    await memory.kill();
  }
});
