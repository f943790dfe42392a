// Two pages in Firefox that hear each other, with its own Opus of WebCodecs and its microphone that
// plays a tone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { servePages } from "../pages.mjs";
import { Server } from "../server.mjs";
import { skip } from "../skip.mjs";
import { until } from "../wait.mjs";
import { FIREFOX } from "./firefox.mjs";
import { Loudspeaker } from "./loudspeaker.mjs";
import { isInstalled } from "./program.mjs";

const NAME = "Firefox: two people hear each other";

/** A microphone without a device, of which Firefox asks nobody, and sound without a click. */
const PREFERENCES = {
  "media.navigator.streams.fake": true,
  "media.navigator.permission.disabled": true,
  "media.autoplay.default": 0,
};

/** Louder than all noise. */
const LOUD = 0.01;

const missing = [...FIREFOX.needs, Loudspeaker.needs].find((program) => !isInstalled(program));
let loudspeaker, browser, server, pages;

if (missing) {
  skip(NAME, missing);
} else {
  before(async () => {
    loudspeaker = await Loudspeaker.start();
    [browser, server, pages] = await Promise.all([
      FIREFOX.launch({}, PREFERENCES, loudspeaker.environment),
      Server.start("--origin", "*"),
      servePages(fileURLToPath(new URL("../voice/", import.meta.url))),
    ]);
  });
  after(async () => {
    await browser?.close();
    await server?.kill();
    await pages?.close();
    await loudspeaker?.close();
  });
  test(NAME, { timeout: 300_000 }, run);
}

async function run() {
  const [ada, bo] = [await open("Ada"), await open("Bo")];
  for (const page of [ada, bo]) {
    await until("the microphone", async () => (await page.evaluate(() => window.seen.voice.state.microphone)) === "on");
    await until("a sound", async () => (await page.evaluate(() => window.seen.heard())) > LOUD);
    await until("100 frames", async () => ((await received(page))?.played ?? 0) > 100);
    await until("the other one speaks", () => page.evaluate(() => window.seen.voice.state.people[0]?.speaking));
    assert.equal((await received(page)).refused, 0);
  }
  await ada.evaluate(() => window.seen.voice.mute(true));
  await until("muted", () => bo.evaluate(() => window.seen.voice.state.people[0]?.muted));
  await until("silence", async () => (await bo.evaluate(() => window.seen.heard())) < LOUD);
  for (const page of [ada, bo]) {
    // While a browser is slow to begin a sound, it seems to want a click.
    const faults = (await page.evaluate(() => window.seen.errors)).filter((code) => code !== "blocked");
    assert.deepEqual(faults, []);
    await page.leave();
    assert.deepEqual(page.errors, []);
  }
}

async function open(name) {
  const page = await browser.open();
  const query = new URLSearchParams({ server: server.url, room: "talk", name, options: "{}" });
  await page.goto(`${pages.address}?${query}`);
  await until("the page", () => page.evaluate(() => window.seen !== undefined));
  return page;
}

/** What was received of the only other participant; undefined before it was heard. */
const received = (page) => page.evaluate(() => [...window.seen.voice.stats.received.values()][0]);
