// y-websocket's own client, unchanged, against `/yjs/DOCUMENT`: documents converge while server and
// connections are killed, what was confirmed outlasts the server, and awareness shows exactly the
// clients that are connected.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { SelfSigned } from "./certificate.mjs";
import { random } from "./random.mjs";
import { stored } from "./stored.mjs";
import { until } from "./wait.mjs";
import { Client, Writer, disturb, same } from "./yjs.mjs";

/**
 * How many rounds of random edits, kills and absences. GROUPWIRE_YJS_ROUNDS sets another number.
 */
const ROUNDS = Number(process.env.GROUPWIRE_YJS_ROUNDS ?? 10);

/** How often the server is killed while many write. GROUPWIRE_KILLS sets another number. */
const KILLS = Number(process.env.GROUPWIRE_KILLS ?? 3);

const SEED = Number(process.env.GROUPWIRE_SEED ?? 1);

const CLIENTS = 8;

// Each provider listens for the end of the process.
process.setMaxListeners(0);

/** All have the same document, and see exactly each other, with what each of them shows. */
async function converge(clients, t) {
  clients.forEach((client, at) => client.show({ name: `client ${at}`, at: Math.random() }));
  const wanted = () => new Map(clients.map(({ doc, awareness }) => [doc.clientID, awareness.getLocalState()]));
  try {
    await until("all are synchronised", () => clients.every(({ provider }) => provider.synced));
    await until("all have the same document", () => clients.every((client) => same(client.doc, clients[0].doc)));
    await until("all see each other", () =>
      clients.every(({ awareness }) => {
        const expected = wanted();
        const seen = awareness.getStates();
        return seen.size === expected.size && [...expected].every(([id, state]) => seen.get(id)?.at === state.at);
      }),
    );
  } catch (error) {
    for (const { doc, awareness, provider } of clients) {
      t.diagnostic(
        `${doc.clientID}: ${provider.wsconnected} ${provider.synced} ${JSON.stringify([...awareness.getStates()])}`,
      );
    }
    throw error;
  }
}

test(
  "documents converge while connections and the server are killed",
  { timeout: 60_000 + 5000 * ROUNDS },
  async (t) => {
    const server = await stored();
    const next = random(SEED);
    const below = (limit) => Math.floor(next() * limit);
    const open = () => new Client(server.url, "folder/of documents/plan", { params: { unknown: "1" } });
    const clients = Array.from({ length: CLIENTS }, open);
    await converge(clients, t);
    const shown = (client, _, round) => client.show({ name: "somebody", at: round });
    const converging = (all) => converge(all, t);
    const kills = await disturb(ROUNDS, { server, clients, below, open, show: shown, converge: converging });
    const fresh = open();
    await converge([...clients, fresh], t);
    assert.ok(fresh.doc.getText("text").length > 0 && fresh.doc.getArray("list").length > 0);
    assert.ok(kills > 0, "the server was killed");
    // Clients that leave without saying goodbye disappear, too.
    clients[0].leave(false);
    clients[1].leave(true);
    await converge([...clients.slice(2), fresh], t);
    [...clients.slice(2), fresh].forEach((client) => client.leave(true));
    await server.kill();
  },
);

/**
 * Lets several write until the server is killed. Returns for each what was confirmed, and what a
 * client finds afterwards.
 */
async function crash(server, name, updates) {
  const writers = await Promise.all(Array.from({ length: 4 }, () => Writer.open(server.url, name)));
  await until("some of it is confirmed", () => {
    // Under load all the time.
    for (const writer of writers) if (writer.unconfirmed < 50) writer.write();
    return writers.reduce((sum, writer) => sum + writer.confirmed, 0) >= updates;
  });
  await server.kill();
  await Promise.all(writers.map((writer) => writer.closed));
  await server.restart();
  const reader = new Client(server.url, name);
  await until("the reader is synchronised", () => reader.provider.synced);
  const found = Y.decodeStateVector(Y.encodeStateVector(reader.doc));
  reader.leave(true);
  return writers.map((writer) => ({ confirmed: writer.confirmed, found: found.get(writer.doc.clientID) ?? 0 }));
}

test("what the server has sent back outlasts its death", { timeout: 60_000 + 5000 * KILLS }, async (t) => {
  const server = await stored();
  let unconfirmed = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    for (const { confirmed, found } of await crash(server, "kept", 100 + 37 * kill)) {
      assert.ok(found >= confirmed, `${confirmed} were confirmed, and ${found} are there`);
      unconfirmed += found - confirmed;
    }
  }
  t.diagnostic(`${unconfirmed} were stored and not confirmed yet`);
  await server.kill();
});

