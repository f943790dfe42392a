// One document through both endpoints: y-websocket's clients at `/yjs/NAME`, and providers of
// groupwire-yjs in the room NAME. They have the same document and see each other, while server and
// connections are killed and packets are lost, and nothing that was confirmed is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "groupwire";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { random } from "./random.mjs";
import { LossyProxy } from "./stalls.mjs";
import { stored } from "./stored.mjs";
import { until } from "./wait.mjs";
import { Client, Participant, Writer, disturb, same } from "./yjs.mjs";

/**
 * How many rounds of random edits, kills and absences. GROUPWIRE_YJS_ROUNDS sets another number.
 */
const ROUNDS = Number(process.env.GROUPWIRE_YJS_ROUNDS ?? 8);

/** How often the server is killed while many write. GROUPWIRE_KILLS sets another number. */
const KILLS = Number(process.env.GROUPWIRE_KILLS ?? 3);

const SEED = Number(process.env.GROUPWIRE_SEED ?? 1);

/** The number of clients of each kind. */
const CLIENTS = 4;

const LOSS = 0.02;

process.setMaxListeners(0);

/** Sets the shown state of a client, which `converge` compares with what the others see. */
function show(client, at) {
  client.show({ user: { name: `client ${at}` }, cursor: { anchor: Math.random(), head: null } });
}

/** All have the same document, and see exactly each other. */
async function converge(clients, t) {
  clients.forEach(show);
  const seen = ({ awareness }) => [...awareness.getStates()].sort(([a], [b]) => a - b);
  // The fields of a state come in any order.
  const text = (value) => JSON.stringify(value, (_, one) => (isRecord(one) ? sorted(one) : one));
  const wanted = () =>
    text(clients.map(({ doc, awareness }) => [doc.clientID, awareness.getLocalState()]).sort(([a], [b]) => a - b));
  try {
    await until("all are synchronised", () => clients.every(({ provider }) => provider.synced));
    await until("all have the same document", () => clients.every((client) => same(client.doc, clients[0].doc)));
    await until("all see each other", () => clients.every((client) => text(seen(client)) === wanted()));
    await until("all is saved", () => clients.every((client) => client.saved !== false));
  } catch (error) {
    t.diagnostic(`wanted ${wanted()}`);
    for (const client of clients) {
      const { provider, doc } = client;
      t.diagnostic(
        `${client.constructor.name} ${doc.clientID}: ${provider.synced} ${client.saved} ${text(seen(client))}`,
      );
    }
    throw error;
  }
}

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const sorted = (value) => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

test(
  "both kinds of clients converge while connections and the server are killed and packets are lost",
  { timeout: 120_000 + 8000 * ROUNDS },
  async (t) => {
    const server = await stored();
    const next = random(SEED);
    const below = (limit) => Math.floor(next() * limit);
    const network = await LossyProxy.to(server, LOSS, random(SEED + 1));
    const open = (at) => new (at % 2 === 0 ? Client : Participant)(network.url, "folder/plan");
    const clients = Array.from({ length: 2 * CLIENTS }, (_, at) => open(at));
    await converge(clients, t);
    const kills = await disturb(ROUNDS, { server, clients, below, open, show, converge: (all) => converge(all, t) });
    const fresh = [open(0), open(1)];
    await converge([...clients, ...fresh], t);
    assert.ok(fresh[0].doc.getText("text").length > 0 && fresh[0].doc.getArray("list").length > 0);
    assert.ok(kills > 0, "the server was killed");
    t.diagnostic(`${ROUNDS} rounds, ${kills} kills of the server, ${network.lost} lost packets`);
    // Clients that leave without saying goodbye disappear, too.
    clients.slice(0, 4).forEach((client, at) => client.leave(at < 2));
    const rest = [...clients.slice(4), ...fresh];
    await converge(rest, t);
    rest.forEach((client) => client.leave(true));
    network.close();
    await server.kill();
  },
);

/** A provider that writes, and counts its changes that the room has confirmed. */
class ParticipantWriter {
  #client;
  #list;
  #saved = 0;

  constructor(url, name) {
    this.#client = new Participant(url, name);
    this.#list = this.doc.getArray("list");
    this.#client.provider.on("saved", (isSaved) => {
      if (isSaved) this.#saved = Y.getState(this.doc.store, this.doc.clientID);
    });
  }

  get doc() {
    return this.#client.doc;
  }

  /** The clock up to which its changes are confirmed. */
  get confirmed() {
    return this.#saved;
  }

  get unconfirmed() {
    return Y.getState(this.doc.store, this.doc.clientID) - this.#saved;
  }

  /**
   * Writes some elements once the earlier ones are confirmed: "saved" does not tell which of
   * several changes it means.
   */
  write() {
    if (this.unconfirmed === 0 && this.#client.provider.synced)
      for (let at = 0; at < 20; at += 1) this.#list.push([at]);
  }

  /** The server is dead: nothing is confirmed any more. */
  end() {
    this.#client.leave(true);
  }
}

