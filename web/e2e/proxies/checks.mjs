// What must work through a proxy. Each check throws with the reason if it does not.

import assert from "node:assert/strict";
import { connect as connectTls } from "node:tls";
import { agree, numbered } from "../transports.mjs";
import { pause, until } from "../wait.mjs";
import { HOST, TRANSPORTS } from "./kinds.mjs";
import { join, joinFromNode, openPolling, openSocket, protocol } from "./people.mjs";

/** Connections that the server of these checks permits from one address. */
export const PER_ADDRESS = 2;

/** The server closes connections on which nothing was sent for this long, in milliseconds (T3). */
const FIRST_PACKET_MS = 5000;

/** How long nobody sends anything, in milliseconds: longer than the lowered timeouts. */
const IDLE_MS = 9000;

/** Old workers of the lowered variant have ended this long after a reload, in milliseconds. */
const RELOAD_MS = 3000;

/** Who sends how many numbered transactions, and texts of which sizes that cannot be compressed. */
export const FULL = { names: ["Ada", "Bo"], count: 200, sizes: [50_000, 1_000_000] };
export const SHORT = { names: ["Ada"], count: 10, sizes: [50_000] };

/**
 * The checks of a proxy as it is configured, by name. `timeout` is the patience with each step, in
 * milliseconds, `place` has the addresses, and `connections` is how many the proxy must hold.
 */
export function checks({ browser, place, connections, amount, timeout }) {
  const over = (name) => {
    const act = ([people]) => exchange(people, name, amount, timeout);
    return withPeople(browser, [name], amount.names, timeout, act);
  };
  return {
    ...Object.fromEntries(TRANSPORTS.map((name) => [name, () => over(name)])),
    node: () => exchangeFromNode(place, amount, timeout),
    http2: async () => assert.equal(await protocol(browser), "h2"),
    address: () => tellsAddresses(place),
    many: () => takesMany(place, connections),
    webtransport: () => over("webtransport"),
  };
}

/**
 * Lets people join a room over each transport. `act` gets, in the order of the transports, the
 * people in each room.
 */
async function withPeople(browser, transports, names, timeout, act) {
  const joins = transports.flatMap((transport) => {
    const room = `${transport}-${Math.random()}`;
    return names.map((name) => join(browser, room, { name, transports: [transport], timeout }));
  });
  const joined = await Promise.allSettled(joins);
  try {
    const failed = joined.find(({ reason }) => reason);
    if (failed) throw failed.reason;
    const everybody = joined.map(({ value }) => value);
    return await act(transports.map(() => everybody.splice(0, names.length)));
  } finally {
    await Promise.all(joined.map(({ value }) => value && left(value)));
  }
}

async function left(person) {
  await person.run(({ room }) => room.leave()).catch(() => {});
  await person.close();
}

/** Everything arrives once, in one order, and the transport is not given up. */
async function exchange(people, transport, { count, sizes }, timeout) {
  const drawAll = ({ draw }, [prefix, count]) => {
    for (let i = 0; i < count; i++) draw(`${prefix}${i}`);
  };
  const expected = people.flatMap((_, i) => numbered("ab"[i], count));
  await Promise.all(people.map((person, i) => person.run(drawAll, ["ab"[i], count])));
  await Promise.all(people.map((person) => person.got(expected.length, timeout)));
  await agree(people, expected);
  let received = expected.length;
  for (const size of sizes) {
    await people[0].run(({ drawRandom }, size) => drawRandom(size), size);
    received += 1;
    await Promise.all(people.map((person) => person.got(received, timeout)));
  }
  const content = ({ seen }) => seen.texts.map(({ text }) => text).join();
  const [first, ...others] = await Promise.all(people.map((person) => person.run(content)));
  for (const other of others) assert.equal(other, first);
  for (const person of people) {
    assert.equal((await person.transport())?.name, transport);
    assert.equal(await person.run(({ room }) => room.stats.reconnects), 0, "the transport was given up");
    assert.deepEqual(await person.errorsTold(), []);
  }
}

async function exchangeFromNode(place, { count, sizes }, timeout) {
  const room = `node-${Math.random()}`;
  const people = [];
  try {
    for (let i = 0; i < 2; i++) people.push(await joinFromNode(place, room, timeout));
    const [ada, bo] = people;
    for (let i = 0; i < count; i++) {
      ada.draw(`a${i}`);
      bo.draw(`b${i}`);
    }
    for (const size of sizes) ada.draw("x".repeat(size));
    const length = 2 * count + sizes.length;
    await until("all texts", () => people.every(({ texts }) => texts.length >= length), timeout);
    assert.deepEqual(bo.texts, ada.texts);
    assert.equal(new Set(ada.texts).size, length);
    for (const { room } of people) assert.equal(room.stats.reconnects, 0);
  } finally {
    people.forEach(({ room }) => room.leave());
  }
}

