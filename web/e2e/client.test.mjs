// The package `groupwire` in Node with a real server.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { after, afterEach, before, test } from "node:test";
import { awareness, connect, transaction } from "groupwire";
import { Server } from "./server.mjs";
import { pause, until } from "./wait.mjs";

const wasm = await readFile(new URL("../client/wasm/groupwire_wasm_bg.wasm", import.meta.url));
let server;
const rooms = [];

before(async () => (server = await Server.start()));
afterEach(() => rooms.splice(0).forEach((room) => room.leave()));
after(() => server.kill());

/** Joins a room and records everything that is received. */
function join(name, options = {}, url = server.url) {
  const room = connect(url, name, { wasm, ...options });
  rooms.push(room);
  const seen = { messages: [], events: [], errors: [], snapshots: [] };
  const draw = room.channel("draw", transaction());
  const pointer = room.channel("pointer", awareness({ maxRate: 100 }));
  for (const channel of [draw, pointer]) channel.on("message", (message) => seen.messages.push(message));
  for (const event of ["status", "synced", "drain"]) room.on(event, (value) => seen.events.push(value ?? event));
  room.on("gap", ({ reason }) => seen.events.push(reason));
  room.on("error", (error) => seen.errors.push(error));
  room.on("snapshot", (snapshot) => seen.snapshots.push(snapshot));
  return { room, draw, pointer, seen, texts: () => seen.messages.map(({ data }) => data) };
}

const synced = ({ seen }) => until("synced", () => seen.events.includes("synced"));

test("messages reach the other participant and, when ordered, their sender", async () => {
  const [ada, bo] = [join("messages"), join("messages")];
  await Promise.all([synced(ada), synced(bo)]);
  assert.equal(ada.draw.send({ x: 1, text: "häää" }), "accepted");
  assert.equal(ada.draw.send(Uint8Array.of(0, 255, 128)), "accepted");
  assert.equal(ada.pointer.send("here", { key: "p", priority: 200 }), "accepted");
  await until("three messages", () => bo.seen.messages.length === 3);
  await until("two own", () => ada.seen.messages.length === 2);
  assert.deepEqual(ada.texts(), ['{"x":1,"text":"häää"}', Uint8Array.of(0, 255, 128)]);
  assert.deepEqual(bo.texts(), [...ada.texts(), "here"]);
  assert.ok(ada.seen.messages.every(({ own, sender }) => own && sender === ada.room.self.id));
  const [first, second, third] = bo.seen.messages;
  assert.deepEqual([first.position, second.position, third.position], [1, 2, 0]);
  assert.deepEqual([first.index, second.index, third.index], [1, 2, 1]);
  assert.deepEqual([third.key, third.own, third.stale, third.state], ["p", false, false, false]);
  assert.ok(third.age >= 0);
  const { sent, roundTrip } = ada.room.stats;
  assert.equal(sent.messages, 3);
  assert.ok(sent.bytesAfter > 0 && roundTrip > 0);
  assert.deepEqual([...ada.seen.errors, ...bo.seen.errors], []);
});

test("on a conflated channel only the newest value of a key is sent", async () => {
  const [ada, bo] = [join("conflated"), join("conflated")];
  await Promise.all([synced(ada), synced(bo)]);
  const sent = Array.from({ length: 100 }, (_, i) => ada.pointer.send(`${i}`, { key: i % 2 ? "odd" : "even" }));
  assert.deepEqual([...new Set(sent)], ["accepted", "conflated"]);
  await until("the newest of both", () => bo.texts().includes("98") && bo.texts().includes("99"));
  assert.ok(bo.texts().length < 10, `${bo.texts().length} of 100 came`);
});

