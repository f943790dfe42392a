// The client in the plain page of web/e2e/page: each transport that the engine has, the choice
// among them, and a server that restarts.

import assert from "node:assert/strict";
import { Participant } from "../../participant.mjs";
import { tells, WrongAddresses } from "../../problems.mjs";
import { agree } from "../../transports.mjs";
import { until } from "../../wait.mjs";

/** Opens the page for two participants. */
function openBoth(stage, room, transports) {
  return Promise.all(["Ada", "Bo"].map((name) => open(stage, room, name, transports)));
}

function addressOf(stage, more) {
  return `${stage.proxy.url}/e2e/page/index.html?${new URLSearchParams(more)}`;
}

async function open(stage, room, name, transports) {
  const participant = new Participant();
  participant.page = await stage.open(addressOf(stage, { room, name, ...(transports ? { transports } : {}) }));
  await until(`${name} has joined`, () => participant.has("synced"));
  return participant;
}

/** Ada and Bo send each other transactions and pointers. */
async function talk(ada, bo) {
  for (const [one, prefix] of [
    [ada, "a"],
    [bo, "b"],
  ]) {
    await one.run(({ draw, point }, prefix) => [0, 1, 2].forEach((i) => [draw(prefix + i), point(prefix + i)]), prefix);
  }
  await agree([ada, bo], ["a0", "a1", "a2", "b0", "b1", "b2"]);
  for (const [one, newest] of [
    [ada, "b2"],
    [bo, "a2"],
  ]) {
    await until("the newest pointer", () => one.run(({ seen }, text) => seen.pointers.includes(text), newest));
  }
  for (const one of [ada, bo]) assert.deepEqual(await one.errorsTold(), []);
}

export function client(engine) {
  const [best] = engine.transports;
  return {
    ...Object.fromEntries(engine.transports.map((name) => [`messages go both ways over ${name}`, over(name)])),
    [`it begins with ${best} by itself, and a transaction survives a restart of the server`]: restart(best),
    "a page that is reloaded is up to date, and goes on": reload,
    ...Object.fromEntries(
      ["webtransport", "websocket"]
        .filter((name) => engine.transports.includes(name))
        .map((name) => [`a page that is left or closed says goodbye over ${name}`, goodbye(name)]),
    ),
    "a page that finds no connection is told why": problems,
  };
}

function over(name) {
  return async (stage) => {
    const [ada, bo] = await openBoth(stage, `engine-${name}`, name);
    for (const one of [ada, bo]) {
      assert.deepEqual(await one.transport(), { name, why: "The only one that may be used here." });
    }
    await talk(ada, bo);
    if (name === "webtransport")
      await until("pointers are datagrams", () => ada.run(measuresOfPointers).then(areDatagrams));
  };
}

const measuresOfPointers = ({ room }) => room.channel("pointer").contract?.measures.map(({ kind }) => kind) ?? [];
const areDatagrams = (kinds) => kinds.includes("datagrams");

function restart(best) {
  return async (stage) => {
    const [ada, bo] = await openBoth(stage, "engine-restart");
    for (const one of [ada, bo]) await one.isOn(best);
    await ada.run(({ draw }) => draw("a0"));
    await Promise.all([ada.got(1), bo.got(1)]);
    await stage.server.kill();
    for (const one of [ada, bo]) await until("noticed", async () => (await one.status()) === "reconnecting");
    await ada.run(({ draw }) => draw("a1"));
    await stage.server.restart();
    await Promise.all([ada.got(2), bo.got(2)]);
    for (const one of [ada, bo]) {
      assert.deepEqual(await one.texts(), ["a0", "a1"]);
      assert.ok(await one.has("incarnation"));
    }
  };
}

async function reload(stage) {
  const [ada, bo] = await openBoth(stage, "engine-reload");
  await ada.run(({ draw }) => draw("a0"));
  await bo.got(1);
  await bo.page.reload();
  await until("Bo has joined again", () => bo.has("synced"));
  assert.deepEqual(await bo.got(1), ["a0"]);
  await until("Ada sees one Bo", () => ada.run(({ room }) => room.participants.size === 1));
  await bo.run(({ draw }) => draw("b0"));
  await ada.run(({ draw }) => draw("a1"));
  await agree([ada, bo], ["a0", "a1", "b0"]);
}

/**
 * Ada sees that Cy has left when he opens another page, and when he closes the window. In neither
 * case is he shown as away before.
 */
function goodbye(name) {
  return async (stage) => {
    const room = `engine-goodbye-${name}`;
    const [ada, bo] = await openBoth(stage, room, name);
    await ada.run(({ room, seen }) => {
      // A separate list, because in the list of events Ada's own reconnection may follow the last
      // change.
      seen.others = [];
      // Bo may be away for a moment on a busy machine.
      const [bo] = room.participants.keys();
      const isAway = ({ id, away }) => away && id !== bo;
      const note = (others) => seen.others.push([...others.values()].some(isAway) ? "away" : others.size);
      room.on("participants", note);
      note(room.participants);
    });
    const others = () => ada.run(({ seen }) => seen.others);
    const sees = (count) => until(`${count} others`, async () => (await others()).at(-1) === count);
    await sees(1);
    // A browser that is short of time may end a page before it could say anything. Then another one
    // is left, or closed.
    const atOnce = async (leave) => {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const window = await stage.browser.open();
        await window.goto(addressOf(stage, { room, name: "Cy", transports: name }));
        await sees(2);
        // The others see Cy before his page knows that he has joined.
        await until("Cy has joined", () => window.evaluate(() => window.participant?.seen.events.includes("synced")));
        const before = (await others()).length;
        await leave(window);
        await sees(1);
        await window.close();
        if (!(await others()).slice(before).includes("away")) return true;
      }
      return false;
    };
    const elsewhere = addressOf(stage, { room: "elsewhere", name: "Cy" });
    assert.ok(await atOnce((window) => window.goto(elsewhere)), "each that was left was away before it was gone");
    assert.ok(await atOnce((window) => window.closeWindow()), "each that was closed was away before it was gone");
    await bo.page.goto(elsewhere);
    await sees(0);
  };
}

/** The page is not one of the server's own: the proxy has another port. */
/** Each address at which there is no connection, in a window of its own. */
async function problems(stage) {
  const wrong = await WrongAddresses.start(stage.server, stage.proxy);
  try {
    for (const [address, code, sentence] of Object.values(wrong.cases)) {
      const it = new Participant();
      it.page = await stage.open(addressOf(stage, { room: "engine-problems", name: "Ada", server: address }));
      await tells((act) => it.run(act), code, sentence);
    }
  } finally {
    await wrong.close();
  }
}
