// Sessions over responses that stream, and the renewal of those.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Network } from "./network.mjs";
import { agree, numbered, options, testTransport } from "./transports.mjs";
import { until } from "./wait.mjs";

const network = new Network();

for (const name of ["multipart", "iframe"]) testTransport(network, name);

for (const name of ["multipart", "iframe"]) {
  test(`${name}: responses are renewed by size, and nothing is lost, repeated or reordered`, options, async () => {
    const room = `${name}-size`;
    const transports = [name];
    const [ada, bo] = await Promise.all([
      network.join(room, "Ada", { transports }),
      network.join(room, "Bo", { transports }),
    ]);
    const before = network.proxy.counts[`/http/${name}`];
    for (let i = 0; i < 120; i++) {
      await ada.run(({ drawRandom }) => drawRandom(55_000));
      await bo.run(({ draw }, i) => draw(`b${i}`), i);
      // Little waits at any time, so that no one is silent for long on a busy machine.
      if (i % 10 === 9) await bo.got(2 * (i + 1));
    }
    // Bo receives 120 texts of 55,000 characters of 6 bits, so a response is renewed every 2 MiB.
    // Ada, who sent them, receives only confirmations.
    const texts = await ada.got(240);
    assert.deepEqual(await bo.got(240), texts);
    assert.equal(new Set(texts).size, 240);
    assert.deepEqual(
      texts.filter((text) => /^b\d+$/.test(text)),
      numbered("b", 120),
    );
    const renewals = network.proxy.counts[`/http/${name}`] - before;
    assert.ok(renewals >= 2, `${renewals} renewals`);
    for (const person of [ada, bo]) assert.equal(await person.run(({ room }) => room.stats.reconnects), 0);
  });
}

test("multipart: a response is renewed after 25 s, while people draw", options, async () => {
  const transports = ["multipart"];
  const [ada, bo] = await Promise.all([
    network.join("time", "Ada", { transports }),
    network.join("time", "Bo", { transports }),
  ]);
  const before = network.proxy.counts["/http/multipart"];
  await Promise.all([ada.run(({ chatter }) => chatter("a", 50)), bo.run(({ chatter }) => chatter("b", 50))]);
  await until("both renewed", () => network.proxy.counts["/http/multipart"] >= before + 2);
  await Promise.all([ada, bo].map((person) => person.gotMore(20)));
  const counts = [];
  for (const person of [ada, bo]) counts.push(await person.run(({ chatter }) => chatter()));
  await agree([ada, bo], [...numbered("a", counts[0]), ...numbered("b", counts[1])]);
  for (const person of [ada, bo]) assert.equal(await person.run(({ room }) => room.stats.reconnects), 0);
});
