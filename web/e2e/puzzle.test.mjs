// The puzzle with real pages and a real server. Each test leaves a screenshot.

import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOf, Puzzle } from "./puzzle.mjs";
import { Server } from "./server.mjs";
import { Stage } from "./stage.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 300_000 };
const SMALL = { columns: 4, rows: 3 };
const NAMES = ["Ada Lovelace", "Bo Diddley", "Cy Twombly", "Dee Dee", "Emmy Noether", "Fritz Lang", "Grace Hopper"];

const stage = new Stage(Puzzle);

test("others see a drag live, a drop snaps, and a late joiner sees the result", options, async (t) => {
  const [ada, bo] = [await stage.open("two", NAMES[0]), await stage.open("two", NAMES[1])];
  await ada.start("reef", 12);
  await until("the same puzzle", async () => (await bo.read("game")) === 1);
  await bo.rests();
  assert.deepEqual(await bo.read("spec"), await ada.read("spec"));

  t.diagnostic("Ada drags a piece; Bo sees it move before she lets go, with her pointer at it");
  const before = await bo.center(5);
  const from = await ada.grab(5);
  await ada.page.mouse.move(from.x + 40, from.y + 90, { steps: 12 });
  await until("the drag", async () => (await bo.read("drags")).some(({ piece }) => piece === 5));
  await until("the piece", async () => Math.abs((await bo.center(5)).y - before.y - 90) < 2);
  assert.ok(Math.abs((await bo.center(5)).x - before.x - 40) < 2);
  assert.equal(await bo.part("gw-cursors", "name").innerText(), "Ada Lovelace");
  await bo.screenshot("puzzle-drag");

  t.diagnostic("Bo cannot grab it meanwhile, and is told why");
  await bo.grab(5);
  assert.match(await bo.page.getByTestId("toast").innerText(), /^Ada Lovelace has this piece/);
  assert.equal(await bo.read("holding"), undefined);
  await bo.page.mouse.up();
  await ada.page.mouse.up();
  await until("dropped", async () => groupOf(await bo.read("groups"), 5).holder === undefined);
  assert.deepEqual(groupOf(await bo.read("groups"), 5), groupOf(await ada.settled(), 5));

  t.diagnostic("she drops it beside its neighbour; it snaps to its place on both pages");
  await ada.join(5, 6, SMALL);
  assert.deepEqual(groupOf(await ada.settled(), 5).pieces, [5, 6]);
  await until("joined", async () => groupOf(await bo.read("groups"), 6).pieces.length === 2);
  t.diagnostic("Bo moves both as one");
  await bo.rests();
  const { x, y } = groupOf(await bo.read("groups"), 6);
  const at = await bo.grab(6);
  await bo.page.mouse.move(at.x + 30, at.y - 50, { steps: 5 });
  await bo.page.mouse.up();
  const moved = groupOf(await bo.settled(), 5);
  assert.deepEqual(moved.pieces, [5, 6]);
  assert.ok(moved.x > x && moved.y < y);

  t.diagnostic("Cy joins late and sees the same");
  const cy = await stage.open("two", NAMES[2]);
  await until("synced", async () => (await cy.read("game")) === 1);
  assert.deepEqual(await cy.read("groups"), await bo.read("groups"));
  await cy.screenshot("puzzle-late");
});

test("if two grab the same piece, one gets it and the other is told who was first", options, async (t) => {
  const [ada, bo] = [await stage.open("both", NAMES[0]), await stage.open("both", NAMES[1])];
  await ada.start("hills", 12);
  await until("the same puzzle", async () => (await bo.read("game")) === 1);
  await bo.rests();
  for (let attempt = 1; attempt <= 20; attempt++) {
    t.diagnostic(`attempt ${attempt}: both press at once`);
    await Promise.all([ada.grab(3), bo.grab(3)]);
    await Promise.all([ada.settled(), bo.settled()]);
    const holding = [await ada.read("holding"), await bo.read("holding")];
    assert.deepEqual(holding.map((piece) => piece === 3).sort(), [false, true], "exactly one has it");
    const toasts = [ada, bo][holding.indexOf(3) === 0 ? 1 : 0].page.getByTestId("toast");
    assert.match(await toasts.last().innerText(), /was first|has this piece in hand/);
    await Promise.all([ada.page.mouse.up(), bo.page.mouse.up()]);
    await Promise.all([ada.settled(), bo.settled()]);
    await until("let go", async () => groupOf(await bo.read("groups"), 3).holder === undefined);
    await until("let go", async () => groupOf(await ada.read("groups"), 3).holder === undefined);
    assert.deepEqual(await ada.read("groups"), await bo.read("groups"));
    if (/was first/.test(await toasts.last().innerText())) return;
  }
});

