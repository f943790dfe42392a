// The administration's page in headless Chromium, on a server with stored rooms and people in them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, test } from "node:test";
import { closeAll, launch } from "./window.mjs";
import { Board } from "./board.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 120_000 };
const SCREENSHOTS = new URL("screenshots/", import.meta.url);
const TRACE = fileURLToPath(new URL("../../samples/whiteboard.bin", import.meta.url));

let browser;
let server;
let folder;
let replay;
const contexts = [];
const boards = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "groupwire-"));
  [browser, server] = await Promise.all([launch(), Server.start("--data", folder)]);
  const more = ["--participants", "3", "--rate", "20", "--seconds", "600", "--url", server.url.replace("http", "ws")];
  replay = spawn(process.env.GROUPWIRE_BINARY, ["replay", "--trace", TRACE, "--room", "replay", ...more], {
    stdio: "ignore",
  });
});
afterEach(() => closeAll(boards, contexts));
after(async () => {
  replay?.kill("SIGKILL");
  await browser?.close();
  await server?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the administration's page, with the token that the server has printed. */
async function open(settings = {}, hash = undefined) {
  const address = new URL("admin.html", server.inspector);
  address.hash = hash ?? new URL(server.inspector).hash;
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...settings });
  const errors = [];
  contexts.push({ errors, close: () => context.close() });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(String(address));
  return page;
}

async function board(room, name) {
  const window = await Board.open(browser, server, room, name);
  boards.push(window);
  return window;
}

const shot = (page, name) =>
  page.screenshot({ path: new URL(`administration-${name}.png`, SCREENSHOTS).pathname, fullPage: true });
const chart = (page, id) => page.getByTestId(`chart-${id}`).getByRole("img");

for (const [colorScheme, width] of [
  ["light", 1280],
  ["dark", 1280],
  ["light", 400],
  ["dark", 400],
]) {
  test(`figures over time, rooms and a room, ${colorScheme}, ${width} px wide`, options, async () => {
    const page = await open({ colorScheme, viewport: { width, height: 860 } });
    await until("figures", async () => {
      const said = await chart(page, "messages").getAttribute("aria-label");
      return /Received [1-9]/.test(said ?? "");
    });
    assert.match(await chart(page, "people").getAttribute("aria-label"), /Connections 3, Participants 3, Open rooms 1/);
    assert.match(await page.getByTestId("summary").innerText(), /^ready · up .* stored, ok/);
    // Lines are drawn from several reports.
    await until("lines", async () => {
      const d = await page.getByTestId("chart-cpu").locator("path").first().getAttribute("d");
      return (d ?? "").split("L").length > 2;
    });
    await shot(page, `overview-${colorScheme}-${width}`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
    await page.getByRole("button", { name: "Rooms", exact: true }).click();
    await page.getByRole("button", { name: "replay" }).click();
    await page.getByTestId("people").getByRole("row").nth(3).waitFor();
    await page.getByTestId("channels").getByRole("button").first().click();
    await page.getByTestId("contents").getByRole("cell").first().waitFor();
    await shot(page, `room-${colorScheme}-${width}`);
    assert.match(page.url(), /room=replay/);
    const link = new URL(await page.getByTestId("inspect").getAttribute("href"));
    assert.deepEqual([link.pathname, link.hash], ["/inspector/", new URL(server.inspector).hash]);
  });
}

test("the list of rooms says which servers of a cluster did not answer", options, async () => {
  const page = await open({ viewport: { width: 400, height: 860 } });
  await page.getByRole("button", { name: "Rooms", exact: true }).click();
  await page.getByRole("button", { name: "replay" }).waitFor();
  const missing = page.getByTestId("missing");
  assert.ok(await missing.isHidden());
  // This server runs alone. In a cluster its answer is this one with one list more.
  await page.route("**/api/rooms", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), unanswered: ["gw-1", "gw-2"] } });
  });
  await missing.waitFor();
  assert.match(await missing.innerText(), /^The servers gw-1 and gw-2 did not answer\./);
  await page.getByRole("button", { name: "replay" }).waitFor();
  await shot(page, "missing");
  await page.unroute("**/api/rooms");
  await missing.waitFor({ state: "hidden" });
});

test("a page that was just opened shows what the server has kept", options, async () => {
  const { hash, origin } = new URL(server.inspector);
  const authorization = `Bearer ${new URLSearchParams(hash.slice(1)).get("token")}`;
  const history = async () => (await fetch(`${origin}/api/history`, { headers: { authorization } })).json();
  const { samples } = await until("three samples", async () => {
    const found = await history();
    return found.samples.length >= 3 && found;
  });
  const page = await open();
  // The first report of the page's own is the last point.
  const lines = page.getByTestId("chart-messages").locator("path.line");
  const points = async () => ((await lines.first().getAttribute("d")) ?? "").split("L").length - 1;
  await until("the first figures", async () => (await points()) > 0);
  assert.ok((await points()) >= samples.length - 1, `${await points()} points of ${samples.length} samples`);
  await shot(page, "just-opened");
});

