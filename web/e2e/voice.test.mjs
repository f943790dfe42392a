// Voice between pages in real browsers, with a microphone that plays a file, over a real server.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { violations } from "./axe.mjs";
import { servePages } from "./pages.mjs";
import { Server } from "./server.mjs";
import { fakeMicrophone, writeSpeech } from "./speech.mjs";
import { pause, until } from "./wait.mjs";
import { closeAll, launch, Window } from "./window.mjs";

const root = fileURLToPath(new URL("voice/", import.meta.url));
const options = { timeout: 300_000 };
const folder = mkdtempSync(join(tmpdir(), "groupwire-voice-"));
const speech = join(folder, "speech.wav");
const FAKE = fakeMicrophone(speech);

let browser, refusing, server, pages;
let rooms = 0;
const windows = [];

before(async () => {
  writeSpeech(speech);
  [browser, refusing, server, pages] = await Promise.all([
    launch(...FAKE, "--use-fake-ui-for-media-stream"),
    launch(...FAKE, "--use-fake-ui-for-media-stream=deny"),
    Server.start("--origin", "*"),
    servePages(root),
  ]);
});
afterEach(() => closeAll(windows));
after(async () => {
  await Promise.all([browser, refusing].map((one) => one?.close()));
  await server?.kill();
  await pages?.close();
  rmSync(folder, { recursive: true });
});

async function open(room, name, { settings = {}, key, transports, widget, onsets, on = browser, kind = Window } = {}) {
  const query = new URLSearchParams({ server: server.url, room, name, options: JSON.stringify(settings) });
  if (key !== undefined) query.set("key", key);
  if (widget) query.set("widget", "");
  if (onsets) query.set("onsets", "");
  if (transports) query.set("transports", transports);
  const window = new kind("seen");
  windows.push(window);
  return window.open(on, `${pages.address}?${query}`, name);
}

/** A window that plays nothing before a click; headless Chromium itself demands none. */
class Strict extends Window {
  async prepare(context) {
    await context.addInitScript(() => {
      let isClicked = false;
      addEventListener("pointerdown", () => (isClicked = true), true);
      globalThis.AudioContext = class extends AudioContext {
        constructor(options) {
          super(options);
          void this.suspend();
        }

        resume() {
          return isClicked ? super.resume() : new Promise(() => {});
        }
      };
    });
  }
}

/** A window whose browser is too busy to open its device, and starts when it is asked later. */
class Busy extends Window {
  async prepare(context) {
    await context.addInitScript(() => {
      globalThis.AudioContext = class extends AudioContext {
        #made = performance.now();

        constructor(options) {
          super(options);
          void this.suspend();
        }

        resume() {
          return performance.now() > this.#made + 900 ? super.resume() : new Promise(() => {});
        }
      };
    });
  }
}

/** A window whose microphone can be unplugged. */
class Unplugged extends Window {
  async prepare(context) {
    await context.addInitScript(() => {
      const { mediaDevices } = navigator;
      const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = async (constraints) => {
        const stream = await getUserMedia(constraints);
        const [track] = stream.getAudioTracks();
        window.unplug = () => {
          track.stop();
          track.dispatchEvent(new Event("ended"));
        };
        return stream;
      };
    });
  }
}

const newRoom = () => `voice ${++rooms}`;
const stateOf = ({ page }) => page.evaluate(() => window.seen.voice.state);
const codes = (window) => window.read("errors");
/** The errors of a window. While a browser is slow to begin a sound, it seems to want a click. */
const faults = async (window) => (await codes(window)).filter((code) => code !== "blocked");
const heard = ({ page }) => page.evaluate(() => window.seen.heard());
const sent = ({ page }) => page.evaluate(() => window.seen.voice.stats.sent);
/** What was received of the only other participant; undefined before it was heard. */
const received = ({ page }) => page.evaluate(() => [...window.seen.voice.stats.received.values()][0]);
const voiceDo = ({ page }, method, ...args) =>
  page.evaluate(([method, args]) => window.seen.voice[method](...args), [method, args]);

/** Louder than all noise: speech. */
const LOUD = 0.01;

