// The inspector in headless Chromium, on a room in which a recording is replayed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, test } from "node:test";
import { closeAll, launch, newContext } from "./window.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 300_000 };
const SCREENSHOTS = new URL("screenshots/", import.meta.url);
const TRACE = fileURLToPath(new URL("../../samples/whiteboard.bin", import.meta.url));
const ROOM = "replay";

let browser;
let server;
let folder;
const replays = [];
const contexts = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "groupwire-"));
  [browser, server] = await Promise.all([launch(), Server.start("--record-dir", folder)]);
  // Native programs, over WebSocket and over WebTransport.
  for (const url of [server.url.replace("http", "ws"), server.url.replace("http", "https")]) replays.push(play(url));
});
afterEach(() => closeAll(contexts));
after(async () => {
  for (const replay of replays) replay.kill("SIGKILL");
  await browser?.close();
  await server?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** Replays the recording of three people again and again. */
function play(url) {
  const more = ["--participants", "3", "--rate", "12", "--seconds", "600", "--url", url];
  return spawn(process.env.GROUPWIRE_BINARY, ["replay", "--trace", TRACE, "--room", ROOM, ...more], {
    stdio: "ignore",
  });
}

/** Opens the inspector's page, with the token that the server has printed. */
async function open(room, settings = {}, hash = undefined) {
  const address = new URL(server.inspector);
  if (hash !== undefined) address.hash = hash;
  if (room) address.searchParams.set("room", room);
  const context = await newContext(browser, { viewport: { width: 1440, height: 900 }, ...settings });
  const errors = [];
  contexts.push({ errors, close: () => context.close() });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(String(address));
  return page;
}

const shot = (page, name) => page.screenshot({ path: new URL(`inspector-${name}.png`, SCREENSHOTS).pathname });
const bars = (page) => page.getByTestId("packets").getByRole("option");
const person = (page, name) => page.getByTestId("participants").getByRole("button", { name });

/** Waits for a packet with at least `least` messages, and selects it. */
async function openPacket(page, least = 2) {
  const found = await until("a packet of several messages", () =>
    page.evaluate((least) => {
      const { shadowRoot } = document.querySelector("gw-inspector");
      const bars = [...shadowRoot.querySelectorAll("[data-parts]")];
      const bar = bars.findLast(({ dataset }) => Number(dataset.parts) >= least);
      bar?.click();
      return bar !== undefined;
    }, least),
  );
  assert.ok(found);
  await page.getByTestId("sentence").waitFor();
}

test("the page says which servers of a cluster did not answer", options, async () => {
  const page = await open(ROOM, { viewport: { width: 400, height: 860 } });
  const missing = page.getByTestId("missing");
  await bars(page).first().waitFor();
  assert.ok(await missing.isHidden());
  // This server runs alone. In a cluster its answer is this one with one list more.
  await page.route("**/inspect/rooms", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), unanswered: ["gw-1"] } });
  });
  await missing.waitFor();
  assert.match(await missing.innerText(), /^The server gw-1 did not answer\./);
  await shot(page, "missing");
  await page.unroute("**/inspect/rooms");
  await missing.waitFor({ state: "hidden" });
});

for (const colorScheme of ["light", "dark"]) {
  test(`the contents of a packet of a running replay, ${colorScheme}`, options, async () => {
    const page = await open(ROOM, { colorScheme });
    await until("packets", async () => (await bars(page).count()) > 60);
    await until("the models have learned", async () => /smaller/.test(await page.getByTestId("summary").innerText()));
    await shot(page, `running-${colorScheme}`);
    await openPacket(page);
    assert.match(await page.getByTestId("sentence").innerText(), /^This packet carried \d+ .+ messages?.* bytes/);
    const rows = await page.getByTestId("message").count();
    assert.ok(rows >= 2, `${rows} messages`);
    // The parts of the packet add up to its size.
    const [parts, label] = await page.evaluate(() => {
      const { shadowRoot } = document.querySelector("gw-inspector");
      const parts = [...shadowRoot.querySelectorAll("[data-testid=parts] b")].map((b) => parseFloat(b.textContent));
      return [parts, shadowRoot.querySelector(".bar.selected").ariaLabel];
    });
    const size = parseFloat(label.replace(",", ""));
    const sum = parts.reduce((sum, part) => sum + part, 0);
    assert.ok(Math.abs(sum - size) <= 1.5, `${parts} of ${label}`);
    await shot(page, `packet-${colorScheme}`);
  });
}