test("two participants solve a puzzle, and the last piece is celebrated", options, async (t) => {
  const [ada, bo] = [await stage.open("solve", NAMES[0]), await stage.open("solve", NAMES[1])];
  await ada.start("town", 12);
  await until("the same puzzle", async () => (await bo.read("game")) === 1);
  await bo.rests();
  t.diagnostic("Ada moves the first piece to a place where the whole picture fits");
  const { x, y } = await ada.center(0);
  await ada.drag([
    [x, y],
    [210, 160],
  ]);
  const moved = JSON.stringify(await ada.settled());
  await until("Bo sees it there", async () => JSON.stringify(await bo.read("groups")) === moved);
  await bo.rests();
  for (let piece = 1; piece < 12; piece++) {
    const window = piece % 2 === 0 ? ada : bo;
    await window.join(piece, piece >= 4 ? piece - 4 : piece - 1, SMALL);
    const groups = await window.settled();
    assert.equal(groupOf(groups, 0).pieces.length, piece + 1, `piece ${piece}`);
    const other = window === ada ? bo : ada;
    await until("the other one too", async () => groupOf(await other.read("groups"), 0).pieces.length === piece + 1);
    await other.rests();
  }
  for (const window of [ada, bo]) {
    await until("solved", () => window.read("isSolved"));
    await window.page.getByTestId("solved").waitFor();
  }
  t.diagnostic(await ada.page.getByTestId("solved").innerText());
  assert.match(await ada.page.getByTestId("solved").innerText(), /12 pieces, put together by 2 people/);
  assert.match(await ada.page.getByTestId("progress").innerText(), /Solved/);
  await ada.screenshot("puzzle-solved");
  t.diagnostic("a new puzzle starts for both");
  await ada.page.getByTestId("solved-new").click();
  await ada.page.getByTestId("start").click();
  await until("a new puzzle", async () => (await bo.read("game")) === 2);
  await bo.page.getByTestId("solved").waitFor({ state: "hidden" });
});

test("seven participants at one table", options, async (t) => {
  const people = [];
  for (const name of NAMES) people.push(await stage.open("seven", name, { viewport: { width: 1000, height: 700 } }));
  const [ada] = people;
  await ada.start("hills", 48);
  for (const person of people) {
    await until("the same puzzle", async () => (await person.read("game")) === 1);
    await until("all are here", async () => (await person.read("participants")).length === 6);
    await person.rests();
  }
  t.diagnostic("each takes a piece of its own and moves it; Ada sees all six others");
  await Promise.all(people.map((person, i) => person.grab(i * 6)));
  for (let step = 1; step <= 12; step++)
    await Promise.all(
      people.map(async (person, i) => {
        const angle = (step / 12) * Math.PI + i;
        const { x, y } = await person.center(i * 6);
        await person.page.mouse.move(x + 12 * Math.cos(angle), y + 12 * Math.sin(angle), { steps: 3 });
      }),
    );
  await until("six drags", async () => (await ada.read("drags")).length === 6);
  assert.equal(await ada.part("gw-cursors", "cursor").count(), 6);
  await ada.screenshot("puzzle-seven");
  await Promise.all(people.map(({ page }) => page.mouse.up()));
  for (const person of people) await person.settled();
  t.diagnostic("all see the same in the end");
  const groups = await ada.read("groups");
  for (const person of people) {
    await until("all dropped", async () => (await person.read("groups")).every(({ holder }) => holder == null));
    assert.deepEqual(await person.read("groups"), await ada.read("groups"));
  }
  assert.equal(groups.length, 48);
  t.diagnostic("the panel shows the figures");
  await ada.page.getByTestId("settings-toggle").click();
  // The figures are means over the last ten seconds, so a pointer has to move.
  const figures = await until("figures, and that they are shown", async () => {
    for (const x of [300, 320]) await people[1].page.mouse.move(x, 300, { steps: 5 });
    const [now, shown] = [await ada.read("figures"), await ada.page.getByTestId("figure-latency").innerText()];
    return now.latency !== undefined && now.roundTrip !== undefined && /^[\d.]+ ms$/.test(shown) ? now : undefined;
  });
  assert.ok(figures.latency >= 0 && figures.jitter >= 0 && figures.received.messages > 0);
  assert.match(await ada.page.getByTestId("transport-why").innerText(), /^[A-Z]\w+/);
  await ada.screenshot("puzzle-seven-panel");
});