test("presence: the others learn at once who joins, changes and leaves", async () => {
  const ada = join("presence", { presence: { name: "Ada" } });
  await synced(ada);
  const bo = join("presence", { presence: { name: "Bo" } });
  const names = ({ room }) => [...room.participants.values()].map(({ presence, away }) => `${presence.name} ${away}`);
  await until("both see each other", () => names(ada).length === 1 && names(bo).length === 1);
  assert.deepEqual([names(ada), names(bo)], [["Bo false"], ["Ada false"]]);
  assert.notEqual(ada.room.self.id, bo.room.self.id);
  bo.room.setPresence({ name: "Bob" });
  await until("the new name", () => names(ada)[0] === "Bob false");
  bo.room.leave();
  assert.equal(bo.room.status, "closed");
  await until("Bob has left", () => ada.room.participants.size === 0);
});

test("a late joiner gets all transactions and the newest awareness, marked as state", async () => {
  const [ada, witness] = [join("late"), join("late")];
  await Promise.all([synced(ada), synced(witness)]);
  for (let i = 0; i < 500; i++) ada.draw.send({ stroke: i });
  ada.pointer.send("old");
  await until("all ordered", () => ada.seen.messages.length === 500);
  ada.pointer.send("new");
  await until("the server has the newest pointer", () => witness.texts().includes("new"));
  const bo = join("late");
  await synced(bo);
  await until("the pointer", () => bo.texts().includes("new"));
  const transactions = bo.seen.messages.filter(({ position }) => position > 0);
  assert.deepEqual(
    transactions.map((message) => message.json().stroke),
    Array.from({ length: 500 }, (_, i) => i),
  );
  assert.ok(transactions.every(({ state }) => state));
  assert.ok(!bo.texts().includes("old"));
  assert.ok(bo.room.stats.received.bytesAfter < bo.room.stats.received.bytesBefore);
});

test("a long log is replaced by a participant's snapshot, without duplicates or losses", async () => {
  const ada = join("snapshot");
  await synced(ada);
  let asked = 0;
  ada.room.provideSnapshot(() => {
    asked++;
    return JSON.stringify(ada.texts());
  });
  // More than the log keeps before the server asks for a snapshot (`Limits::snapshot_after`).
  for (let i = 0; i < 2500; i++) assert.equal(ada.draw.send(`${i}`), "accepted");
  await until("all ordered", () => ada.seen.messages.length === 2500);
  await until("asked for a snapshot", () => asked > 0);
  for (let i = 2500; i < 2600; i++) ada.draw.send(`${i}`);
  await until("all ordered", () => ada.seen.messages.length === 2600);
  const bo = join("snapshot");
  await synced(bo);
  assert.equal(bo.seen.snapshots.length, 1);
  const before = JSON.parse(new TextDecoder().decode(bo.seen.snapshots[0].data));
  assert.equal(before.length, bo.seen.snapshots[0].asOf);
  assert.deepEqual([...before, ...bo.texts()], ada.texts());
});

test("after a server was killed and restarted, both participants reconnect, get the gap event and go on", async () => {
  const own = await Server.start();
  try {
    const [ada, bo] = [join("killed", {}, own.url), join("killed", {}, own.url)];
    await Promise.all([synced(ada), synced(bo)]);
    ada.draw.send("before");
    await until("delivered", () => bo.texts().includes("before"));
    await own.kill();
    await until("noticed", () => ada.room.status === "reconnecting" && bo.room.status === "reconnecting");
    assert.equal(ada.draw.send("meanwhile"), "accepted");
    await own.restart();
    for (const { room } of [ada, bo]) await until("reconnected", () => room.status === "connected");
    await until("what was sent meanwhile", () => bo.texts().includes("meanwhile"));
    for (const { seen, room } of [ada, bo]) {
      assert.deepEqual(seen.events.slice(-4), ["reconnecting", "incarnation", "connected", "synced"]);
      assert.equal(room.stats.reconnects, 1);
    }
    assert.equal(bo.texts().filter((text) => text === "meanwhile").length, 1);
  } finally {
    rooms.splice(0).forEach((room) => room.leave());
    await own.kill();
  }
});

