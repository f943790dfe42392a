// A session begins while the second part of the core is still loading, and uses it later without a
// gap.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { launch } from "./window.mjs";
import { Participant } from "./participant.mjs";
import { NetworkProxy } from "./proxy.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 300_000 };
const SECOND = "**/groupwire_wasm_second.wasm";

let browser;
let server;
let proxy;
const contexts = [];

before(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
  proxy = await NetworkProxy.to(server);
});
afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));
after(async () => {
  await browser?.close();
  proxy?.close();
  await server?.kill();
});

/** A participant whose requests of the second part are answered by `serve`. */
async function join(room, name, transports, serve = (route) => route.continue()) {
  const context = await browser.newContext();
  contexts.push(context);
  await context.route(SECOND, serve);
  return Participant.open(browser, proxy, room, { name, transports, context });
}

const plain = (person) => person.run(({ room }) => room.stats.plain);

/** What an application can do, without the second part. */
function useAll({ room, point }) {
  room.setPresence({ color: "red" });
  room.provideSnapshot(() => "a snapshot");
  const transaction = { kind: "transaction" };
  const logs = room.channel("logs", { ...transaction, compress: "lz4" });
  const state = room.channel("state", { kind: "awareness", overflow: "aggregate", loss: 0.1, deadline: 200 });
  const pointer = room.channel("pointer");
  logs.send("the same text, the same text, the same text, the same text");
  state.send("state");
  point("1");
  pointer.setQos({ loss: 0.2, minRate: 5, maxRate: 20 });
  pointer.limitRate(5);
  const closed = room.channel("closed", transaction);
  closed.send("last words");
  return closed.close().then(() => [pointer.contract?.state, logs.qos?.kind, room.participants.size]);
}

for (const [transports, last] of [
  [["websocket"], "websocket"],
  [["longpoll"], "longpoll"],
  [["webtransport", "websocket"], "webtransport"],
]) {
  test(
    `${transports.join()}: messages come before the second part, and none is lost, repeated or reordered when it has come`,
    options,
    async () => {
      const name = transports.join("-");
      let release;
      const released = new Promise((resolve) => (release = resolve));
      const hold = (route) => released.then(() => route.continue());
      const bo = await join(name, "Bo", transports);
      const ada = await join(name, "Ada", transports, hold);
      assert.match(await plain(ada), /is loading/);
      for (const [person, prefix] of [
        [ada, "a"],
        [bo, "b"],
      ]) {
        await person.run(({ chatter }, prefix) => chatter(prefix, 20), prefix);
      }
      await Promise.all([ada.gotMore(50), bo.gotMore(50)]);
      assert.deepEqual(await ada.run(useAll), ["met", "transaction", 1]);
      const { length } = await ada.texts();

      release();
      await until("complete", async () => (await plain(ada)) === undefined);
      await ada.gotMore(50);
      await ada.isOn(last);
      const counts = [];
      for (const person of [ada, bo]) counts.push(await person.run(({ chatter }) => chatter()));
      const texts = await ada.got(counts[0] + counts[1]);
      assert.deepEqual(await bo.got(counts[0] + counts[1]), texts);
      for (const [prefix, count] of [
        ["a", counts[0]],
        ["b", counts[1]],
      ]) {
        const own = texts.filter((text) => text.startsWith(prefix));
        assert.deepEqual(
          own,
          Array.from({ length: count }, (_, i) => `${prefix}${i}`),
        );
      }
      assert.ok(texts.length > length + 20);
      // The application has not noticed.
      assert.deepEqual(
        (await ada.events()).filter((event) => event !== "synced"),
        ["connected"],
      );
      assert.equal(await ada.run(({ room }) => room.stats.reconnects), 0);
      assert.deepEqual(await ada.errorsTold(), []);

      const text = "a text that repeats itself, a text that repeats itself, a text that repeats itself";
      await ada.run(({ room }, text) => room.channel("logs").send(text), text);
      const logs = () => ada.run(({ room }) => room.stats.channels.get("logs").sent);
      await until("packed", async () => (await logs()).codec === "lz4");
      assert.deepEqual([...ada.errors, ...bo.errors], []);
    },
  );
}

test("a session whose second part cannot be loaded stays plain and says so", options, async () => {
  const ada = await join("missing", "Ada", ["websocket"], (route) => route.fulfill({ status: 404 }));
  const bo = await join("missing", "Bo", ["websocket"]);
  await until("says so", async () => /could not be loaded.*404/.test(await plain(ada)));
  await ada.run(({ draw }) => draw("plain"));
  await bo.run(({ draw }) => draw("coded"));
  for (const person of [ada, bo]) assert.deepEqual((await person.got(2)).sort(), ["coded", "plain"]);
  assert.deepEqual([...ada.errors, ...bo.errors], []);
});
