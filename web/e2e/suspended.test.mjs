// Tabs that a browser suspends for long, on every kind of transport.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Network } from "./network.mjs";
import { pause } from "./wait.mjs";

const options = { timeout: 300_000 };

const network = new Network();

test("tabs that were suspended for a minute are up to date at once", options, async () => {
  const sleepers = [];
  for (const transports of [undefined, ["websocket"], ["multipart"], ["longpoll"]]) {
    sleepers.push(await network.join("sleep", `asleep on ${transports}`, { transports }));
  }
  const bo = await network.join("sleep", "Bo");
  const wake = [];
  for (const { context, page } of sleepers) {
    const session = await context.newCDPSession(page);
    await session.send("Debugger.enable");
    await session.send("Debugger.pause");
    wake.push(() => session.detach());
  }
  for (let i = 0; i < 20; i++) {
    await bo.run(({ draw }, i) => draw(`b${i}`), i);
    await pause(3000);
  }
  await Promise.all(wake.map((one) => one()));
  const all = await bo.texts();
  for (const sleeper of sleepers) assert.deepEqual(await sleeper.got(20), all);
  for (const sleeper of sleepers) {
    assert.notEqual(await sleeper.status(), "closed", String(await sleeper.errorsTold()));
    await sleeper.run(({ draw, room }) => draw(`awake ${room.self.id}`));
    assert.ok(!(await sleeper.has("incarnation")));
  }
  assert.equal(new Set((await bo.got(24)).slice(20)).size, 4);
});