test("two people hear each other, and see who speaks", options, async (t) => {
  const room = newRoom();
  const measured = { onsets: true };
  const [ada, bo] = [await open(room, "Ada", measured), await open(room, "Bo", measured)];
  for (const window of [ada, bo]) {
    await until("the microphone", async () => (await stateOf(window)).microphone === "on");
    await until("a sound", async () => (await heard(window)) > LOUD);
    await until("200 frames", async () => ((await received(window))?.played ?? 0) > 200);
    await until("the other one speaks", async () => (await stateOf(window)).people[0]?.speaking);
    await until("the other one does not", async () => !(await stateOf(window)).people[0]?.speaking);
    assert.deepEqual(await faults(window), []);
  }
  const presences = ({ page }) =>
    page.evaluate(() => [...window.seen.room.participants.values()].map(({ presence }) => presence));
  await until("presence", async () => ["silent", "speaking"].includes((await presences(ada))[0].voice));
  assert.equal((await presences(ada))[0].name, "Bo");
  const onsets = ({ page }) => page.evaluate(() => window.seen.onsets);
  await until("four beginnings", async () => (await onsets(bo)).played.length > 3);
  const { spoken } = await onsets(ada);
  const { played: heardAt } = await onsets(bo);
  const took = heardAt.map((at) => Math.round(at - (spoken.findLast((one) => one < at) ?? NaN)));
  // How long it takes, and how many frames are in time, depends on how busy this machine is.
  t.diagnostic(`ms from microphone to loudspeaker, without the devices: ${took.join(", ")}`);
  const { played, concealed, delay, refused } = await received(bo);
  const { frames, silent, bytes, bitrate } = await sent(ada);
  t.diagnostic(JSON.stringify({ played, concealed, delay, refused, frames, silent, bytes, bitrate }));
  assert.equal(refused, 0);
  // The pauses of the speech are not sent.
  assert.ok(silent > 0);
});

test("mute ends the sound at once, and the others see it", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada"), await open(room, "Bo", { settings: { microphone: false } })];
  await until("a sound", async () => (await heard(bo)) > LOUD);
  assert.equal((await stateOf(bo)).microphone, "off");
  await voiceDo(ada, "mute", true);
  await until("muted", async () => (await stateOf(bo)).people[0]?.muted);
  await until("silence", async () => (await heard(bo)) < LOUD);
  const { frames } = await sent(ada);
  // Longer than the file's pause.
  await pause(1500);
  assert.ok((await heard(bo)) < LOUD);
  // Some frames may have been in the encoder.
  assert.ok((await sent(ada)).frames <= frames + 5);
  await voiceDo(ada, "mute", false);
  await until("a sound again", async () => (await heard(bo)) > LOUD);
});

test("with push to talk only what is said while it is pressed is sent", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada", { settings: { mode: "push" } });
  const bo = await open(room, "Bo", { settings: { microphone: false } });
  await until("the microphone", async () => (await stateOf(ada)).microphone === "on");
  await until("some time", async () => (await sent(ada)).silent > 150);
  assert.equal((await sent(ada)).frames, 0);
  await voiceDo(ada, "talk", true);
  await until("a sound", async () => (await heard(bo)) > LOUD);
  await voiceDo(ada, "talk", false);
  await until("silence", async () => (await heard(bo)) < LOUD);
});

test("one person can be made silent, and loud again", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada"), await open(room, "Bo", { settings: { microphone: false } })];
  await until("a sound", async () => (await heard(bo)) > LOUD);
  const id = await ada.page.evaluate(() => window.seen.room.self.id);
  await voiceDo(bo, "setVolumeOf", id, 0);
  await until("silence", async () => (await heard(bo)) < LOUD / 10);
  const { played } = await received(bo);
  await until("more frames", async () => (await received(bo)).played > played + 100);
  assert.ok((await heard(bo)) < LOUD / 10);
  await voiceDo(bo, "setVolumeOf", id, 1);
  await until("a sound again", async () => (await heard(bo)) > LOUD);
});

test("whoever refuses the microphone is told so, and hears the others", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada");
  const bo = await open(room, "Bo", { on: refusing });
  await until("the error", async () => (await codes(bo)).includes("microphone-refused"));
  assert.equal((await stateOf(bo)).microphone, "failed");
  assert.equal(await bo.page.evaluate(() => window.seen.voice.state.error.code), "microphone-refused");
  await until("a sound", async () => (await heard(bo)) > LOUD);
  assert.deepEqual(await faults(ada), []);
});

