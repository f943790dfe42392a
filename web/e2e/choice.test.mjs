// The choice of the transport in a browser when some do not work, and the moves from one to
// another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Network } from "./network.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 300_000 };

const network = new Network();

/** Asserts that the texts with this prefix are numbered in order without gaps. */
function isWhole(texts, prefix) {
  const of = texts.filter((text) => text.startsWith(prefix));
  assert.deepEqual(
    of,
    of.map((_, i) => `${prefix}${i}`),
  );
}

/** Waits until the page has been on WebSocket for this reason. */
async function moved(person, why) {
  const reasons = () =>
    person.run(({ seen }) => seen.moves.filter(({ name }) => name === "websocket").map(({ why }) => why));
  await until(`on WebSocket because of ${why}`, async () => (await reasons()).some((reason) => why.test(reason)));
}

test(
  "after each of several failures the session works within 3 s, and it returns to the best transport",
  options,
  async (t) => {
    const ada = await network.join("chain", "Ada");
    await ada.isOn("webtransport");
    await ada.run(({ chatter }) => chatter("a", 50));
    await ada.gotMore(20);
    const steps = [
      ["UDP is blocked", () => (network.proxy.udp = false), ["websocket"]],
      [
        "WebSocket is refused",
        () => {
          network.proxy.websocket = false;
          network.proxy.cut();
        },
        ["multipart", "iframe"],
      ],
      ["streams are buffered", () => (network.proxy.streams = false), ["longpoll"]],
    ];
    for (const [what, block, names] of steps) {
      const since = await ada.run(() => performance.now());
      block();
      await until(`moved when ${what}`, async () => names.includes((await ada.transport())?.name));
      const { name, why } = await ada.transport();
      // The gap around the move, and some time on the new transport.
      await ada.gotMore(30);
      const gap = await ada.run(({ longestGap }, since) => longestGap(since), since);
      t.diagnostic(`${what}: on ${name} (${why}), nothing came for ${Math.round(gap)} ms at most`);
    }
    const since = await ada.run(() => performance.now());
    network.proxy.open();
    await ada.isOn("webtransport", 100_000);
    await ada.gotMore(10);
    const sent = await ada.run(({ chatter }) => chatter());
    const texts = await ada.got(sent);
    const gap = await ada.run(({ longestGap }, since) => longestGap(since), since);
    t.diagnostic(`back on webtransport, nothing came for ${Math.round(gap)} ms at most`);
    isWhole(texts, "a");
    assert.equal(texts.length, sent);
    const events = await ada.events();
    assert.ok(!events.includes("session") && !events.includes("incarnation"), events.join());
  },
);

test(
  "a page that is opened while UDP is blocked works without it, and remembers this for the server",
  options,
  async () => {
    const context = await network.newContext();
    network.proxy.udp = false;
    const ada = await network.join("blocked", "Ada", { context });
    // On a busy machine another transport may be in use until WebSocket opens, and a reason may
    // have changed again before this test reads it: the page remembers each reason.
    await ada.isOn("websocket");
    await moved(ada, /^WebTransport (did not answer within \d+ ms|has not answered yet); still trying\.$/);
    await moved(ada, /^WebTransport .*; trying again in 15 s\.$/);
    const bo = await network.join("blocked", "Bo", { context });
    await bo.isOn("websocket");
    await moved(bo, /^WebTransport did not work here before; (trying again in 15 s|still trying)\.$/);
    network.proxy.open();
    // Chromium fires this event when it is online again.
    await bo.run(() => window.dispatchEvent(new Event("online")));
    await bo.isOn("webtransport");
    const cy = await network.join("blocked", "Cy", { context });
    await cy.isOn("webtransport");
  },
);

test("the application changes the allowed transports while it runs, and no message is lost", options, async () => {
  const ada = await network.join("choose", "Ada");
  await ada.run(({ chatter }) => chatter("a", 20));
  for (const name of ["poll", "iframe", "websocket", "longpoll", "multipart", "webtransport"]) {
    await ada.run(({ room }, name) => room.setTransports([name]), name);
    await ada.isOn(name);
    await ada.gotMore(15);
  }
  await ada.run(({ room }) => room.setTransports(undefined));
  const sent = await ada.run(({ chatter }) => chatter());
  const texts = await ada.got(sent);
  assert.ok(sent > 50, `${sent}`);
  assert.equal(texts.length, sent);
  isWhole(texts, "a");
  assert.equal((await ada.transport()).why, "The best there is here.");
});

test("T20: seven tabs, all pinned to streaming: four hold a response, the others poll", options, async () => {
  const context = await network.newContext();
  const tabs = [];
  for (let i = 0; i < 7; i++) tabs.push(await network.join("tabs", `tab ${i}`, { context, transports: ["multipart"] }));
  const names = await Promise.all(tabs.map(async (tab) => (await tab.transport()).name));
  assert.deepEqual(names.sort(), [...Array(4).fill("multipart"), ...Array(3).fill("poll")]);
  for (const [i, tab] of tabs.entries()) await tab.run(({ draw }, i) => draw(`tab ${i}`), i);
  for (const tab of tabs) assert.equal(new Set(await tab.got(7)).size, 7);
});

test("without localStorage and Web Locks everything works", options, async () => {
  const context = await network.newContext();
  await context.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("forbidden", "SecurityError");
      },
    });
    Object.defineProperty(Navigator.prototype, "locks", { value: undefined });
  });
  const ada = await network.join("private", "Ada", { context });
  await ada.isOn("webtransport");
  const bo = await network.join("private", "Bo", { context, transports: ["longpoll"] });
  await bo.run(({ draw }) => draw("from Bo"));
  assert.deepEqual(await ada.got(1), ["from Bo"]);
});