test("without a store it does not, which shows that the test can fail", async () => {
  const server = await stored("--durable", "kept=memory");
  const outcome = await crash(server, "kept", 100);
  assert.ok(outcome.every(({ confirmed, found }) => confirmed > 0 && found === 0));
  await server.kill();
});

for (const options of [[], ["--collect-documents", "mer*"]])
  test(`a document outlasts its merges ${options.join(" ")}`, async () => {
    const server = await stored(...options);
    let expected = "";
    for (let round = 0; round < 2; round += 1) {
      const client = new Client(server.url, "merged");
      await until("it is synchronised", () => client.provider.synced);
      const text = client.doc.getText("text");
      assert.equal(text.toString(), expected);
      const confirmed = client.confirmation();
      for (let at = 0; at < 2100; at += 1) {
        text.insert(text.length, `${at},`);
        expected += `${at},`;
        if (at % 700 !== 0) continue;
        // Some deletions are long, and some are short.
        text.delete(1, Math.min(600, text.length - 1));
        text.delete(0, 1);
        expected = text.toString();
      }
      await confirmed;
      client.leave(true);
      const yjs = async () => (await (await fetch(`${server.url}/status`)).json()).yjs;
      await until("its updates were merged", async () => (await yjs()).compactions > 0);
      await server.kill();
      await server.restart();
    }
    await server.kill();
  });

test("a client without the right token is told so and stays away", async (t) => {
  const server = await stored("--token", "open sesame");
  const warned = t.mock.method(console, "warn", () => {});
  const stranger = new Client(server.url, "secret", { params: { token: "wrong" } });
  const [closed] = await new Promise((resolve) => stranger.provider.once("closed", (...told) => resolve(told)));
  assert.equal(closed.code, 4403);
  assert.match(String(warned.mock.calls[0]?.arguments[0]), /Permission denied .*\n.*token/);
  assert.equal(stranger.provider.shouldConnect, false);
  const friend = new Client(server.url, "secret", { params: { token: "open sesame" } });
  await until("a client with the token comes in", () => friend.provider.synced);
  stranger.leave(true);
  friend.leave(true);
  await server.kill();
});

test("documents go over TLS, large ones, too", async (t) => {
  const certificate = new SelfSigned();
  const server = await stored(...certificate.options);
  class Trusting extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, { ca: readFileSync(certificate.cert) });
    }
  }
  const open = () => new Client(server.url, "large", { WebSocketPolyfill: Trusting });
  const [one, other] = [open(), open()];
  one.doc.getText("text").insert(0, "x".repeat(1_500_000));
  await converge([one, other], t);
  await server.kill();
  await server.restart();
  const fresh = open();
  await converge([one, other, fresh], t);
  assert.equal(fresh.doc.getText("text").length, 1_500_000);
  [one, other, fresh].forEach((client) => client.leave(true));
  await server.kill();
  certificate.remove();
});

test("a change above the limit is refused once, with the limit", async (t) => {
  const server = await stored();
  const warned = t.mock.method(console, "warn", () => {});
  const writer = new Client(server.url, "large");
  const ends = [];
  writer.provider.on("connection-close", (event) => ends.push(event));
  await until("it is synchronised", () => writer.provider.synced);
  const closed = new Promise((resolve) => writer.provider.once("closed", resolve));
  writer.doc.getText("text").insert(0, "x".repeat(6_000_000));
  const { code, reason } = await closed;
  assert.equal(code, 4413);
  assert.match(
    reason,
    /^a message of 60000\d\d bytes or more is over the limit of 4194304 \(--max-document-message\)$/,
  );
  assert.match(String(warned.mock.calls[0]?.arguments[0]), /over the limit of 4194304/);
  assert.equal(writer.provider.shouldConnect, false, "it is not sent again");
  assert.equal(ends.length, 1);
  // The document goes on for others.
  const other = new Client(server.url, "large");
  await until("another one comes in", () => other.provider.synced);
  writer.leave(true);
  other.leave(true);
  await server.kill();
});

test("the first protocol that a page names is chosen", async () => {
  const server = await stored();
  const socket = new WebSocket(`${server.url}/yjs/any`, ["first", "second"]);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  assert.equal(socket.protocol, "first");
  socket.terminate();
  await server.kill();
});
