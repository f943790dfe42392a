// The whiteboard with real pages and a real server. Each test leaves a screenshot.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Board } from "./board.mjs";
import { Stage } from "./stage.mjs";
import { pause, until } from "./wait.mjs";

const options = { timeout: 300_000 };
const WAVE = [
  [200, 300],
  [260, 220],
  [340, 380],
  [420, 240],
];

const stage = new Stage(Board);

test("two pages draw, and each sees the other's strokes, shapes and pointer", options, async (t) => {
  const [ada, bo] = await Promise.all([stage.open("two", "Ada Lovelace"), stage.open("two", "Bo Diddley")]);
  t.diagnostic("Ada draws a wave; Bo sees it grow before she lets go");
  await ada.choose("pen");
  const { mouse } = ada.page;
  await mouse.move(...WAVE[0]);
  await mouse.down();
  for (const [x, y] of WAVE.slice(1)) await mouse.move(x, y, { steps: 12 });
  await until("the stroke in progress", async () => (await bo.read("live")).strokes === 1);
  await bo.screenshot("two-in-progress");
  await mouse.up();
  const [wave] = await bo.objects(1);
  assert.equal(wave.kind, "stroke");
  assert.deepEqual(await ada.read("objects"), [wave]);

  t.diagnostic("Bo draws a box; Ada sees it");
  await bo.choose("rectangle");
  await bo.drag([
    [500, 150],
    [700, 300],
  ]);
  assert.deepEqual((await ada.objects(2)).map(({ kind }) => kind).sort(), ["rectangle", "stroke"]);

  t.diagnostic("Bo's pointer moves on Ada's page, to the same place of the board");
  await bo.page.mouse.move(650, 420, { steps: 10 });
  await until("the pointer", async () => {
    const [pointer] = await ada.read("pointers");
    if (!pointer) return false;
    const at = await ada.page.evaluate(({ x, y }) => window.groupwireBoard.toScreen(x, y), pointer);
    return Math.abs(at.x - 650) < 2 && Math.abs(at.y - 420) < 2;
  });
  assert.equal(await ada.part("gw-cursors", "name").innerText(), "Bo Diddley");
  await ada.screenshot("two-ada");
  await bo.screenshot("two-bo");

  t.diagnostic("Ada undoes her stroke; it disappears on both pages");
  await ada.page.getByTestId("undo").click();
  const left = await bo.objects(1);
  assert.equal(left[0].kind, "rectangle");
  assert.deepEqual(await ada.objects(1), left);
});

test("a page that joins late sees the drawing", options, async (t) => {
  const ada = await stage.open("late", "Ada Lovelace");
  t.diagnostic("Ada draws two strokes and an ellipse, alone");
  await ada.choose("pen");
  await ada.drag(WAVE);
  await ada.drag(WAVE.map(([x, y]) => [x + 60, y + 60]));
  await ada.choose("ellipse");
  await ada.drag([
    [520, 160],
    [720, 320],
  ]);
  const drawn = await ada.objects(3);
  await until("ordered", async () => (await ada.read("waiting")) === 0);
  t.diagnostic("Bo comes and sees the same");
  const bo = await stage.open("late", "Bo Diddley");
  assert.deepEqual(await bo.objects(3), drawn);
  await bo.screenshot("late");
  t.diagnostic("Ada closes her tab; Bo sees it at once, and Cy still finds the drawing");
  await ada.closeTab();
  await until("Ada has left", async () => (await bo.read("participants")).length === 0);
  const cy = await stage.open("late", "Cy Twombly");
  assert.deepEqual(await cy.objects(3), drawn);
});