test("after a server was killed and restarted, the puzzle is restored", options, async (t) => {
  const own = await Server.start();
  t.after(() => own.kill());
  const people = [];
  for (const name of NAMES.slice(0, 2)) people.push(await stage.open("killed", name, undefined, own));
  const [ada, bo] = people;
  await ada.start("reef", 12);
  await ada.join(1, 0, SMALL);
  await ada.settled();
  await own.kill();
  for (const window of people) await until("noticed", async () => (await window.read("status")) === "reconnecting");
  t.diagnostic("Ada goes on playing");
  await ada.join(2, 1, SMALL);
  await own.restart();
  await Promise.all([ada.isConnected(), bo.isConnected()]);
  await until("restored", async () => groupOf(await bo.read("groups"), 0).pieces.length === 3);
  await ada.settled();
  assert.deepEqual(await bo.read("groups"), await ada.read("groups"));
  assert.equal(await bo.read("game"), 1);
});

test("a phone, 400 pixels wide: a piece is dragged with a finger", options, async (t) => {
  const phone = { viewport: { width: 400, height: 780 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
  const ada = await stage.open("phone", NAMES[0], phone);
  const bo = await stage.open("phone", NAMES[1]);
  t.diagnostic("nothing is wider than the screen");
  assert.equal(await ada.page.evaluate(() => document.documentElement.scrollWidth), 400);
  await ada.rests();
  const { x, y } = await ada.center(0);
  const before = groupOf(await ada.read("groups"), 0);
  await ada.swipe(Array.from({ length: 12 }, (_, i) => [x + i * 2, y + i * 3]));
  const after = groupOf(await ada.settled(), 0);
  assert.ok(after.x > before.x && after.y > before.y, "the piece has moved");
  await until("Bo sees it", async () => groupOf(await bo.read("groups"), 0).x === after.x);
  await ada.page.getByTestId("settings-toggle").tap();
  const box = await ada.page.getByTestId("settings").boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 400 && box.y + box.height <= 780, JSON.stringify(box));
  await ada.screenshot("puzzle-phone");
});

test("the view is moved and zoomed, and a puzzle chosen, without a mouse", options, async () => {
  const ada = await stage.open("keys", NAMES[0]);
  const { keyboard } = ada.page;
  await ada.rests();
  const [before, zoom] = [await ada.center(0), await ada.read("zoom")];
  await keyboard.press("ArrowLeft");
  assert.ok((await ada.center(0)).x > before.x);
  await keyboard.press("+");
  assert.ok((await ada.read("zoom")) > zoom);
  await keyboard.press("1");
  assert.equal(await ada.read("zoom"), zoom);
  await keyboard.press("n");
  await ada.page.getByTestId("chooser").waitFor();
  await keyboard.press("Enter");
  await until("a new puzzle", async () => (await ada.read("game")) === 1);
  await keyboard.press("p");
  await ada.page.getByTestId("preview").waitFor();
  await keyboard.press("Escape");
  await ada.page.getByTestId("preview").waitFor({ state: "hidden" });
});