test("a session resumes after broken connections without losses or duplicates", async () => {
  const proxy = await TcpProxy.to(new URL(server.url).port);
  try {
    const [ada, bo] = [join("resumed", {}, proxy.url), join("resumed")];
    await Promise.all([synced(ada), synced(bo)]);
    const id = ada.room.self.id;
    for (let i = 0; i < 300; i++) {
      ada.draw.send(`a${i}`);
      bo.draw.send(`b${i}`);
      if (i % 100 === 50) proxy.cut();
      await pause(5);
    }
    await until("all messages", () => ada.texts().length === 600 && bo.texts().length === 600);
    assert.equal(new Set(ada.texts()).size, 600);
    assert.equal(ada.texts().join(), bo.texts().join());
    assert.equal(ada.room.self.id, id);
    assert.ok(ada.room.stats.reconnects >= 1);
    assert.ok(!ada.seen.events.includes("session") && !ada.seen.events.includes("incarnation"));
  } finally {
    rooms.splice(0).forEach((room) => room.leave());
    proxy.close();
  }
});

test("send returns not-now while the network accepts nothing, and drain follows when it does again", async () => {
  // With its limit the server would take 1 MB per second of the 32 MB.
  const own = await Server.start("--participant-bytes", "0");
  const proxy = await TcpProxy.to(new URL(own.url).port);
  try {
    const [ada, bo] = [join("slow", {}, proxy.url), join("slow", {}, own.url)];
    await Promise.all([synced(ada), synced(bo)]);
    proxy.pause();
    const chunk = "x".repeat(50_000);
    let count = 0;
    while (ada.draw.send(chunk) === "accepted") count++;
    assert.ok(count > 500 && count < 800, `${count} were accepted`);
    proxy.resume();
    await until("drain", () => ada.seen.events.includes("drain"));
    assert.equal(ada.draw.send("at last"), "accepted");
    await until("all of it", () => bo.texts().includes("at last"));
    assert.equal(bo.texts().length, count + 1);
  } finally {
    rooms.splice(0).forEach((room) => room.leave());
    proxy.close();
    await own.kill();
  }
});

test("a silent path is noticed, and the connection comes back", async () => {
  const proxy = await TcpProxy.to(new URL(server.url).port);
  try {
    const ada = join("silent", {}, proxy.url);
    await synced(ada);
    proxy.pause();
    await until("noticed", () => ada.room.status === "reconnecting");
    proxy.resume();
    await until("back", () => ada.room.status === "connected");
  } finally {
    rooms.splice(0).forEach((room) => room.leave());
    proxy.close();
  }
});

test("a message or room name that is too large is refused with a reason", async () => {
  const ada = join("large");
  await synced(ada);
  assert.throws(() => ada.draw.send("x".repeat(70_000)), { code: "too-large", fault: "limit" });
  assert.throws(() => join("n".repeat(10_000)), { code: "too-large", fault: "limit" });
});

/** A TCP proxy to the server whose connections can be cut or stopped. */
class TcpProxy {
  #server;
  #held = false;
  #sockets = new Set();

  static async to(port) {
    const proxy = new TcpProxy();
    proxy.#server = createServer((from) => proxy.#join(from, createConnection(port, "127.0.0.1")));
    await new Promise((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.url = `http://127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  #join(from, to) {
    for (const [one, other] of [
      [from, to],
      [to, from],
    ]) {
      this.#sockets.add(one);
      one.on("data", (data) => {
        other.write(data);
      });
      one.on("error", () => {});
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      if (this.#held) one.pause();
    }
  }

  cut() {
    this.#sockets.forEach((socket) => socket.destroy());
  }

  pause() {
    this.#held = true;
    this.#sockets.forEach((socket) => socket.pause());
  }

  resume() {
    this.#held = false;
    this.#sockets.forEach((socket) => socket.resume());
  }

  close() {
    this.cut();
    this.#server.close();
  }
}
