// The devtools of a page in real browsers on a real server, without the administration listener.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { violations } from "./axe.mjs";
import { servePages } from "./pages.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { closeAll, launch, Window } from "./window.mjs";

const root = fileURLToPath(new URL("devtools/", import.meta.url));
const options = { timeout: 300_000 };
const TABS = ["Connection", "Channels", "Packets", "People", "Data", "Pending", "Problems", "Network"];

let browser, server, pages;
let rooms = 0;
const windows = [];

before(async () => {
  [browser, server, pages] = await Promise.all([launch(), Server.start("--origin", "*"), servePages(root)]);
});
afterEach(() => closeAll(windows));
after(async () => {
  await browser?.close();
  await server?.kill();
  await pages?.close();
});

/** A window of the page, once its devtools are there. `more` is added to its address. */
async function open(room, name, more = {}, settings = {}) {
  const window = new Window("seen");
  windows.push(window);
  await window.open(
    browser,
    `${pages.address}?${new URLSearchParams({ server: server.url, room, name, ...more })}`,
    name,
    settings,
  );
  await window.page.locator("gw-devtools .badge").waitFor();
  return window;
}

const newRoom = () => `devtools ${++rooms}`;
const devtools = ({ page }) => page.locator("gw-devtools");
const badge = (window) => devtools(window).getByRole("button", { name: /^Groupwire/ });

/** Opens a tab of the devtools, and returns its page. */
async function tab(window, name) {
  if (await badge(window).isVisible()) await badge(window).click();
  const one = devtools(window).getByRole("tab", { name });
  // A mark that appears in a tab moves those behind it, perhaps away from the pointer.
  await until(`the tab ${name}`, async () => {
    await one.click();
    return (await one.getAttribute("aria-selected")) === "true";
  });
  return devtools(window).getByRole("tabpanel", { name });
}

/** The rows of the list of packets. */
const rows = (window) =>
  devtools(window)
    .getByRole("listbox", { name: /^Packets/ })
    .getByRole("option");

/** Adds an entry to the shared list of the page. */
async function add({ page }, text) {
  await page.getByLabel("Entry").fill(text);
  await page.getByLabel("Entry").press("Enter");
}

/** The bytes that a channel has received, as the devtools show them. */
async function receivedBytes(window, channel) {
  const row = devtools(window).getByRole("row", { name: channel }).first();
  const cell = await row.getByRole("cell").nth(2).textContent();
  const [, bytes, unit] = /, ([\d.]+) (B|kB)$/.exec(cell) ?? [];
  return Number(bytes) * (unit === "kB" ? 1000 : 1);
}

test("people, bytes of a channel, and what a packet carries", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada"), await open(room, "Bo")];
  assert.match(await badge(ada).getAttribute("aria-label"), /Connected/);
  const people = await tab(ada, "People");
  await until(
    "both participants",
    async () =>
      (await people
        .getByRole("listitem")
        .filter({ hasText: /^Participant/ })
        .count()) === 2,
  );
  assert.match(await people.textContent(), /2 participants.*this page/);

  await tab(ada, "Channels");
  const before = await receivedBytes(ada, "pointer");
  const move = async () => {
    const at = Math.random() * 300;
    await bo.page.mouse.move(at, at);
  };
  await until("bytes of the pointer", async () => {
    await move();
    return (await receivedBytes(ada, "pointer")) > before + 100;
  });

  await add(bo, "bread");
  await until("the entry", () => ada.page.getByText("bread", { exact: true }).isVisible());
  const packets = await tab(ada, "Packets");
  await packets.getByLabel("Filter by channel or text").fill("bread");
  await rows(ada).first().click();
  const contents = packets.getByRole("region", { name: "What the packet carries" });
  await until("its message", async () =>
    /^shared \d+ B, from participant \d+.*bread/.test(await contents.getByRole("listitem").first().textContent()),
  );
  assert.match(await contents.textContent(), /Received over WebTransport, in the stream/);

  const data = await tab(ada, "Data");
  await data.getByText("entries").click();
  await until("the value", () => data.getByText('"bread"').isVisible());
  assert.match(await (await tab(ada, "Connection")).textContent(), /The best there is here\./);
});

test("offline by the switch: what is pending waits, and is confirmed after", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada"), await open(room, "Bo")];
  const network = await tab(ada, "Network");
  await until("a link that the switch can act on", async () => {
    await network.getByLabel("Offline").check();
    await add(ada, `milk`);
    return (await ada.read("status")) === "reconnecting";
  });
  const pending = await tab(ada, "Pending");
  await until("it waits", async () => (await pending.getByText("waiting").count()) > 0);
  await until("the problem", async () =>
    /switched its network off/.test(await (await tab(ada, "Problems")).textContent()),
  );
  await add(ada, "eggs");
  await until("the last one waits", async () => /eggs/.test(await (await tab(ada, "Pending")).textContent()));
  assert.equal(await bo.page.getByText("eggs", { exact: true }).count(), 0);

  await (await tab(ada, "Network")).getByLabel("As it is").check();
  await until("Bo has it", () => bo.page.getByText("eggs", { exact: true }).isVisible());
  await until("it is confirmed", async () =>
    /Everything is ordered/.test(await (await tab(ada, "Pending")).textContent()),
  );
  assert.match(await (await tab(ada, "Connection")).textContent(), /Reconnections[1-9]/);
});