test("a participant is kicked, a channel is reset and a room is deleted, by keyboard", options, async () => {
  const ana = await board("by keyboard", "Ana");
  await ana.draw?.();
  const page = await open();
  await page.getByRole("button", { name: "Rooms", exact: true }).press("Enter");
  await page.getByRole("searchbox").fill("KEYBOARD");
  await page.getByRole("button", { name: "by keyboard" }).press("Enter");
  await page.getByRole("button", { name: "Kick participant 1" }).press("Enter");
  await page.getByRole("button", { name: "Cancel" }).press("Enter");
  await page.getByRole("button", { name: "Ban participant 1" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Ban participant 1" }).isDisabled(), "nobody verified who it is");
  // The name of the room is asked for before anything is lost.
  await page.getByRole("button", { name: "Reset draw" }).press("Enter");
  assert.ok(await page.getByTestId("accept").isDisabled());
  await page.getByRole("textbox").fill("by keyboar");
  assert.ok(await page.getByTestId("accept").isDisabled());
  await page.keyboard.press("End");
  await page.keyboard.type("d");
  await shot(page, "question");
  await page.keyboard.press("Enter");
  await until("the reset", async () => (await page.getByTestId("status").innerText()).includes("is reset"));
  await page.getByRole("button", { name: "Kick participant 1" }).press("Enter");
  await page.getByTestId("accept").press("Enter");
  await until("the kick", async () => (await page.getByTestId("status").innerText()).includes("Kicked"));
  await until("nobody is here", async () => /away/.test(await page.getByTestId("people").innerText()));
  await page.getByTestId("delete").press("Enter");
  await page.getByRole("textbox").fill("by keyboard");
  await page.getByTestId("accept").press("Enter");
  await until("the list", async () => (await page.getByTestId("status").innerText()).includes("is deleted"));
  assert.doesNotMatch(page.url(), /room=/);
});

test("the room publishes, goes back to a snapshot, and comes back from a file", options, async () => {
  await board("to a file", "Ana");
  const page = await open();
  const said = (text) => until(text, async () => (await page.getByTestId("status").innerText()).includes(text));
  const confirm = async (name) => {
    await page.getByRole("dialog").getByRole("textbox").fill(name);
    await page.getByTestId("accept").click();
  };
  await page.getByRole("button", { name: "Rooms", exact: true }).click();
  await page.getByRole("button", { name: "to a file" }).click();
  // A message that somebody writes must not be lost when the channel's contents arrive late: its
  // form is hidden until then.
  const message = page.getByRole("textbox", { name: "Message" });
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const isAsked = page.waitForRequest(/\/channels\/draw\?/);
  await page.route(/\/channels\/draw\?/, (route) => released.then(() => route.continue()));
  await page.getByRole("button", { name: "draw", exact: true }).click();
  await isAsked;
  assert.ok(!(await message.isVisible()));
  release();
  await message.fill('{"said":"by the room"}');
  await page.getByRole("button", { name: "Publish" }).click();
  await said("Published");
  await page.getByTestId("contents").getByText("by the room").waitFor();
  assert.match(await page.getByTestId("contents").innerText(), /the room/);
  await shot(page, "publish");
  await page.getByRole("button", { name: "Reset draw" }).click();
  await confirm("to a file");
  await said("is reset");
  await page.getByTestId("contents").getByText("No transaction is in memory.").waitFor();
  await page.getByRole("button", { name: "Undo the reset at 2" }).click();
  await shot(page, "restore");
  await confirm("to a file");
  await said("is back at position 1");
  await page.getByTestId("contents").getByText("by the room").waitFor();

  const [download] = await Promise.all([page.waitForEvent("download"), page.getByTestId("export").click()]);
  const file = join(folder, "exported");
  assert.equal(download.suggestedFilename(), "to-a-file.groupwire");
  await download.saveAs(file);
  await page.getByTestId("back").click();
  await page.getByTestId("import").setInputFiles(file);
  await page.getByRole("dialog", { name: "Replace rooms that exist?" }).waitFor();
  await shot(page, "import");
  await confirm("replace");
  await said("The room “to a file” is imported");
});

test("a ban is shown, and removed", options, async () => {
  const page = await open();
  const { hash, origin } = new URL(server.inspector);
  const authorization = `Bearer ${new URLSearchParams(hash.slice(1)).get("token")}`;
  const body = JSON.stringify({ user: "mallory", room: "docs/*", seconds: 3600, reason: "Spam" });
  const headers = { authorization, "content-type": "application/json" };
  assert.equal((await fetch(`${origin}/api/bans`, { method: "POST", headers, body })).status, 201);
  await page.getByRole("button", { name: "Bans", exact: true }).click();
  await page.getByRole("row", { name: /mallory docs.* Spam/ }).waitFor();
  await shot(page, "bans");
  await page.getByRole("button", { name: "Remove the ban of mallory" }).click();
  await page.getByTestId("accept").click();
  await page.getByText("Nobody is kept out.").waitFor();
});

test("a page without the token asks for it, and a wrong one is refused", options, async () => {
  const page = await open({}, "token=wrong");
  const token = page.getByLabel("Token");
  await token.waitFor();
  assert.match(await page.getByTestId("status").innerText(), /token .* missing or wrong/);
  await token.fill(new URLSearchParams(new URL(server.inspector).hash.slice(1)).get("token"));
  await page.getByRole("button", { name: "Open" }).click();
  await until("figures", async () => (await page.getByTestId("summary").innerText()).startsWith("ready"));
  assert.ok(await token.isHidden());
});