test("bars use their axis, and templates of one participant are no more than an example", options, async () => {
  const page = await open(ROOM);
  await until("packets", async () => (await bars(page).count()) > 60);
  const shares = () =>
    page.evaluate(() => {
      const { shadowRoot } = document.querySelector("gw-inspector");
      const top = parseFloat(shadowRoot.querySelector(".scale-top").textContent.replaceAll(",", ""));
      const sizes = [...shadowRoot.querySelectorAll(".bar")].map(({ ariaLabel }) =>
        parseFloat(ariaLabel.replaceAll(",", "")),
      );
      return Math.max(...sizes) / top;
    });
  const share = await shares();
  assert.ok(share >= 0.5 && share <= 1, `the tallest bar takes ${share} of the axis`);
  const templates = page.locator(".templates");
  await until("templates", async () => /<number>/.test(await templates.innerText()));
  assert.match(await templates.innerText(), /these are an example\. Select a participant to see its own\./);
  await person(page, /Replay/)
    .first()
    .click();
  const name = await person(page, /Replay/)
    .first()
    .locator(".name")
    .innerText();
  await until("its own", async () => !/example/.test(await templates.innerText()));
  await page.getByText(`The templates of messages to ${name}, which both ends have learned.`).waitFor();
});

test("a room without people shows nothing of the room before", options, async () => {
  const page = await open(ROOM);
  await until("packets", async () => (await bars(page).count()) > 10);
  await page.evaluate(() => document.querySelector("gw-inspector").setAttribute("room", "nobody"));
  await page.getByText("has no participants yet").waitFor();
  assert.equal(await bars(page).count(), 0);
  assert.equal(await page.getByTestId("participants").getByRole("button").count(), 0);
  assert.equal(await page.locator(".channel-card").count(), 0);
  assert.equal(await page.getByTestId("summary").innerText(), "");
  assert.ok(await page.getByTestId("emulate-loss").isHidden());
});

test("the inspector works by keyboard, and explains its terms", options, async () => {
  const page = await open();
  await until("packets of the room with most people", async () => (await bars(page).count()) > 20);
  assert.match(page.url(), new RegExp(`room=${ROOM}`));
  await page.getByTestId("packets").focus();
  await page.keyboard.press("End");
  const first = await page.getByTestId("packet").innerText();
  await page.keyboard.press("ArrowLeft");
  await until("the packet before", async () => (await page.getByTestId("packet").innerText()) !== first);
  assert.equal(await page.getByTestId("pause").innerText(), "Resume");
  await page.getByTestId("help").click();
  await page.getByText("A version of what both ends have learned.").waitFor();
  await shot(page, "words");
  await page.keyboard.press("Escape");
});

test("one participant: its transport, its templates, and an emulated network", options, async () => {
  const page = await open(ROOM);
  await until("participants", async () => (await person(page, /WebTransport/).count()) > 0);
  await person(page, /WebTransport/)
    .first()
    .click();
  await until("templates", async () => /<number>/.test(await page.getByTestId("templates").innerText()));
  await until("its packets", async () => (await bars(page).count()) > 10);
  const trip = async (who) => parseFloat(/· ([\d.]+) ms/.exec(await who.innerText())?.[1] ?? "1000");
  const before = await trip(person(page, /WebTransport/).first());
  await page.getByTestId("emulate-delay").fill("200");
  await person(page, /emulated/)
    .first()
    .waitFor();
  // The round trip is measured rarely and smoothed.
  await until("a longer round trip", async () => (await trip(person(page, /emulated/).first())) > before + 20);
  await shot(page, "participant");
  // What another administrator sets is shown, too: the sliders reach as far as the server goes.
  const { origin, hash } = new URL(server.inspector);
  const authorization = `Bearer ${new URLSearchParams(hash.slice(1)).get("token")}`;
  const number = await page.evaluate(() => document.querySelector("gw-inspector").filter.participant);
  const answer = await fetch(`${origin}/emulation?room=${ROOM}&participant=${number}`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ loss: 0.02, delay_ms: 900 }),
  });
  assert.ok(answer.ok);
  await until("the slider", async () => (await page.getByTestId("emulate-delay").inputValue()) === "900");
  await page.getByText("No emulation").click();
  await until("no emulation", async () => (await person(page, /emulated/).count()) === 0);
});

