// The same session over each transport of a browser. The files transports-*.test.mjs run these
// tests, so that several run at a time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pause, until } from "./wait.mjs";

export const options = { timeout: 300_000 };

/** The tests of one transport. */
export function testTransport(network, name) {
  const transports = [name];

  test(`${name}: participants draw, see each other, and join late`, options, async () => {
    const [ada, bo] = await Promise.all([
      network.join(name, "Ada", { transports }),
      network.join(name, "Bo", { transports }),
    ]);
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
    const cy = await network.join(name, "Cy", { transports });
    await agree([cy, ada], expected);
    await until("the state of the pointer", () => cy.run(({ seen }) => seen.pointers.includes("19")));
    await cy.closeTab();
    network.people.splice(network.people.indexOf(cy), 1);
    await until("Cy has left", () => ada.run(({ room }) => room.participants.size === 1));
    for (const person of [ada, bo]) assert.deepEqual(await person.errorsTold(), []);
  });

  test(`${name}: the session survives when the path breaks several times`, options, async () => {
    const room = `${name}-breaks`;
    const [ada, bo] = await Promise.all([
      network.join(room, "Ada", { transports }),
      network.join(room, "Bo", { transports }),
    ]);
    const id = await ada.run(({ room }) => room.self.id);
    await Promise.all([ada.run(({ chatter }) => chatter("a", 20)), bo.run(({ chatter }) => chatter("b", 20))]);
    for (let i = 0; i < 3; i++) {
      await Promise.all([ada, bo].map((person) => person.gotMore(40)));
      if (name === "webtransport") network.proxy.udp = false;
      else network.proxy.cut();
      await pause(name === "webtransport" ? 1500 : 100);
      network.proxy.udp = true;
    }
    await Promise.all([ada, bo].map((person) => person.gotMore(40)));
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
    const [ada, bo] = await Promise.all([
      network.join(room, "Ada", { transports }),
      network.join(room, "Bo", { transports }),
    ]);
    await ada.run(({ draw }) => draw("a0"));
    await Promise.all([ada.got(1), bo.got(1)]);
    await network.server.kill();
    for (const person of [ada, bo]) await until("noticed", async () => (await person.status()) === "reconnecting");
    await ada.run(({ draw }) => draw("a1"));
    await network.server.restart();
    for (const person of [ada, bo]) {
      await until("reconnected", async () => (await person.status()) === "connected");
      await until("the gap event", () => person.has("incarnation"));
    }
    await bo.run(({ draw }) => draw("b0"));
    await bo.got(3);
    await ada.got(3);
    assert.deepEqual((await bo.texts()).slice(1).sort(), ["a1", "b0"]);
    assert.deepEqual((await ada.texts()).slice(1).sort(), ["a1", "b0"]);
  });
}

/**
 * Asserts that all participants have received all texts once in the same order, which keeps each
 * sender's order.
 */
export async function agree(everybody, expected) {
  const [first, ...rest] = await Promise.all(everybody.map((person) => person.got(expected.length)));
  for (const other of rest) assert.deepEqual(other, first);
  assert.deepEqual([...first].sort(), [...expected].sort());
  for (const prefix of new Set(expected.map((text) => text[0]))) {
    const of = (texts) => texts.filter((text) => text[0] === prefix);
    assert.deepEqual(of(first), of(expected));
  }
}

/** Texts with this prefix, numbered from 0. */
export const numbered = (prefix, count) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
