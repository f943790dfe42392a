// All widgets on one page, with people in real browsers on a real server: keyboard, accessibility,
// both directions, reduced motion.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { violations } from "./axe.mjs";
import { servePages } from "./pages.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { closeAll, launch, Window } from "./window.mjs";

const root = fileURLToPath(new URL("widgets/", import.meta.url));
const options = { timeout: 300_000 };

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

/**
 * A window of the page. `more` is added to its address, `settings` are those of the browser
 * context.
 */
async function open(room, name, more = {}, settings = {}) {
  const query = new URLSearchParams({ server: server.url, room, name, ...more });
  const window = new Window("seen");
  windows.push(window);
  return window.open(browser, `${pages.address}?${query}`, name, settings);
}

const newRoom = () => `widgets ${++rooms}`;
/** The texts of the parts of a widget. */
const texts = ({ page }, widget, part) =>
  page.evaluate(
    ([widget, part]) =>
      [...document.querySelector(widget).shadowRoot.querySelectorAll(`[part~="${part}"]`)]
        .filter((element) => element.checkVisibility())
        .map(({ textContent }) => textContent),
    [widget, part],
  );
const avatar = ({ page }, name) => page.locator("gw-avatars").getByRole("button", { name });
/** Where the parts of a widget are in the window. */
const boxes = ({ page }, widget, part) =>
  page.evaluate(
    ([widget, part]) =>
      [...document.querySelector(widget).shadowRoot.querySelectorAll(`[part~="${part}"]`)].map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return { x, y, width, height };
      }),
    [widget, part],
  );
const scroll = ({ page }) => page.evaluate(() => [plan.scrollLeft, plan.scrollTop].map(Math.round));

/** The window as it is now, light and dark, wide and narrow. */
async function shots(window, name) {
  for (const colorScheme of ["light", "dark"]) {
    await window.page.emulateMedia({ colorScheme });
    for (const width of [900, 400]) {
      await window.page.setViewportSize({ width, height: width === 900 ? 640 : 1000 });
      await window.page.mouse.move(5, 5);
      await window.screenshot(`widgets-${name}-${colorScheme}-${width}`);
    }
  }
  await window.page.setViewportSize({ width: 900, height: 640 });
  await window.page.emulateMedia({ colorScheme: "light" });
}

test("cursors come and go with their people, and show what these say", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada Lovelace"), await open(room, "Bo")];
  await until("Ada sees Bo", () => avatar(ada, "Follow Bo").isVisible());
  await bo.page.mouse.move(200, 200);
  await until("a cursor", async () => (await texts(ada, "gw-cursors", "name"))[0] === "Bo");
  await until("its place", async () => {
    const [{ x, y }] = await boxes(ada, "gw-cursors", "cursor");
    return Math.abs(x - 200) < 2 && Math.abs(y - 200) < 2;
  });
  // The content of the other window is scrolled: the cursor stays at the same place of it.
  await ada.page.evaluate(() => plan.scrollTo(0, 60));
  await until("the place in the content", async () => {
    const [{ y }] = await boxes(ada, "gw-cursors", "cursor");
    return Math.abs(y - 140) < 2;
  });
  await bo.page.mouse.move(420, 330, { steps: 12 });

  // By the keyboard alone: a key opens the field, the words are read out.
  await bo.page.keyboard.press("/");
  await bo.page.keyboard.type("look here");
  await until("the words", async () => (await texts(ada, "gw-cursors", "bubble"))[0] === "look here");
  await bo.screenshot("widgets-chat");
  await bo.page.keyboard.press("Enter");
  await until("read out", () => ada.page.locator("gw-cursors").getByText("Bo: look here").count());
  await bo.page.keyboard.press("Escape");
  await shots(ada, "cursors");
  assert.deepEqual(await violations(ada.page), []);

  await bo.closeTab();
  await until("nobody's cursor stays behind", async () => (await texts(ada, "gw-cursors", "cursor")).length === 0);
  await until("nor an avatar", async () => (await texts(ada, "gw-avatars", "avatar")).length === 1);
});

