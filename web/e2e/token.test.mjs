// JSON web tokens in Chromium: a page joins with one, renews it before it expires, and is told when it may not join.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { NetworkProxy } from "./proxy.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { launch } from "./window.mjs";

const options = { timeout: 300_000 };

let browser;
let folder;
let server;
let proxy;
let page;

/** A token for the rooms below docs/ that lasts this many seconds. */
function token(seconds) {
  const args = ["token", "--keys", join(folder, "keys.json"), "--sub", "ann", "--room", "docs/*", "--for", seconds];
  return execFileSync(process.env.GROUPWIRE_BINARY, args, { stdio: ["ignore", "pipe", "ignore"] })
    .toString()
    .trim();
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "groupwire-e2e-"));
  browser = await launch();
  token("1");
  const jwt = ["--jwt-issuer", "groupwire-token", "--jwt-audience", "groupwire"];
  server = await Server.start("--jwt-keys", join(folder, "keys.json"), ...jwt);
  proxy = await NetworkProxy.to(server);
  page = await browser.newPage();
  await page.exposeFunction("newToken", (seconds) => token(String(seconds)));
  await page.goto(`${proxy.url}/e2e/client/package.json`);
});
after(async () => {
  await browser?.close();
  proxy?.close();
  await server?.kill();
  await rm(folder, { recursive: true });
});

/** Joins a room in the page, as `window[name]`, with tokens of this many seconds. */
function connect(name, room, seconds) {
  const act = async ([name, room, seconds]) => {
    const { connect, transaction } = await import("/e2e/client/dist/index.js");
    const it = { calls: 0, events: [], errors: [], texts: [] };
    const ask = () => ((it.calls += 1), window.newToken(seconds));
    it.room = connect(location.origin, room, { token: ask, transports: ["websocket"] });
    it.draw = it.room.channel("draw", transaction());
    it.draw.on("message", ({ data }) => it.texts.push(data));
    it.room.on("status", (status) => it.events.push(status));
    it.room.on("error", ({ code, message }) => it.errors.push(`${code}: ${message}`));
    window[name] = it;
  };
  return page.evaluate(act, [name, room, seconds]);
}

const of = (name, what) => page.evaluate(([name, what]) => window[name][what], [name, what]);

test("a page renews its token before it expires, and its session goes on", options, async () => {
  // The server asks for another token after five seconds, which leaves five for a busy machine.
  await connect("ann", "docs/plan", 10);
  await until("joined", async () => (await of("ann", "events")).includes("connected"));
  await until("asked again, and again", async () => (await of("ann", "calls")) >= 3);
  await page.evaluate(() => void window.ann.draw.send("still here"));
  await until("confirmed", async () => (await of("ann", "texts")).includes("still here"));
  assert.deepEqual(await of("ann", "errors"), []);
  assert.deepEqual(
    (await of("ann", "events")).filter((status) => status !== "connecting"),
    ["connected"],
    "on one connection",
  );
});

test("a token for other rooms is refused in words for its maker", options, async () => {
  await connect("eve", "other", 60);
  await until("refused", async () => (await of("eve", "events")).includes("closed"));
  assert.match((await of("eve", "errors"))[0], /^refused: .*the token is not for this room/);
});