/**
 * Lets several write through both doors until the server is killed. Returns for each what was
 * confirmed, and what is found afterwards.
 */
async function crash(server, name, updates) {
  const sockets = await Promise.all(Array.from({ length: 3 }, () => Writer.open(server.url, name)));
  const participants = Array.from({ length: 3 }, () => new ParticipantWriter(server.url, name));
  const writers = [...sockets, ...participants];
  await until("some of it is confirmed through both doors", () => {
    // Under load all the time.
    for (const writer of writers) if (writer.unconfirmed < 50) writer.write();
    return [sockets, participants].every((some) => some.reduce((sum, { confirmed }) => sum + confirmed, 0) >= updates);
  });
  await server.kill();
  await Promise.all(sockets.map(({ closed }) => closed));
  const confirmed = writers.map((writer) => writer.confirmed);
  participants.forEach((participant) => participant.end());
  await server.restart();
  const outcome = [];
  for (const Kind of [Client, Participant]) {
    const reader = new Kind(server.url, name);
    await until("the reader is synchronised", () => reader.provider.synced);
    const clocks = Y.decodeStateVector(Y.encodeStateVector(reader.doc));
    writers.forEach(({ doc }, at) => outcome.push({ confirmed: confirmed[at], found: clocks.get(doc.clientID) ?? 0 }));
    reader.leave(true);
  }
  return outcome;
}

test("what was confirmed through either door outlasts the server", { timeout: 60_000 + 10_000 * KILLS }, async (t) => {
  const server = await stored();
  let [total, unconfirmed] = [0, 0];
  for (let kill = 0; kill < KILLS; kill += 1) {
    for (const { confirmed, found } of await crash(server, "kept", 60 + 17 * (kill % 10))) {
      assert.ok(found >= confirmed, `${confirmed} were confirmed, and ${found} are there`);
      total += confirmed;
      unconfirmed += found - confirmed;
    }
  }
  t.diagnostic(`${KILLS} kills, ${total / 2} confirmed and found, ${unconfirmed / 2} stored and not confirmed yet`);
  await server.kill();
});

test("without a store it does not, which shows that the test can fail", async () => {
  const server = await stored("--durable", "kept=memory");
  const outcome = await crash(server, "kept", 60);
  assert.ok(outcome.every(({ confirmed, found }) => confirmed > 0 && found === 0));
  await server.kill();
});

test("large changes, deletions and documents that were there before come through both doors", async (t) => {
  for (const options of [[], ["--durable", "large=memory"]]) {
    const server = await stored(...options);
    const [one, other] = [new Client(server.url, "large"), new Participant(server.url, "large")];
    one.doc.getText("text").insert(0, "x".repeat(200_000));
    await converge([one, other], t);
    other.doc.getText("text").insert(7, "y".repeat(300_000));
    one.doc.getMap("map").set("key", "value");
    await converge([one, other], t);
    other.doc.getText("text").delete(0, 499_000);
    const late = [new Client(server.url, "large"), new Participant(server.url, "large")];
    await converge([one, other, ...late], t);
    assert.equal(late[0].doc.getText("text").length, 1000);
    [one, other, ...late].forEach((client) => client.leave(true));
    await server.kill();
  }
});

test("what a participant puts into the room past the endpoint does no harm", async (t) => {
  t.mock.method(console, "warn", () => {});
  const server = await stored();
  const open = () => [new Client(server.url, "harm"), new Participant(server.url, "harm")];
  const people = open();
  people[0].doc.getText("text").insert(0, "before ");
  await converge(people, t);
  const room = connect(server.url, "harm", { transports: ["websocket"], WebSocket });
  const document = room.channel("yjs", { kind: "transaction", departures: true });
  const states = room.channel("yjs/awareness", { kind: "awareness", overflow: "conflate", maxRate: 25 });
  for (const bytes of [[], [0], [1, 1, 1], [255, 255, 255, 255], [1, 1, 5, 0, 4, 1, 1, 116, 200]])
    document.send(new Uint8Array(bytes));
  for (const text of [
    "",
    "{",
    "[1]",
    '["piece",1,1,2,"AQI="]',
    '["piece",1,0,2,"AQI="]',
    '["done",true]',
    '["ask","AA=="]',
    '["ask","*"]',
  ])
    document.send(text);
  for (const [key, text] of [
    ["7/x", "{"],
    ["x", "here"],
    ["-1/x", "1"],
    ["9007199254740993/x", "1"],
    ["/", "1"],
  ])
    states.send(text, { key });
  // This cursor is sent in the name of another client.
  states.send('{"anchor":1}', { key: `${people[0].doc.clientID}/cursor` });
  await until("the room has taken all of it", () => room.status === "connected" && room.pending === 0);
  people[0].doc.getText("text").insert(0, "after ");
  people[1].doc.getMap("map").set("key", "value");
  await converge(people, t);
  room.leave();
  const late = open();
  await converge([...people, ...late], t);
  assert.equal(late[0].doc.getText("text").toString(), "after before ");
  [...people, ...late].forEach((client) => client.leave(true));
  await server.kill();
});