test("a listener is told that the page needs a click, and hears the others after it", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada");
  const bo = await open(room, "Bo", { kind: Strict, settings: { microphone: false } });
  await until("blocked", async () => (await codes(bo)).includes("blocked"));
  assert.equal((await stateOf(bo)).blocked, true);
  assert.ok((await heard(bo)) < LOUD);
  await bo.page.mouse.click(10, 10);
  await until("not blocked", async () => !(await stateOf(bo)).blocked);
  await until("a sound", async () => (await heard(bo)) > LOUD);
  assert.deepEqual(await faults(ada), []);
});

test("a browser that was too busy to begin a sound is asked again", options, async () => {
  const room = newRoom();
  await open(room, "Ada");
  const bo = await open(room, "Bo", { kind: Busy, settings: { microphone: false } });
  await until("blocked", async () => (await codes(bo)).includes("blocked"));
  await until("not blocked", async () => !(await stateOf(bo)).blocked);
  await until("a sound", async () => (await heard(bo)) > LOUD);
});

test("a microphone that is unplugged is told of, and taken again when it is back", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada", { kind: Unplugged });
  const bo = await open(room, "Bo", { settings: { microphone: false } });
  await until("a sound", async () => (await heard(bo)) > LOUD);
  await ada.page.evaluate(() => window.unplug());
  await until("the error", async () => (await codes(ada)).includes("microphone-lost"));
  await until("silence", async () => (await heard(bo)) < LOUD);
  await until("muted", async () => (await stateOf(bo)).people[0]?.muted);
  await ada.page.evaluate(() => navigator.mediaDevices.dispatchEvent(new Event("devicechange")));
  await until("a sound again", async () => (await heard(bo)) > LOUD);
  assert.equal(await ada.page.evaluate(() => window.seen.voice.state.error), undefined);
});

test("after a page was suspended it hears the others again, as they speak now", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada");
  const bo = await open(room, "Bo", { settings: { microphone: false } });
  await until("a sound", async () => (await heard(bo)) > LOUD);
  const wake = await bo.freeze();
  await pause(3000);
  await wake();
  const { played } = await until("it is known", () => received(bo));
  await until("more frames", async () => ((await received(bo))?.played ?? 0) > played + 50);
  await until("a sound again", async () => (await heard(bo)) > LOUD);
  assert.deepEqual(await faults(ada), []);
});

test("what a page said while it was suspended is not sent later", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada", { settings: { mode: "open" } });
  const bo = await open(room, "Bo", { settings: { microphone: false } });
  await until("a sound", async () => (await heard(bo)) > LOUD);
  const wake = await ada.freeze();
  await pause(3000);
  await wake();
  await until("old frames", async () => (await sent(ada)).dropped > 0);
  await until("a sound again", async () => (await heard(bo)) > LOUD);
});

test("without datagrams voice is heard, too, with a longer delay at most", options, async (t) => {
  const room = newRoom();
  const ada = await open(room, "Ada", { transports: "websocket" });
  const bo = await open(room, "Bo", { transports: "websocket", settings: { microphone: false } });
  await until("a sound", async () => (await heard(bo)) > LOUD);
  await until("100 frames", async () => (await received(bo)).played > 100);
  assert.equal((await stateOf(bo)).path, "stream");
  t.diagnostic(JSON.stringify([await received(bo), await sent(ada)]));
});

test("encrypted voice is heard with the same key, and not with another one", options, async (t) => {
  const room = newRoom();
  const ada = await open(room, "Ada", { key: 1 });
  const listening = { settings: { microphone: false } };
  const bo = await open(room, "Bo", { key: 1, ...listening });
  const [eve, none] = [await open(room, "Eve", { key: 2, ...listening }), await open(room, "Nobody", listening)];
  await until("a sound", async () => (await heard(bo)) > LOUD);
  for (const window of [eve, none]) {
    await until("the error", async () => (await codes(window)).includes("key"));
    assert.equal((await received(window)).played, 0);
    assert.ok((await heard(window)) < LOUD);
  }
  t.diagnostic(JSON.stringify([await received(bo), await sent(ada)]));
});

