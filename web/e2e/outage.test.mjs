// Programs outside of browsers live through every kind of outage: none ends because its server is
// down, restarts, or is something else. GROUPWIRE_RUNTIME names another program than this Node,
// with its arguments, and GROUPWIRE_OWN_SOCKET is not empty if that has a WebSocket of its own
// (web/runtimes).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, describe, test } from "node:test";
import { Server } from "./server.mjs";
import { pause, until } from "./wait.mjs";

const PROGRAM = fileURLToPath(new URL("outage-client.mjs", import.meta.url));
const [RUNTIME, ...ARGUMENTS] = (process.env.GROUPWIRE_RUNTIME ?? process.execPath).split(" ");
const options = { timeout: 300_000 };

/** Whether the program has a WebSocket of its own: Node has one since version 22. */
const hasOwn = process.env.GROUPWIRE_OWN_SOCKET ?? Number(process.versions.node.split(".")[0]) >= 22;
const SOCKETS = hasOwn ? ["own", "ws"] : ["ws"];

/**
 * How often the server is killed or stopped while programs write, and milliseconds between two
 * times.
 */
const KILLS = Number(process.env.GROUPWIRE_KILLS ?? 3);
const KILL_PAUSE_MS = Number(process.env.GROUPWIRE_KILL_PAUSE_MS ?? 0);

let server;
const clients = [];

before(async () => (server = await Server.start()));
afterEach(() => clients.splice(0).forEach((client) => client.end()));
after(() => server.kill());

/** A running program, and what it has told. */
class Client {
  events = [];
  said = "";

  constructor(...args) {
    this.child = spawn(RUNTIME, [...ARGUMENTS, PROGRAM, ...args], { stdio: "pipe" });
    this.ended = once(this.child, "close");
    createInterface({ input: this.child.stdout }).on("line", (line) => this.events.push(JSON.parse(line)));
    this.child.stderr.on("data", (data) => (this.said += data));
    clients.push(this);
  }

  /** Waits for an event. */
  told(what, check) {
    return this.until(what, () => this.events.some(check));
  }

  /** Waits for a condition, as long as the program lives. */
  async until(what, check) {
    const isSo = () => {
      if (check()) return true;
      assert.ok(this.isAlive, `it ended with ${this.child.exitCode} before ${what}: ${this.said}`);
      return false;
    };
    await until(what, isSo).catch((error) => {
      const last = this.events.slice(-5).map((event) => JSON.stringify(event));
      throw new Error(`${error.message}; the program told last ${last.join(", ")}`);
    });
  }

  /** Waits until it has told this problem `times` times. */
  problem(code, times = 1) {
    return this.told(
      `the problem ${code}`,
      () => this.events.filter((one) => one.problem?.code === code).length >= times,
    );
  }

  get isAlive() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  end() {
    this.child.kill("SIGKILL");
  }
}

/** An HTTP server that answers every request, upgrades among them, with this status. */
async function answering(status) {
  const other = createServer((_, response) => response.writeHead(status).end("no"));
  other.on("upgrade", (_, socket) => {
    // The program ends while it is connected.
    socket.on("error", () => {});
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
  });
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  after(() => other.close());
  return `http://127.0.0.1:${other.address().port}`;
}

for (const socket of SOCKETS) {
  describe(`with ${socket === "own" ? "its own WebSocket" : "the package ws"}`, () => {
    test("a server that is down at the start, and comes", options, async () => {
      await server.kill();
      const client = new Client(server.url, "down", socket);
      await client.problem("unreachable");
      await server.restart();
      await client.told("connected", ({ status }) => status === "connected");
      await client.told("the problem's end", ({ problem }) => problem === null);
    });

    test("a server that restarts", options, async () => {
      const client = new Client(server.url, "restarts", socket);
      for (let round = 1; round <= 2; round += 1) {
        const times = (name) => client.events.filter(({ status }) => status === name).length;
        await client.told("connected", () => times("connected") === round);
        await server.kill();
        await client.told("reconnecting", () => times("reconnecting") === round);
        await client.problem("unreachable", round);
        await server.restart();
      }
      const last = () => client.events.findLast(({ problem }) => problem !== undefined);
      await client.told("the problem's end", () => last().problem === null);
    });

    test("a room that is left at once, at a server that is there and at none", options, async () => {
      const there = new Client(server.url, "leaves", socket, "leave");
      await there.ended;
      await server.kill();
      const none = new Client(server.url, "leaves", socket, "leave");
      await none.ended;
      await server.restart();
      for (const { child, said, events } of [there, none]) {
        assert.equal(child.exitCode, 0, said);
        assert.ok(events.some(({ status }) => status === "closed"));
      }
    });

    test("a server that refuses WebSockets", options, async () => {
      const client = new Client(await answering(403), "refused", socket);
      await client.problem("not-groupwire");
      assert.ok(client.isAlive);
    });

    test("a wrong path of a Groupwire server", options, async () => {
      const client = new Client(`${server.url}/nope`, "path", socket);
      await client.problem("not-groupwire");
      assert.match(client.events.find(({ problem }) => problem).problem.message, /but not below \/nope/);
      assert.ok(client.isAlive);
    });
  });
}

test("programs that write lose nothing while the server is killed and stopped", { timeout: Infinity }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "groupwire-outage-"));
  const stored = await Server.start("--data", folder);
  t.after(async () => {
    await stored.kill();
    await rm(folder, { recursive: true });
  });
  const writers = ["a", "b"].map((name) => new Client(stored.url, "kept", SOCKETS.at(-1), "write", name));
  const readers = SOCKETS.map((socket) => new Client(stored.url, "kept", socket));
  const all = [...writers, ...readers];
  const messages = (client) => client.events.flatMap(({ message }) => (message === undefined ? [] : [message]));
  const statuses = (client) => client.events.filter(({ status }) => status === "reconnecting").length;
  for (let round = 0; round < KILLS; round += 1) {
    const before = all.map((client) => messages(client).length);
    const breaks = all.map(statuses);
    await Promise.all(
      all.map((client, i) => client.until("ten more", () => messages(client).length >= before[i] + 10)),
    );
    await pause(KILL_PAUSE_MS);
    const isKill = round % 2 === 0;
    if (isKill) await stored.kill();
    else stored.pause();
    await Promise.all(all.map((client, i) => client.until("reconnecting", () => statuses(client) > breaks[i])));
    if (isKill) await stored.restart();
    else stored.resume();
    if ((round + 1) % 20 === 0) t.diagnostic(`${round + 1} of ${KILLS} times`);
  }
  for (const { child } of writers) child.stdin.write("stop");
  const sent = await Promise.all(
    writers.map(async (writer) => {
      await writer.told("how many it has sent", (event) => event.sent !== undefined);
      return writer.events.find((event) => event.sent !== undefined).sent;
    }),
  );
  const total = sent[0] + sent[1];
  await Promise.all(all.map((client) => client.until("everything", () => messages(client).length >= total)));
  const [first, ...others] = all.map(messages);
  for (const other of others) assert.deepEqual(other, first, "everybody has the same order");
  for (const [i, name] of ["a", "b"].entries()) {
    const own = first.filter((text) => text.startsWith(name));
    assert.deepEqual(
      own,
      Array.from({ length: sent[i] }, (_, n) => `${name}${n}`),
    );
  }
  for (const client of all)
    assert.deepEqual(
      client.events.filter(({ gap, error }) => gap || error?.fatal),
      [],
    );
  t.diagnostic(`${total} transactions of ${writers.length} programs, ${KILLS} kills and stops, none lost`);
});