test("a slow network by the switch", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada");
  const connection = await tab(ada, "Connection");
  const roundTrip = async () => Number(/Round trip(\d+(\.\d+)?) ms/.exec(await connection.textContent())?.[1]);
  await until("a round trip", async () => (await roundTrip()) >= 0);
  await (await tab(ada, "Network")).getByLabel("Delay in each direction").fill("200");
  await tab(ada, "Connection");
  await until("a longer one", async () => (await roundTrip()) > 200);
});

test("by the keyboard alone, in another corner, and taken away again", options, async () => {
  const ada = await open(newRoom(), "Ada", { second: newRoom() });
  const { page } = ada;
  await page.getByLabel("Entry").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowRight");
  const channels = devtools(ada).getByRole("tab", { name: "Channels", selected: true });
  await until("the next tab", () => channels.isVisible());
  const rooms = devtools(ada).getByLabel("Room");
  assert.equal(await rooms.getByRole("option").count(), 2);
  await devtools(ada).getByRole("button", { name: "Move the badge to the other corner" }).click();
  await page.keyboard.press("Escape");
  await until("the badge in the left corner", async () => (await badge(ada).boundingBox()).x < 100);
  // Rules of the page have no effect on it.
  const style = await badge(ada).evaluate((element) => {
    const { letterSpacing, textTransform, borderTopStyle } = getComputedStyle(element);
    return { letterSpacing, textTransform, borderTopStyle };
  });
  assert.deepEqual(style, { letterSpacing: "normal", textTransform: "none", borderTopStyle: "solid" });
  await page.evaluate(() => window.seen.end());
  assert.equal(await devtools(ada).count(), 0);
  await add(ada, "goes on");
  await until("the page goes on", () => page.getByText("goes on", { exact: true }).isVisible());
});

test("every tab is accessible, light and dark, wide and narrow", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada"), await open(room, "Bo")];
  assert.deepEqual(await violations(ada.page), []);
  await ada.screenshot("devtools-badge");
  await add(bo, "bread");
  await bo.page.mouse.move(100, 100, { steps: 20 });
  for (const colorScheme of ["light", "dark"]) {
    await ada.page.emulateMedia({ colorScheme });
    for (const name of TABS) {
      await tab(ada, name);
      if (name === "Packets") await rows(ada).first().click();
      for (const width of [1100, 390]) {
        await ada.page.setViewportSize({ width, height: 760 });
        await ada.screenshot(`devtools-${name.toLowerCase()}-${colorScheme}-${width}`);
        assert.deepEqual(await violations(ada.page), [], `${name}, ${colorScheme}, ${width}`);
      }
    }
  }
});

/** Opens a channel for load, on which only Bo sends. */
function openLoad({ page }, everyMs) {
  return page.evaluate((everyMs) => {
    const channel = window.seen.joined.room.channel("load", { kind: "transaction" });
    channel.on("message", () => {});
    if (everyMs > 0) setInterval(() => channel.send("x"), everyMs);
  }, everyMs);
}

test("a hundred packets a second, closed and open", options, async (t) => {
  const room = newRoom();
  // A server that collects no messages, so that each has a packet of its own.
  const fast = await Server.start("--origin", "*", "--tick", "0");
  t.after(() => fast.kill());
  const [ada, bo] = [await open(room, "Ada", { server: fast.url }), await open(room, "Bo", { server: fast.url })];
  await openLoad(ada, 0);
  await openLoad(bo, 10);
  const session = await ada.page.context().newCDPSession(ada.page);
  // Processor time of the page's main thread: other programs of this machine do not count.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const packets = () => ada.page.evaluate(() => window.seen.joined.room.stats.received.packets);
  const cost = async (name) => {
    const busy = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
    };
    const [before, from] = [await busy(), await packets()];
    await until("300 packets", async () => (await packets()) >= from + 300);
    const each = ((await busy()) - before) / ((await packets()) - from);
    t.diagnostic(`${name}: ${each.toFixed(2)} ms of the main thread for each packet`);
  };
  await cost("closed");
  await tab(ada, "Packets");
  await until("many rows", async () => (await rows(ada).count()) === 200);
  await cost("open");
  // However many packets come, the rows stay few.
  assert.equal(await rows(ada).count(), 200);
  await ada.page.evaluate(() => window.seen.end());
  await cost("without devtools");
});