/**
 * The server limits each client's address, over WebSocket and HTTP, even if the client claims
 * another one.
 */
async function tellsAddresses(place) {
  const claimed = (i) => ({ "X-Forwarded-For": `192.0.2.${i}` });
  for (;;) {
    const opened = [];
    const start = performance.now();
    const open = (address, headers = {}) => openSocket(place, address, headers, opened);
    try {
      const first = await Promise.all(Array.from({ length: PER_ADDRESS }, (_, i) => open("127.0.0.5", claimed(i))));
      const then = await Promise.all([
        open("127.0.0.5", claimed(9)),
        openPolling(place, "127.0.0.5", claimed(9)),
        open("127.0.0.6"),
        openPolling(place, "127.0.0.7", {}),
      ]);
      // On a busy machine the first ones have ended by now.
      if (performance.now() - start > FIRST_PACKET_MS) continue;
      assert.deepEqual(first, Array(PER_ADDRESS).fill(101));
      assert.deepEqual(then, [429, 429, 101, 200], "the server does not know from which address a client comes");
      return;
    } finally {
      opened.forEach((socket) => socket.close());
    }
  }
}

/** The proxy holds many connections at a time. */
async function takesMany({ port }, connections) {
  const sockets = new Set();
  let refused = 0;
  const open = () =>
    new Promise((done) => {
      const options = { host: "127.0.0.1", port, servername: HOST, rejectUnauthorized: false };
      const socket = connectTls({ ...options, ALPNProtocols: ["http/1.1"] }, done);
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => done((refused += 1)));
      socket.resume();
    });
  try {
    for (let i = 0; i < connections; i += 50) await Promise.all(Array.from({ length: 50 }, open));
    // The last ones make nginx close others a little later.
    await pause(500);
    assert.equal(refused, 0, `of ${connections} connections at a time ${refused} are refused`);
  } finally {
    sockets.forEach((socket) => socket.destroy());
  }
}

/** People who send nothing for longer than the lowered timeouts are still connected. */
export async function staysIdle(browser, timeout) {
  const amount = { count: 1, sizes: [] };
  await withPeople(browser, TRANSPORTS, FULL.names, timeout, async (pairs) => {
    await pause(IDLE_MS);
    await Promise.all(pairs.map((pair, i) => exchange(pair, TRANSPORTS[i], amount, timeout)));
  });
}

/**
 * A reload of the proxy while people write loses nothing. Returns true if WebSockets were moved to
 * the new configuration, and false if they stay with the old one.
 */
export function survivesReload(browser, proxy, names, timeout) {
  return withPeople(browser, TRANSPORTS, names, timeout, async (groups) => {
    const everybody = groups.flat();
    const receiveMore = () => Promise.all(everybody.map((person) => person.gotMore(40, timeout)));
    const chat = (person, i) => person.run(({ chatter }, prefix) => chatter(prefix, 50), "ab"[i]);
    await Promise.all(groups.flatMap((people) => people.map(chat)));
    await receiveMore();
    await proxy.reload();
    await pause(RELOAD_MS);
    await receiveMore();
    for (const people of groups) {
      const expected = [];
      for (const [i, person] of people.entries()) {
        expected.push(...numbered("ab"[i], await person.run(({ chatter }) => chatter())));
      }
      await agree(people, expected);
    }
    for (const person of everybody) {
      const events = await person.events();
      assert.ok(!events.includes("session") && !events.includes("incarnation"), events.join());
    }
    const [onSockets] = groups;
    const reconnects = onSockets.map((person) => person.run(({ room }) => room.stats.reconnects));
    return (await Promise.all(reconnects)).every((count) => count > 0);
  });
}

/**
 * WebTransport through the proxy, and what a page uses instead if it does not work: { through,
 * instead, why }.
 */
export async function withoutUdp(browser, timeout) {
  const through = await withPeople(browser, ["webtransport"], ["Ada"], timeout, () => true).catch(() => false);
  const ada = await join(browser, `any-${Math.random()}`, {});
  try {
    await until("WebTransport was given up", async () => /WebTransport/.test((await ada.transport())?.why), timeout);
    const { name, why } = await ada.transport();
    return { through, instead: name, why };
  } finally {
    await ada.close();
  }
}
