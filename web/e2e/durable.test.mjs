// Two people draw in a room that is stored, while the server is killed and started again.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Board } from "./board.mjs";
import { Stage } from "./stage.mjs";
import { until } from "./wait.mjs";

/** How often the server is killed. GROUPWIRE_KILLS sets another number. */
const KILLS = Number(process.env.GROUPWIRE_KILLS ?? 3);

const folder = await mkdtemp(join(tmpdir(), "groupwire-e2e-"));
const stage = new Stage(Board, "--data", folder);
after(() => rm(folder, { recursive: true }));

/** How often a line is drawn until the page shows that it is being saved. */
const ROUNDS = 5;

/** A line of one person in one round, at a place of its own. */
const line = (person, round) => {
  const [x, y] = [80 + 40 * round, 160 + 180 * person];
  return [
    [x, y],
    [x + 30, y + 60],
    [x, y + 120],
  ];
};

/** What a window says of its changes, or of the connection. */
const saved = (board) => board.part("gw-status", "text").textContent();

test("two people draw, the server is killed again and again, and nothing is lost", { timeout: 600_000 }, async (t) => {
  const boards = await Promise.all([stage.open("kept", "Ada Lovelace"), stage.open("kept", "Bo Diddley")]);
  const [ada, bo] = boards;
  const gaps = [];
  for (const board of boards) {
    await board.choose("pen");
    board.page.on("console", (message) => message.text().includes("gap") && gaps.push(message.text()));
  }
  const numbers = await Promise.all(boards.map((board) => board.read("self")));
  // The lists of people as the windows show them, now and after each change.
  for (const board of boards) {
    await board.part("gw-avatars", "avatar").waitFor();
    await board.page.evaluate(() => {
      window.lists = [];
      const list = document.querySelector("gw-avatars").shadowRoot;
      const note = () =>
        window.lists.push([...list.querySelectorAll(`[part="initials"]`)].map((one) => one.textContent).join());
      note();
      new MutationObserver(note).observe(list, { childList: true, subtree: true, characterData: true });
    });
  }
  let drawn = 0;
  for (let round = 0; round < KILLS; round += 1) {
    await ada.drag(line(0, 2 * round));
    await bo.drag(line(1, 2 * round));
    t.diagnostic(`kill ${round + 1}: both draw while there is no server`);
    await stage.server.kill();
    for (const board of boards) await until("noticed", async () => (await board.read("status")) === "reconnecting");
    await ada.drag(line(0, 2 * round + 1));
    await bo.drag(line(1, 2 * round + 1));
    if (round === 0) await ada.screenshot("durable-reconnecting");
    for (const board of boards)
      assert.match(await saved(board), /Your changes are kept\.$/, "nobody claims that something is saved");
    await stage.server.restart();
    drawn += 4;
    await Promise.all(boards.map((board) => board.objects(drawn)));
    await until("confirmed", async () => (await ada.read("waiting")) + (await bo.read("waiting")) === 0);
  }
  for (const board of boards) await until("saved", async () => (await saved(board)) === "Saved");
  for (const [board, other] of [
    [ada, "BD"],
    [bo, "AL"],
  ]) {
    const lists = await board.page.evaluate(() => window.lists);
    assert.deepEqual([...new Set(lists)], [other], "the other person never left the list");
  }
  const [here, there] = await Promise.all(boards.map((board) => board.objects(drawn)));
  assert.deepEqual(here, there);
  assert.deepEqual(await Promise.all(boards.map((board) => board.read("self"))), numbers, "they resumed");
  assert.deepEqual(gaps, []);
  t.diagnostic("a newcomer after everybody left, and after one more kill, finds all of it");
  await ada.screenshot("durable-ada");
  await Promise.all(stage.windows.splice(0).map((board) => board.close()));
  await stage.server.kill();
  await stage.server.restart();
  const cy = await stage.open("kept", "Cy Twombly");
  const byId = (list) => list.map(({ id }) => id).sort();
  assert.deepEqual(byId(await cy.objects(drawn)), byId(here));
  await cy.screenshot("durable-cy");
});

test("a change is shown as being saved until it is stored", async () => {
  const ada = await stage.open("saved", "Ada Lovelace");
  await ada.choose("pen");
  await ada.drag(line(0, 0));
  await until("saved", async () => (await saved(ada)) === "Saved");
  // A page that hears nothing for some seconds takes the server for gone, and says so instead. On a
  // busy machine that may be all that this line shows. So the words are recorded, and the test
  // draws anew until the page says that the change is being saved.
  await ada.page.evaluate(() => {
    window.words = [];
    const line = document.querySelector("gw-status").shadowRoot.querySelector(`[part~="text"]`);
    new MutationObserver(() => window.words.push(line.textContent)).observe(line, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
  const words = () => ada.page.evaluate(() => window.words);
  const isShown = async () => {
    await until("being saved, or the server is gone", async () => (await words()).length > 0);
    return (await words())[0] === "Saving…";
  };
  for (let round = 1; ; round += 1) {
    const [from, ...rest] = line(0, round);
    await ada.page.mouse.move(...from);
    await ada.page.mouse.down();
    for (const at of rest) await ada.page.mouse.move(...at);
    stage.server.pause();
    await ada.page.mouse.up();
    const shown = await isShown();
    if (shown) await ada.screenshot("durable-saving");
    stage.server.resume();
    await until("saved again", async () => (await saved(ada)) === "Saved");
    assert.equal(await ada.read("waiting"), 0);
    if (shown) break;
    assert.ok(round < ROUNDS, `only these words were shown: ${(await words()).join(", ")}`);
    await ada.page.evaluate(() => (window.words = []));
  }
});