test("two tabs are one person, and what is there is written in either direction", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada Lovelace", { user: "ada" });
  const bo = [await open(room, "Bo Diddley", { user: "bo" }), await open(room, "Bo Diddley", { user: "bo" })];
  for (const name of ["عمر", "Cy", "Di", "Ed", "Fay"]) await open(room, name, { rtl: "" });
  await until("everybody", async () => (await texts(ada, "gw-avatars", "more"))[0] === "+3");
  assert.equal(await avatar(ada, "Follow Bo Diddley").count(), 1);
  const rtl = windows.at(-1);
  await until("everybody", async () => (await texts(rtl, "gw-avatars", "more"))[0] === "+3");
  const [first, second] = await boxes(rtl, "gw-avatars", "avatar");
  assert.ok(first.x > second.x, "the first one is at the right");

  // The keyboard reaches everybody, and those who are hidden at first.
  await ada.page.locator("body").press("Tab");
  const focused = () => ada.page.evaluate(() => document.activeElement.shadowRoot?.activeElement?.textContent);
  assert.match(await focused(), /Follow Bo Diddley/);
  const more = ada.page.locator("gw-avatars").getByRole("button", { name: "show more" });
  await more.focus();
  await ada.page.keyboard.press("Enter");
  await until("all", async () => (await texts(ada, "gw-avatars", "initials")).length === 7);
  await shots(ada, "avatars");
  await shots(rtl, "rtl");
  for (const window of [ada, rtl]) assert.deepEqual(await violations(window.page), []);

  assert.equal(await ada.read("others"), 7);
  await bo[0].closeTab();
  await until("one tab less", async () => (await ada.read("others")) === 6);
  assert.equal(await avatar(ada, "Follow Bo Diddley").count(), 1);
  await bo[1].closeTab();
  await until("Bo is gone", async () => (await avatar(ada, "Follow Bo Diddley").count()) === 0);
});

test("the state of the connection, why, and what is unsaved", options, async () => {
  const room = newRoom();
  const ada = await open(room, "Ada");
  await until("the words", async () => (await texts(ada, "gw-status", "text"))[0] === "Connected");
  const summary = ada.page.locator("gw-status").locator("summary");
  await summary.focus();
  await ada.page.keyboard.press("Enter");
  await until("the transport", async () => /^Web/.test((await texts(ada, "gw-status", "transport"))[0]));
  assert.deepEqual(await texts(ada, "gw-status", "unsaved"), ["All changes are confirmed"]);
  await shots(ada, "status");
  assert.deepEqual(await violations(ada.page), []);
  await ada.page.keyboard.press("Escape");
  assert.deepEqual(await texts(ada, "gw-status", "unsaved"), []);
  await server.kill();
  await until("noticed", async () => /Your changes are kept/.test((await texts(ada, "gw-status", "text"))[0]));
  await server.restart();
  await until("back", async () => (await texts(ada, "gw-status", "text"))[0] === "Connected");
});

test("one follows another, until one moves oneself", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada Lovelace"), await open(room, "Bo")];
  await until("Ada sees Bo", () => avatar(ada, "Follow Bo").isVisible());
  await avatar(ada, "Follow Bo").press("Enter");
  await until("Bo knows", async () => (await texts(bo, "gw-follow", "watched"))[0] === "Ada Lovelace follows you");
  await bo.page.evaluate(() => plan.scrollTo(300, 500));
  await until("the same view", async () => String(await scroll(ada)) === "300,500");
  assert.equal(await avatar(ada, "Follow Bo").getAttribute("aria-pressed"), "true");
  await shots(ada, "following");
  await bo.screenshot("widgets-followed");
  assert.deepEqual(await violations(ada.page), []);

  await ada.page.mouse.move(200, 300);
  await ada.page.evaluate(() => plan.addEventListener("scrollend", () => (window.hasScrolled = true), { once: true }));
  await ada.page.mouse.wheel(0, 40);
  await until("the wheel has scrolled", () => ada.page.evaluate(() => window.hasScrolled));
  await until("it has ended", async () => (await texts(ada, "gw-follow", "bar")).length === 0);
  await until("Bo knows", async () => (await texts(bo, "gw-follow", "watched")).length === 0);
  const before = await scroll(ada);
  await bo.page.evaluate(() => plan.scrollTo(0, 0));
  await until("Bo's view in the map", async () => {
    const [{ x }] = await boxes(ada, "gw-minimap", "view");
    const [{ x: left }] = await boxes(ada, "gw-minimap", "map");
    return Math.abs(x - left) < 2;
  });
  assert.deepEqual(await scroll(ada), before);
});

