// JSON web tokens in Chromium: a page joins with one, renews it before it expires, and is told when
// it may not join.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
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

/** A user's token for the rooms below docs/ that lasts this many seconds. */
function token(seconds, user = "ann") {
  const args = ["token", "--keys", join(folder, "keys.json"), "--sub", user, "--room", "docs/*", "--for", seconds];
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
  await page.exposeFunction("newToken", (seconds, user) => token(String(seconds), user));
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

test("W100: a page cannot claim to be another user: the others see who the server verified", options, async () => {
  const act = async () => {
    const { connect } = await import("/e2e/client/dist/index.js");
    const join = async (user, presence) => {
      const token = await window.newToken(60, user);
      return connect(location.origin, "docs/users", { token, presence, transports: ["websocket"] });
    };
    const [ann, eve] = await Promise.all([
      join("ann", { name: "Ann" }),
      join("eve", { name: "Ann", user: "ann", sub: "ann" }),
    ]);
    eve.setPresence({ name: "Ann", user: "ann" });
    Object.assign(window, { users: { ann, eve } });
  };
  await page.evaluate(act);
  const seenBy = (name) =>
    page.evaluate(
      (name) => [...window.users[name].participants.values()].map(({ user, presence }) => [user, presence]),
      name,
    );
  await until("Ann sees what Eve says of herself now", async () => {
    const [[, presence] = []] = await seenBy("ann");
    return presence !== undefined && presence.sub === undefined;
  });
  await until("Eve sees Ann", async () => (await seenBy("eve")).length === 1);
  assert.deepEqual(await seenBy("ann"), [["eve", { name: "Ann", user: "ann" }]]);
  assert.deepEqual(await seenBy("eve"), [["ann", { name: "Ann" }]]);
  await page.evaluate(() => Object.values(window.users).forEach((room) => room.leave()));
});

test("W100: the whiteboard and the puzzle show who is signed in as which user", options, async () => {
  // The application's server knows users by their tokens; the pages of the whiteboard and the
  // puzzle have none.
  const application = createServer(async (from, to) => {
    const { token } = JSON.parse(Buffer.concat(await from.toArray()).toString());
    to.setHeader("content-type", "application/json").end(JSON.stringify({ sub: token || "a visitor" }));
  });
  await new Promise((resolve) => application.listen(0, "127.0.0.1", resolve));
  const asked = await Server.start("--hook", `http://127.0.0.1:${application.address().port}/who`);
  const way = await NetworkProxy.to(asked);
  const guest = await browser.newPage();
  try {
    await guest.goto(`${way.url}/e2e/client/package.json`);
    const join = async (room) => {
      const { connect } = await import("/e2e/client/dist/index.js");
      const it = connect(location.origin, room, { token: "ann@example.org", presence: { name: "Bo", window: "w" } });
      await new Promise((resolve) => it.on("status", (status) => status === "connected" && resolve()));
    };
    for (const [path, room, name] of [
      ["/", "users", "whiteboard"],
      ["/puzzle/", "puzzle/users", "puzzle"],
    ]) {
      await guest.evaluate(join, room);
      const page = await browser.newPage({ viewport: { width: 900, height: 640 } });
      await page.goto(`${asked.url}${path}?room=users`);
      const face = page.locator(`gw-avatars [part~="avatar"]`);
      await face.waitFor();
      assert.equal(await face.getAttribute("title"), "Bo, signed in as ann@example.org");
      assert.match(await face.getAttribute("part"), /verified/);
      await page.screenshot({ path: fileURLToPath(new URL(`screenshots/user-${name}.png`, import.meta.url)) });
      await page.close();
    }
  } finally {
    await guest.close();
    way.close();
    await asked.kill();
    application.close();
  }
});