test("a participant's message and packet error rates, and the reason for its transport", options, async (t) => {
  const page = await open(ROOM);
  await until("participants", async () => (await person(page, /WebTransport/).count()) > 0);
  // The sum of all receivers' reports.
  const missed = page.locator(".channel-card[data-channel=pointer]").getByTestId("missed");
  await until("the receivers' reports", () => missed.isVisible());
  assert.match(await missed.innerText(), /^(under )?[\d.]+ %, target 0 %$/);
  await person(page, /WebTransport/)
    .first()
    .click();
  await page.getByText("The address that the program was given asks for WebTransport.").waitFor();
  await page.getByTestId("emulate-loss").fill("20");
  const facts = page.getByTestId("facts");
  const losses = ["Loss to participant", "Loss from participant"].map((name) =>
    RegExp(`${name} \\(PER\\)\\s+([\\d.]+) %`),
  );
  const lost = await until("losses both ways", async () => {
    const text = await facts.innerText();
    const found = losses.map((loss) => Number(loss.exec(text)?.[1] ?? 0));
    return found.every((percent) => percent > 8 && percent < 40) ? found : undefined;
  });
  t.diagnostic(`packets lost at 20 %: ${lost[0]} % to the participant, ${lost[1]} % from it`);
  const latency = page.locator(".channel-card[data-channel=pointer] .histogram-title");
  await until("latencies", async () => /application to application/.test(await latency.innerText()));
  await shot(page, "losing");
  await page.getByText("No emulation").click();
  await until("no emulation", async () => (await person(page, /emulated/).count()) === 0);
});

test("a room is recorded, and the recording can be replayed", options, async () => {
  const page = await open(ROOM);
  await until("the button", () => page.getByTestId("record").isVisible());
  await page.getByTestId("record").click();
  const status = page.locator(".record-status");
  await until("messages", async () => / (\d\d|\d,\d*|\d{3,}) messages/.test(await status.innerText()));
  await page.getByTestId("record").click();
  await page.getByRole("button", { name: "Record", exact: true }).waitFor();
  const name = (await status.innerText()).split(":")[0];
  const table = await readFile(join(folder, name.replace(".bin", ".tsv")), "utf8");
  assert.match(table, /^time_ms\tsender\tchannel\n/);
  const trace = ["--trace", join(folder, name), "--speed", "20", "--room", "again", "--json"];
  const url = server.url.replace("http", "ws");
  const replay = spawn(process.env.GROUPWIRE_BINARY, ["replay", ...trace, "--url", url], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve) => replay.once("exit", resolve));
  assert.equal(code, 0);
});

test("the inspector on a phone", options, async () => {
  const phone = await open(ROOM, { viewport: { width: 400, height: 820 }, deviceScaleFactor: 2 });
  await until("packets", async () => (await bars(phone).count()) > 10);
  await openPacket(phone);
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 400);
  await shot(phone, "phone");
});

test("without the token the page asks for it, and shows nothing before", options, async () => {
  const token = new URLSearchParams(new URL(server.inspector).hash.slice(1)).get("token");
  const page = await open(ROOM, {}, "");
  await page.getByPlaceholder("Token of the administration").waitFor();
  await page.getByText("is missing or wrong").waitFor();
  assert.equal(await bars(page).count(), 0);
  await page.getByPlaceholder("Token of the administration").fill(token);
  await page.getByRole("button", { name: "Inspect" }).click();
  await until("packets", async () => (await bars(page).count()) > 0);
});