test("the map, selections, typing and the lock", options, async () => {
  const room = newRoom();
  const [ada, bo] = [await open(room, "Ada Lovelace"), await open(room, "Bo")];
  await until("Ada sees Bo", () => avatar(ada, "Follow Bo").isVisible());
  const lock = ({ page }) => page.locator("gw-lock").getByRole("button");
  await lock(bo).press("Enter");
  await until("Bo has it", async () => (await texts(bo, "gw-lock", "text"))[0] === "Done");
  await until("Ada knows", async () => (await texts(ada, "gw-lock", "text"))[0] === "Bo is editing");
  await lock(ada).press("Enter");
  assert.equal(await ada.page.evaluate(() => document.getElementById("form").inert), true);

  await bo.page.locator("#notes").pressSequentially("We should");
  await until("a frame", async () => (await texts(ada, "gw-selection", "label"))[0] === "Bo");
  await until("typing", async () => (await texts(ada, "gw-typing", "text"))[0] === "Bo is typing");
  const [frame] = await boxes(ada, "gw-selection", "frame");
  const notes = await ada.page.locator("#notes").boundingBox();
  assert.deepEqual([frame.x, frame.width].map(Math.round), [notes.x, notes.width].map(Math.round));
  await bo.page.evaluate(() => plan.scrollTo(900, 700));
  await bo.page.mouse.move(300, 300);
  await until("Bo's view and cursor", async () => {
    const marks = [...(await boxes(ada, "gw-minimap", "view")), ...(await boxes(ada, "gw-minimap", "dot"))];
    return marks.length === 2;
  });
  await shots(ada, "others");
  assert.deepEqual(await violations(ada.page), []);

  // Keys and presses on the map move the own view.
  await ada.page.locator("gw-minimap").locator("[part=map]").focus();
  for (let press = 0; press < 4; press += 1) await ada.page.keyboard.press("ArrowDown");
  assert.equal((await scroll(ada))[1], 420);
  const map = await ada.page.locator("gw-minimap").boundingBox();
  await ada.page.mouse.click(map.x + map.width / 2, map.y + map.height / 2);
  assert.deepEqual(await scroll(ada), [540, 390]);

  // A participant who leaves loses the lock, and has neither a frame nor a typing note.
  await bo.closeTab();
  await until("free", async () => (await texts(ada, "gw-lock", "text"))[0] === "Edit");
  await until("no frame", async () => (await texts(ada, "gw-selection", "frame")).length === 0);
  assert.deepEqual(await texts(ada, "gw-typing", "text"), [""]);
});

test("with reduced motion there are no traces, and nothing is animated", options, async () => {
  const room = newRoom();
  const still = await open(room, "Still", {}, { reducedMotion: "reduce" });
  const ada = await open(room, "Ada");
  const traces = ({ page }) => page.locator("gw-cursors").locator("canvas").count();
  await until("Ada is there", () => avatar(still, "Follow Ada").isVisible());
  assert.deepEqual([await traces(still), await traces(ada)], [0, 1]);
  await ada.page.locator("gw-lock").getByRole("button").press("Enter");
  await until("the lock", async () => (await texts(ada, "gw-lock", "text"))[0] === "Done");
  await ada.page.locator("#notes").pressSequentially("a");
  await until("typing", async () => (await texts(still, "gw-typing", "text"))[0] === "Ada is typing");
  const animations = ({ page }) => page.evaluate(() => document.getAnimations().length);
  assert.equal(await animations(still), 0);
});