test(
  "after a server was killed and restarted, both pages reconnect and the drawing is restored",
  options,
  async (t) => {
    const [ada, bo] = await Promise.all([stage.open("killed", "Ada Lovelace"), stage.open("killed", "Bo Diddley")]);
    await ada.choose("pen");
    await ada.drag(WAVE);
    await bo.choose("rectangle");
    await bo.drag([
      [500, 150],
      [700, 300],
    ]);
    const drawn = await ada.objects(2);
    await bo.objects(2);
    t.diagnostic("the server is killed; both pages show it, and Ada goes on drawing");
    await stage.server.kill();
    for (const board of [ada, bo]) await until("noticed", async () => (await board.read("status")) === "reconnecting");
    await ada.drag(WAVE.map(([x, y]) => [x + 40, y + 120]));
    assert.equal((await ada.objects(3)).length, 3);
    await ada.screenshot("killed-ada");
    t.diagnostic("it starts again, empty; the pages send their drawing back");
    await stage.server.restart();
    await Promise.all([ada.isConnected(), bo.isConnected()]);
    const restored = await bo.objects(3);
    assert.deepEqual(
      restored.filter(({ id }) => drawn.some((shape) => shape.id === id)),
      drawn,
    );
    await until("ordered", async () => (await ada.read("waiting")) + (await bo.read("waiting")) === 0);
    await bo.screenshot("killed-bo");
    t.diagnostic("a newcomer finds all of it");
    const cy = await stage.open("killed", "Cy Twombly");
    const byId = (list) => list.map(({ id }) => id).sort();
    assert.deepEqual(byId(await cy.objects(3)), byId(restored));
  },
);

test("a suspended tab is up to date at once after it resumes", options, async (t) => {
  const [ada, bo] = await Promise.all([stage.open("sleep", "Ada Lovelace"), stage.open("sleep", "Bo Diddley")]);
  t.diagnostic("Ada's tab is suspended; the server marks her as away, and Bo draws");
  const wake = await ada.freeze();
  await until("Ada is away", async () => (await bo.read("participants"))[0]?.away === true);
  await bo.choose("pen");
  await bo.drag(WAVE);
  const drawn = await bo.objects(1);
  t.diagnostic("it resumes");
  await wake();
  assert.deepEqual(await ada.objects(1), drawn);
  await until("Ada is here", async () => (await bo.read("participants"))[0]?.away === false);
});

test("a phone, 400 pixels wide: drawing with a finger", options, async (t) => {
  const phone = { viewport: { width: 400, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
  const ada = await stage.open("phone", "Ada Lovelace", phone);
  const bo = await stage.open("phone", "Bo Diddley");
  t.diagnostic("nothing is wider than the screen, and every tool can be reached");
  assert.equal(await ada.page.evaluate(() => document.documentElement.scrollWidth), 400);
  for (const tool of ["select", "pen", "rectangle", "ellipse", "text", "eraser"]) {
    const box = await ada.page.getByTestId(`tool-${tool}`).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 400 && box.y + box.height <= 780, `${tool} lies at ${box.x}`);
    assert.ok(box.width >= 30 && box.height >= 30, `${tool} is ${box.width} by ${box.height}`);
  }
  t.diagnostic("a finger draws a stroke; the other page sees it");
  await ada.page.getByTestId("tool-pen").tap();
  const points = Array.from({ length: 30 }, (_, i) => [60 + i * 9, 320 + 80 * Math.sin(i / 4)]);
  await ada.swipe(points);
  const [stroke] = await bo.objects(1);
  assert.equal(stroke.kind, "stroke");
  assert.ok(stroke.w > 200 && stroke.h > 100, `${stroke.w} by ${stroke.h}`);
  await bo.choose("rectangle");
  await bo.drag([
    [120, 480],
    [300, 560],
  ]);
  await ada.objects(2);
  await ada.screenshot("phone");
});

test("the participants' names, their changes, and who has left", options, async (t) => {
  const ada = await stage.open("people", "Ada Lovelace");
  const bo = await stage.open("people", "Bo Diddley");
  t.diagnostic("each page shows the other by name");
  const faces = ada.part("gw-avatars", "avatar");
  await until("Bo's face", async () => (await faces.count()) === 1);
  assert.equal(await ada.part("gw-avatars", "initials").innerText(), "BD");
  assert.match(await faces.getAttribute("title"), /^Bo Diddley/);
  assert.deepEqual(
    (await bo.read("participants")).map(({ name, away }) => [name, away]),
    [["Ada Lovelace", false]],
  );
  t.diagnostic("Bo changes his name");
  await bo.page.getByTestId("me").click();
  await bo.page.getByTestId("name").fill("Ellas McDaniel");
  await bo.screenshot("people-rename");
  await bo.page.keyboard.press("Enter");
  await until("the new name", async () => /^Ellas McDaniel/.test((await faces.getAttribute("title")) ?? ""));
  t.diagnostic("a third participant joins and leaves");
  const cy = await stage.open("people", "Cy Twombly");
  await until("two faces", async () => (await faces.count()) === 2);
  await ada.screenshot("people");
  await cy.closeTab();
  await until("one face", async () => (await faces.count()) === 1);
});

test("on a phone, a finger on the panel draws nothing", options, async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const ada = await stage.open("finger", "Ada", phone);
  await ada.page.getByTestId("panel-toggle").click();
  const { x, y, width, height } = await ada.page.getByTestId("panel").boundingBox();
  // From the panel's middle down and to the left, still on the panel.
  await ada.swipe([
    [x + width / 2, y + height / 2],
    [x + width / 4, y + height * 0.7],
  ]);
  await ada.page.getByTestId("panel-close").click();
  await ada.swipe([
    [100, 400],
    [200, 500],
  ]);
  assert.equal((await ada.objects(1)).length, 1, "only what was drawn beside the panel");
});

