// The comparison page in headless Chromium: the same pointer over WebSocket and over datagrams.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { closeAll, launch, newContext } from "./window.mjs";
import { Server } from "./server.mjs";
import { pause, until } from "./wait.mjs";

const options = { timeout: 300_000 };
/** The seconds of the recording that the address asks for. One that the button starts is longer. */
const RECORDED = 5;

const SCREENSHOTS = new URL("screenshots/", import.meta.url);

let browser;
let server;
const contexts = [];

before(async () => ([browser, server] = await Promise.all([launch(), Server.start("--emulate")])));
afterEach(() => closeAll(contexts));
after(async () => {
  await browser?.close();
  await server?.kill();
});

async function open(query, settings = {}, prepare = () => {}, on = server) {
  const context = await newContext(browser, { viewport: { width: 1280, height: 860 }, ...settings });
  const errors = [];
  contexts.push({ errors, close: () => context.close() });
  await context.addInitScript(prepare);
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${on.url}/?compare${query}`);
  return page;
}

const read = (page, field) => page.evaluate((field) => window.groupwireCompare?.[field], field);
const screenshot = (page, name) => page.screenshot({ path: new URL(`compare-${name}.png`, SCREENSHOTS).pathname });
const arrives = (page, transport) =>
  until(`positions over ${transport}`, async () => (await read(page, "numbers"))?.[transport].p99 > 0);

/** The smallest value that at least this share of the values does not exceed. */
function quantile(values, share) {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1];
}

// How far datagrams are ahead of WebSocket depends on how busy this machine is: the test only says
// it. The experiment `groupwire-lab web --network lossy` measures it. The server has no tick,
// because waiting for a tick delays both alike.
test("at 5 % loss both transports are recorded, and the recording sums up what was shown", options, async (t) => {
  const prompt = await Server.start("--emulate", "--tick", "0");
  t.after(() => prompt.kill());
  const page = await open(`&loss=5&delay=40&record=${RECORDED}`, {}, () => {}, prompt);
  const [moments, summary] = await recorded(page);
  assert.ok(moments.length > 0);
  for (const transport of ["websocket", "webtransport"]) {
    const errors = moments.map((moment) => moment[transport].behind);
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(errors, share));
    t.diagnostic(`error in time over ${transport}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
    assert.deepEqual({ p50, p99 }, summary[transport], "the last line sums up");
  }
  await screenshot(page, "lossy");
});

/** Waits for the end of the recording, and reads the downloaded file. */
async function recorded(page) {
  // Reading the page all the time would disturb the measurement.
  await pause(1000 * RECORDED);
  await until("the end", () => page.getByTestId("recording").isVisible());
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByTestId("recording").click()]);
  assert.equal(download.suggestedFilename(), "compare.jsonl");
  const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n").map(JSON.parse);
  return [lines.slice(0, -1), lines.at(-1).summary];
}

test("the sliders and presets reach the server, and without loss both transports are alike", options, async (t) => {
  const page = await open("&room=compare-set");
  await arrives(page, "websocket");
  const held = async () => (await fetch(`${server.url}/emulation?room=compare-set`)).json();
  assert.deepEqual(await held(), { loss: 0.05, delay_ms: 40 });
  t.diagnostic("a preset, and a slider");
  await page.getByTestId("preset-lossy").click();
  await until("the preset", async () => (await held()).delay_ms === 20);
  await page.getByTestId("slider-loss").fill("12.5");
  await until("the slider", async () => (await held()).loss === 0.125);
  t.diagnostic("back to a network without emulation");
  await page.getByTestId("preset-lan").click();
  await until("the preset", async () => (await read(page, "network")).loss === 0);
  assert.deepEqual(await held(), { loss: 0, delay_ms: 0 });
  await until("the sentence", async () => /Nothing is lost|busy/.test(await page.getByTestId("verdict").innerText()));
  await arrives(page, "webtransport");
  await screenshot(page, "lan");
});

test("without WebTransport the page explains why, and still shows WebSocket", options, async () => {
  const page = await open("", {}, () => delete globalThis.WebTransport);
  await arrives(page, "websocket");
  const notice = page.getByTestId("webtransport-notice");
  await until("the notice", () => notice.isVisible());
  assert.match(await notice.innerText(), /This browser has no WebTransport/);
  await screenshot(page, "without");
});

test("a server that emulates no network: the page offers none, and tells of the user's own", options, async (t) => {
  const plain = await Server.start();
  t.after(() => plain.kill());
  const page = await open(`&record=${RECORDED}`, {}, () => {}, plain);
  await page.getByText("This server emulates no bad network").waitFor();
  for (const control of ["preset-bad-wi-fi", "slider-loss", "slider-delay"]) {
    assert.ok(await page.getByTestId(control).isHidden(), control);
  }
  const verdict = page.getByTestId("verdict");
  await until("the sentence", async () => /own network/.test(await verdict.innerText()));
  assert.doesNotMatch(await verdict.innerText(), /%|losses are rare/);
  assert.doesNotMatch(await page.getByTestId("foot").innerText(), /emulates|dropped/);
  assert.equal(await read(page, "network"), "own");
  await until("the end", () => page.getByTestId("recording").isVisible());
  assert.match(await page.getByTestId("recorded").innerText(), /^Recorded over your own network\./);
  await screenshot(page, "own");
});

test("a user records, and the page shows the result", options, async () => {
  const page = await open("&loss=0&delay=0");
  await arrives(page, "websocket");
  await page.getByTestId("record").click();
  assert.ok(await page.getByTestId("record").isDisabled());
  await until("seconds to go", async () => /: 1\d s to go/.test(await page.getByTestId("recorded").innerText()));
  assert.ok(!(await page.getByTestId("recording").isVisible()));
  await until("the end", () => page.getByTestId("recording").isVisible());
  assert.match(
    await page.getByTestId("recorded").innerText(),
    /^Recorded at 0 % loss .* WebSocket up to \d+ and \d+ ms/,
  );
  assert.ok(await page.getByTestId("record").isEnabled());
});

test("a phone, 400 pixels wide, and in the dark", options, async () => {
  const page = await open("", { viewport: { width: 400, height: 800 }, colorScheme: "dark", deviceScaleFactor: 2 });
  await Promise.all([arrives(page, "websocket"), arrives(page, "webtransport")]);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);
  await page.screenshot({ path: new URL("compare-phone.png", SCREENSHOTS).pathname, fullPage: true });
});
