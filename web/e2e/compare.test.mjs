// The live view of loss, in headless Chromium: the same pointer over WebSocket and over datagrams.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { launch } from "./window.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 120_000 };
const SCREENSHOTS = new URL("screenshots/", import.meta.url);

let browser;
let server;
const contexts = [];

before(async () => ([browser, server] = await Promise.all([launch(), Server.start()])));
afterEach(async () => {
  const errors = contexts.flatMap(({ errors }) => errors);
  await Promise.all(contexts.splice(0).map(({ context }) => context.close()));
  assert.deepEqual(errors, [], "errors in the pages");
});
after(async () => {
  await browser?.close();
  await server?.kill();
});

async function open(query, settings = {}, prepare = () => {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...settings });
  const errors = [];
  contexts.push({ context, errors });
  await context.addInitScript(prepare);
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${server.url}/?compare${query}`);
  return page;
}

const read = (page, field) => page.evaluate((field) => window.groupwireCompare?.[field], field);
const screenshot = (page, name) => page.screenshot({ path: new URL(`compare-${name}.png`, SCREENSHOTS).pathname });
const arrives = (page, transport) =>
  until(`positions over ${transport}`, async () => (await read(page, "numbers"))?.[transport].p99 > 0, 30_000);

/** What a hundredth of the values exceeds. */
function p99(values) {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1];
}

test("at 5 % loss and 20 ms each way datagrams are less behind than WebSocket", options, async (t) => {
  const page = await open("&loss=5&delay=20&record=20");
  await Promise.all([arrives(page, "websocket"), arrives(page, "webtransport")]);
  const lines = await until("the recording", () => read(page, "recording"), 60_000);
  const moments = lines.trimEnd().split("\n").map(JSON.parse);
  const errors = moments.map(({ websocket, webtransport }) => [websocket.behind, webtransport.behind]);
  const whole = [0, 1].map((i) => p99(errors.map((both) => both[i])));
  // A busy machine stops server or browser, and then both boards are behind by the same, which is left out.
  const [stream, datagrams] = [0, 1].map((i) => p99(errors.map((both) => both[i] - Math.min(...both))));
  const [one, two, three, four] = [...whole, stream, datagrams].map((ms) => ms.toFixed(0));
  t.diagnostic(`p99 of the error in time: WebSocket ${one} ms, datagrams ${two} ms`);
  t.diagnostic(`of that beyond the other's: WebSocket ${three} ms, datagrams ${four} ms`);
  await screenshot(page, "lossy");
  assert.ok(datagrams < stream, `${datagrams} against ${stream}`);
  assert.ok(await page.getByTestId("recording").isVisible());
});

test("the sliders and presets reach the server, and without loss nothing is behind", options, async (t) => {
  const page = await open("&room=compare-set");
  await arrives(page, "websocket");
  const held = async () => (await fetch(`${server.url}/emulation?room=compare-set`)).json();
  assert.deepEqual(await held(), { loss: 0.05, delay_ms: 40 });
  t.diagnostic("a preset, and a slider");
  await page.getByTestId("preset-lossy").click();
  await until("the preset", async () => (await held()).delay_ms === 20);
  await page.getByTestId("slider-loss").fill("12.5");
  await until("the slider", async () => (await held()).loss === 0.125);
  t.diagnostic("back to a network that does nothing");
  await page.getByTestId("preset-lan").click();
  await until("the preset", async () => (await read(page, "settings")).loss === 0);
  assert.deepEqual(await held(), { loss: 0, delay_ms: 0 });
  await until("the sentence", async () => /both are the same|busy/.test(await page.getByTestId("verdict").innerText()));
  await arrives(page, "webtransport");
  await screenshot(page, "lan");
});

test("without WebTransport the page says why, and WebSocket is still seen", options, async () => {
  const page = await open("", {}, () => delete globalThis.WebTransport);
  await arrives(page, "websocket");
  const notice = page.getByTestId("webtransport-notice");
  await until("the notice", () => notice.isVisible());
  assert.match(await notice.innerText(), /This browser has no WebTransport/);
  await screenshot(page, "without");
});

test("a phone, 400 pixels wide, and in the dark", options, async () => {
  const page = await open("", { viewport: { width: 400, height: 800 }, colorScheme: "dark", deviceScaleFactor: 2 });
  await Promise.all([arrives(page, "websocket"), arrives(page, "webtransport")]);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);
  await page.screenshot({ path: new URL("compare-phone.png", SCREENSHOTS).pathname, fullPage: true });
});