test("the panel joins, mutes, shows who speaks, and changes the loudness of one person", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada", { widget: true }), await open(room, "Bo Diddley", { widget: true })];
  const cy = await open(room, "Cy", { settings: { microphone: false } });
  const panel = ({ page }) => page.locator("gw-voice");
  const press = (window, name) => panel(window).getByRole("button", { name }).click();
  await ada.screenshot("voice-before");
  for (const window of [ada, bo]) await press(window, "Join the conversation");
  await until("a sound", async () => (await heard(cy)) > LOUD);
  await until("a sound for Ada", async () => (await heard(ada)) > LOUD);
  await panel(ada).locator("summary").click();
  await until("Bo and Cy", async () => (await panel(ada).getByRole("listitem").count()) === 2);
  await until("Bo speaks", () => panel(ada).getByText("speaks").first().isVisible());
  await until("Cy is muted", () => panel(ada).getByText("muted").first().isVisible());
  for (const colorScheme of ["light", "dark"]) {
    await ada.page.emulateMedia({ colorScheme });
    await ada.screenshot(`voice-panel-${colorScheme}`);
  }
  assert.deepEqual(await violations(ada.page), []);
  await panel(ada).getByLabel("Volume of Bo Diddley").fill("0");
  await until("silence", async () => (await heard(ada)) < LOUD);
  await panel(ada).getByLabel("Microphone").selectOption({ label: "Fake Audio Input 2" });
  await until("another microphone", async () => (await stateOf(ada)).microphone === "on");
  await ada.page.mouse.click(400, 280);
  await press(ada, "Mute");
  await press(bo, "Mute");
  await until("unmute", () => panel(ada).getByRole("button", { name: "Unmute" }).isVisible());
  await until("silence", async () => (await heard(cy)) < LOUD);
  await ada.screenshot("voice-muted");
  await press(ada, "Leave");
  await until("joins again", () => panel(ada).getByRole("button", { name: "Join the conversation" }).isVisible());
  await until("Ada is gone", async () => (await stateOf(cy)).people.length === 1);
});

test("the panel says that the microphone is refused, and what to do", options, async () => {
  const bo = await open(newRoom(), "Bo", { on: refusing, widget: true });
  const panel = bo.page.locator("gw-voice");
  await panel.getByRole("button", { name: "Join the conversation" }).click();
  await until("the reason", () => panel.getByRole("alert").getByText("the microphone is not permitted").isVisible());
  await until("a way out", () => panel.getByRole("button", { name: "Try the microphone again" }).isVisible());
  await bo.screenshot("voice-refused");
});

/** A window of a browser without WebCodecs. */
class WithoutCodec extends Window {
  async prepare(context) {
    await context.addInitScript(() => delete globalThis.AudioEncoder);
  }
}

/** A window of such a browser whose server lacks the file with Opus. */
class WithoutOpus extends WithoutCodec {
  async prepare(context) {
    await super.prepare(context);
    await context.route(/opus/, (route) => route.abort());
  }
}

test("without WebCodecs Opus in WebAssembly is loaded, and people hear each other", options, async (t) => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada", { kind: WithoutCodec }), await open(room, "Bo")];
  const loaded = ({ page }) =>
    page.evaluate(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("opus")));
  for (const window of [ada, bo]) {
    await until("a sound", async () => (await heard(window)) > LOUD);
    await until("100 frames", async () => (await received(window)).played > 100);
    assert.equal((await received(window)).refused, 0);
    assert.deepEqual(await faults(window), []);
    t.diagnostic(JSON.stringify([await received(window), await sent(window)]));
  }
  assert.deepEqual([await loaded(ada), await loaded(bo)], [true, false]);
  await voiceDo(ada, "mute", true);
  await until("silence", async () => (await heard(bo)) < LOUD);
});

test("if that cannot be loaded either, an error says so, and the room goes on", options, async () => {
  const { page } = await open(newRoom(), "Ada", { kind: WithoutOpus });
  await until("the error", () => page.evaluate(() => window.seen?.errors.includes("no-codec")));
  await until("connected", () => page.evaluate(() => window.seen.room.status === "connected"));
  assert.equal(await page.evaluate(() => window.seen.voice.state.microphone), "failed");
});
