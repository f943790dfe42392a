// The same session over each transport of a browser.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { launch } from "./window.mjs";
import { Participant } from "./participant.mjs";
import { NetworkProxy } from "./proxy.mjs";
import { Server } from "./server.mjs";
import { pause, until } from "./wait.mjs";

const options = { timeout: 180_000 };
const TRANSPORTS = ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"];

let browser;
let server;
let proxy;
const people = [];

before(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
  proxy = await NetworkProxy.to(server);
});
afterEach(async () => {
  proxy.open();
  const errors = people.flatMap((person) => person.errors);
  await Promise.all(people.splice(0).map((person) => person.close()));
  assert.deepEqual(errors, [], "errors in the pages");
});
after(async () => {
  await browser?.close();
  proxy?.close();
  await server?.kill();
});

async function join(room, name, settings = {}) {
  const person = await Participant.open(browser, proxy, room, { name, ...settings });
  people.push(person);
  return person;
}

/** Asserts that all participants have received all texts once in the same order, which keeps each sender's order. */
async function agree(everybody, expected) {
  const [first, ...rest] = await Promise.all(everybody.map((person) => person.got(expected.length, 30_000)));
  for (const other of rest) assert.deepEqual(other, first);
  assert.deepEqual([...first].sort(), [...expected].sort());
  for (const prefix of new Set(expected.map((text) => text[0]))) {
    const of = (texts) => texts.filter((text) => text[0] === prefix);
    assert.deepEqual(of(first), of(expected));
  }
}

const numbered = (prefix, count) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

for (const name of TRANSPORTS) {
  const transports = [name];

  test(`${name}: participants draw, see each other, and join late`, options, async () => {
    const [ada, bo] = await Promise.all([join(name, "Ada", { transports }), join(name, "Bo", { transports })]);
    for (const person of [ada, bo]) {
      assert.deepEqual(await person.transport(), { name, why: "The only one that may be used here." });
    }
    await ada.run(({ draw }) => draw("a0"));
    await bo.run(({ draw }) => draw("b0"));
    for (let i = 1; i < 20; i++) {
      await ada.run(({ draw, point }, i) => [draw(`a${i}`), point(`${i}`)], i);
      await bo.run(({ draw }, i) => draw(`b${i}`), i);
    }
    const expected = [...numbered("a", 20), ...numbered("b", 20)];
    await agree([ada, bo], expected);
    await until("the newest pointer", () => bo.run(({ seen }) => seen.pointers.at(-1) === "19"));
    const cy = await join(name, "Cy", { transports });
    await agree([cy, ada], expected);
    await until("the state of the pointer", () => cy.run(({ seen }) => seen.pointers.includes("19")));
    await cy.closeTab();
    people.splice(people.indexOf(cy), 1);
    await until("Cy has left", () => ada.run(({ room }) => room.participants.size === 1), 3000);
    for (const person of [ada, bo]) assert.deepEqual(await person.run(({ seen }) => seen.errors), []);
  });

  test(`${name}: the session survives when the path breaks several times`, options, async () => {
    const room = `${name}-breaks`;
    const [ada, bo] = await Promise.all([join(room, "Ada", { transports }), join(room, "Bo", { transports })]);
    const id = await ada.run(({ room }) => room.self.id);
    await Promise.all([ada.run(({ chatter }) => chatter("a", 20)), bo.run(({ chatter }) => chatter("b", 20))]);
    for (let i = 0; i < 3; i++) {
      await Promise.all([ada, bo].map((person) => person.gotMore(40, 30_000)));
      if (name === "webtransport") proxy.udp = false;
      else proxy.cut();
      await pause(name === "webtransport" ? 1500 : 100);
      proxy.udp = true;
    }
    await Promise.all([ada, bo].map((person) => person.gotMore(40, 30_000)));
    const counts = [];
    for (const person of [ada, bo]) counts.push(await person.run(({ chatter }) => chatter()));
    await agree([ada, bo], [...numbered("a", counts[0]), ...numbered("b", counts[1])]);
    assert.ok(counts[0] > 50 && counts[1] > 50, `${counts} were sent`);
    assert.equal(await ada.run(({ room }) => room.self.id), id);
    for (const person of [ada, bo]) {
      const events = await person.events();
      assert.ok(!events.includes("session") && !events.includes("incarnation"), events.join());
    }
  });

  test(`${name}: participants reconnect to a restarted server`, options, async () => {
    const room = `${name}-restart`;
    const [ada, bo] = await Promise.all([join(room, "Ada", { transports }), join(room, "Bo", { transports })]);
    await ada.run(({ draw }) => draw("a0"));
    await Promise.all([ada.got(1), bo.got(1)]);
    await server.kill();
    for (const person of [ada, bo]) await until("noticed", async () => (await person.status()) === "reconnecting");
    await ada.run(({ draw }) => draw("a1"));
    await server.restart();
    for (const person of [ada, bo]) {
      await until("reconnected", async () => (await person.status()) === "connected", 20_000);
      await until("the gap event", () => person.has("incarnation"));
    }
    await bo.run(({ draw }) => draw("b0"));
    await bo.got(3);
    await ada.got(3);
    assert.deepEqual((await bo.texts()).slice(1).sort(), ["a1", "b0"]);
    assert.deepEqual((await ada.texts()).slice(1).sort(), ["a1", "b0"]);
  });
}

for (const name of ["multipart", "iframe"]) {
  test(`${name}: responses are renewed by size, and nothing is lost, repeated or reordered`, options, async () => {
    const room = `${name}-size`;
    const transports = [name];
    const [ada, bo] = await Promise.all([join(room, "Ada", { transports }), join(room, "Bo", { transports })]);
    const before = proxy.counts[`/http/${name}`];
    for (let i = 0; i < 40; i++) {
      await ada.run(({ drawRandom }) => drawRandom(40_000));
      await bo.run(({ draw }, i) => draw(`b${i}`), i);
    }
    // Bo receives 40 texts of 40,000 characters of 6 bits, so a response is renewed every 512 KiB. Ada, who sent them,
    // receives only confirmations.
    const texts = await ada.got(80, 60_000);
    assert.deepEqual(await bo.got(80, 60_000), texts);
    assert.equal(new Set(texts).size, 80);
    assert.deepEqual(
      texts.filter((text) => /^b\d+$/.test(text)),
      numbered("b", 40),
    );
    const renewals = proxy.counts[`/http/${name}`] - before;
    assert.ok(renewals >= 2, `${renewals} renewals`);
    for (const person of [ada, bo]) assert.equal(await person.run(({ room }) => room.stats.reconnects), 0);
  });
}

test("multipart: a response is renewed after 25 s, while people draw", options, async () => {
  const transports = ["multipart"];
  const [ada, bo] = await Promise.all([join("time", "Ada", { transports }), join("time", "Bo", { transports })]);
  const before = proxy.counts["/http/multipart"];
  await Promise.all([ada.run(({ chatter }) => chatter("a", 50)), bo.run(({ chatter }) => chatter("b", 50))]);
  await until("both renewed", () => proxy.counts["/http/multipart"] >= before + 2, 40_000);
  await Promise.all([ada, bo].map((person) => person.gotMore(20)));
  const counts = [];
  for (const person of [ada, bo]) counts.push(await person.run(({ chatter }) => chatter()));
  await agree([ada, bo], [...numbered("a", counts[0]), ...numbered("b", counts[1])]);
  for (const person of [ada, bo]) assert.equal(await person.run(({ room }) => room.stats.reconnects), 0);
});
