// Every page of the server, in each of its states, in light and dark, wide and on a phone: see
// looks.mjs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, test } from "node:test";
import { faultsOf } from "./looks.mjs";
import { closeAll, launch, newContext } from "./window.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 300_000 };
const SCREENSHOTS = new URL("screenshots/", import.meta.url);
const TRACE = fileURLToPath(new URL("../../samples/whiteboard.bin", import.meta.url));

let browser;
let server;
let emulating;
let replay;
const contexts = [];

before(async () => {
  [browser, server, emulating] = await Promise.all([launch(), Server.start(), Server.start("--emulate")]);
  const more = ["--participants", "3", "--rate", "20", "--seconds", "600", "--url", server.url.replace("http", "ws")];
  replay = spawn(process.env.GROUPWIRE_BINARY, ["replay", "--trace", TRACE, "--room", "replay", ...more], {
    stdio: "ignore",
  });
});
afterEach(async () => {
  await closeAll(contexts);
  // The test reports all faults at once, so that they can be mended together.
  assert.deepEqual(faults.splice(0), []);
});
after(async () => {
  replay?.kill("SIGKILL");
  await browser?.close();
  await Promise.all([server?.kill(), emulating?.kill()]);
});

async function open(address) {
  const context = await newContext(browser, { viewport: { width: 1280, height: 860 } });
  const errors = [];
  contexts.push({ errors, close: () => context.close() });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(address);
  return page;
}

/** The faults that the test of one page has found. */
const faults = [];

/** Looks at the page in all ways. `state` names what it shows. */
async function look(page, state) {
  const shot = (how) => page.screenshot({ path: new URL(`looks-${state}-${how}.png`, SCREENSHOTS).pathname });
  for (const fault of await faultsOf(page, shot)) faults.push(`${state}, ${fault}`);
  await page.setViewportSize({ width: 1280, height: 860 });
}

const connected = (page, hook) =>
  until("connected", () => page.evaluate((hook) => window[hook]?.status === "connected", hook));

test("the whiteboard", options, async () => {
  const page = await open(`${server.url}/?room=replay`);
  await connected(page, "groupwireBoard");
  await until("others", () => page.evaluate(() => window.groupwireBoard.participants.length === 3));
  await look(page, "board");
  await page.getByTestId("panel-toggle").click();
  await until("messages", async () => /\d/.test(await page.getByTestId("panel-down-ratio").innerText()));
  await look(page, "board-panel");
  await page.getByTestId("panel-close").click();
  await page.keyboard.press("?");
  await page.getByTestId("help-dialog").waitFor();
  await look(page, "board-help");
});

test("the comparison, with and without an emulated network", options, async () => {
  for (const [state, { url }] of [
    ["compare-emulated", emulating],
    ["compare-own", server],
  ]) {
    const page = await open(`${url}/?compare`);
    await until("both boards", () =>
      page.evaluate(() => Object.values(window.groupwireCompare?.numbers ?? {}).every(({ p99 }) => p99 > 0)),
    );
    await look(page, state);
  }
});

test("the puzzle", options, async () => {
  const page = await open(`${server.url}/puzzle/?room=looks`);
  await connected(page, "groupwirePuzzle");
  await look(page, "puzzle");
  await page.getByTestId("settings-toggle").click();
  await look(page, "puzzle-settings");
  await page.getByTestId("settings-close").click();
  await page.keyboard.press("?");
  await page.getByTestId("help-dialog").waitFor();
  await look(page, "puzzle-help");
  await page.getByTestId("help-close").click();
  await page.keyboard.press("n");
  await page.getByTestId("chooser").waitFor();
  await look(page, "puzzle-chooser");
});

test("the inspector", options, async () => {
  const page = await open(server.inspector.replace("/inspector/", "/inspector/?room=nobody"));
  await page.getByText("has no participants yet").waitFor();
  await look(page, "inspector-empty");
  await page.getByTestId("room").selectOption("replay");
  const bars = page.getByTestId("packets").getByRole("option");
  await until("packets", async () => (await bars.count()) > 30);
  await look(page, "inspector");
  await page.getByTestId("participants").getByRole("button").nth(1).click();
  await until("templates", async () => /<number>/.test(await page.getByTestId("templates").innerText()));
  await page.getByTestId("packets").focus();
  await page.keyboard.press("End");
  await page.getByTestId("sentence").waitFor();
  await look(page, "inspector-packet");
  await page.getByTestId("help").click();
  await look(page, "inspector-help");
  const locked = await open(server.inspector.replace(/#.*/, ""));
  await locked.getByLabel("Token").waitFor();
  await look(locked, "inspector-token");
});

test("the administration", options, async () => {
  const page = await open(server.inspector.replace("/inspector/", "/inspector/admin.html"));
  await until("figures", async () => (await page.getByTestId("summary").innerText()).startsWith("ready"));
  await look(page, "administration");
  await page.getByRole("button", { name: "Rooms", exact: true }).click();
  await look(page, "administration-rooms");
  await page.getByRole("button", { name: "replay" }).click();
  await page.getByTestId("people").getByRole("row").nth(3).waitFor();
  await page.getByTestId("channels").getByRole("button").first().click();
  await page.getByTestId("contents").getByRole("cell").first().waitFor();
  await look(page, "administration-room");
  await page.getByRole("button", { name: "Kick participant 1" }).click();
  await page.getByRole("dialog").waitFor();
  await look(page, "administration-question");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Bans", exact: true }).click();
  await look(page, "administration-bans");
  const locked = await open(server.inspector.replace(/inspector.*/, "inspector/admin.html"));
  await locked.getByLabel("Token").waitFor();
  await look(locked, "administration-token");
});
