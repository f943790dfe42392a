// Programs outside of browsers live through every kind of outage: none ends because its server is down, restarts, or is something else.
// GROUPWIRE_RUNTIME names another program than this Node, with its arguments: `bun run`, `deno run --allow-all`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, describe, test } from "node:test";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const PROGRAM = fileURLToPath(new URL("outage-client.mjs", import.meta.url));
const [RUNTIME, ...ARGUMENTS] = (process.env.GROUPWIRE_RUNTIME ?? process.execPath).split(" ");
const options = { timeout: 300_000 };

/** Whether the program has a WebSocket of its own: Node has one since version 22. */
const hasOwn = process.env.GROUPWIRE_RUNTIME !== undefined || Number(process.versions.node.split(".")[0]) >= 22;
const SOCKETS = hasOwn ? ["own", "ws"] : ["ws"];

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
    this.child = spawn(RUNTIME, [...ARGUMENTS, PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    this.ended = once(this.child, "close");
    createInterface({ input: this.child.stdout }).on("line", (line) => this.events.push(JSON.parse(line)));
    this.child.stderr.on("data", (data) => (this.said += data));
    clients.push(this);
  }

  /** Waits for an event. */
  told(what, check) {
    return until(what, () => {
      if (this.events.some(check)) return true;
      assert.ok(this.isAlive, `it ended with ${this.child.exitCode} before ${what}: ${this.said}`);
      return false;
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
  other.on("upgrade", (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`));
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