test("the panel shows the savings, the cost of headers apart", options, async (t) => {
  const [ada, bo] = await Promise.all([stage.open("panel", "Ada Lovelace"), stage.open("panel", "Bo Diddley")]);
  t.diagnostic("Ada draws for a while with the panel open");
  await bo.page.getByTestId("panel-toggle").click();
  await ada.choose("pen");
  for (let i = 0; i < 4; i++) {
    await ada.drag(
      WAVE.map(([x, y]) => [x + i * 12, y + i * 8]),
      20,
    );
    await pause(100);
  }
  await bo.objects(4);
  const ratio = bo.page.getByTestId("panel-ratio");
  await until("a ratio above 1", async () => Number.parseFloat(await ratio.innerText()) > 1);
  const said = await bo.page.getByTestId("panel-saved").innerText();
  assert.match(said, /^\d.* of messages became \d.*\. Headers, acknowledgements and pings: \d.* more\.$/);
  assert.match(await bo.page.getByTestId("panel-trip").innerText(), /^\d+ ms$/);
  await bo.screenshot("panel");
});

test("the transport in use is shown with the reason, and another can be chosen", options, async (t) => {
  const ada = await stage.open("transport", "Ada Lovelace");
  const why = ada.page.getByTestId("transport-why");
  const choose = (name) => ada.page.getByTestId("transport-choice").selectOption(name);
  await ada.page.getByTestId("panel-toggle").click();
  await until("WebTransport", async () => (await why.innerText()) === "WebTransport. The best there is here.");
  t.diagnostic("Ada chooses long polling, and draws");
  await choose("longpoll");
  await until("long polling", async () => /^Long polling\. The only one that may be used/.test(await why.innerText()));
  await ada.choose("pen");
  await ada.drag(WAVE);
  await until("ordered", async () => (await ada.read("waiting")) === 0);
  await ada.screenshot("transport");
  t.diagnostic("and back to the best transport");
  await choose("automatic");
  await until("WebTransport again", async () => /^WebTransport\./.test(await why.innerText()));
  assert.equal((await ada.read("objects")).length, 1);
});

test(
  "pointers are followed closely while somebody talks, and the panel says whether that is kept",
  options,
  async (t) => {
    const [ada, bo] = await Promise.all([stage.open("talk", "Ada"), stage.open("talk", "Bo")]);
    const isHeard = (board) => board.page.locator('[data-testid="talk"].heard').count();
    await until("they see each other", async () => (await bo.part("gw-avatars", "avatar").count()) === 1);

    t.diagnostic("Ada talks; Bo's page shows it");
    await ada.page.getByTestId("talk").click();
    await until("Bo's page to show it", async () => (await isHeard(bo)) === 1);

    t.diagnostic("her pointer moves, and Bo's panel shows how well its contract is kept");
    await bo.page.getByTestId("panel-toggle").click();
    const pointers = bo.page.getByTestId("contract-pointer");
    await until("the state of the contract", async () => {
      await ada.page.mouse.move(300 + Math.random() * 300, 200 + Math.random() * 200, { steps: 20 });
      return /\d %\s+\d+ ms/.test(await pointers.innerText());
    });
    await bo.screenshot("talking");
    await ada.screenshot("talking-ada");

    t.diagnostic("she leaves without a message; nobody talks any more");
    await ada.page.close();
    await until("nobody to talk", async () => (await isHeard(bo)) === 0);
  },
);
