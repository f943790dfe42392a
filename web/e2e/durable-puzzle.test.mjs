// Two people move pieces of a puzzle in a room that is stored, while the server is killed and
// started again.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { groupOf, Puzzle } from "./puzzle.mjs";
import { Stage } from "./stage.mjs";
import { until } from "./wait.mjs";

/** How often the server is killed. GROUPWIRE_KILLS sets another number. */
const KILLS = Number(process.env.GROUPWIRE_KILLS ?? 3);

const folder = await mkdtemp(join(tmpdir(), "groupwire-e2e-"));
const stage = new Stage(Puzzle, "--data", folder);
after(() => rm(folder, { recursive: true }));

/** Moves a piece by some pixels, as a person does, and drops it. */
async function move(window, piece, dx, dy) {
  const { x, y } = await window.grab(piece);
  await window.page.mouse.move(x + dx, y + dy, { steps: 4 });
  await window.page.mouse.up();
}

/**
 * Waits until everything is confirmed and both pages show the same; returns the groups of pieces.
 */
async function agreed(ada, bo) {
  const groups = async () => [await ada.settled(), await bo.settled()].map((list) => JSON.stringify(list));
  await until("the same pieces", async () => new Set(await groups()).size === 1);
  return ada.read("groups");
}

test(
  "two people puzzle, the server is killed again and again, and nothing is lost",
  { timeout: 600_000 },
  async (t) => {
    const [ada, bo] = [await stage.open("kept", "Ada Lovelace"), await stage.open("kept", "Bo Diddley")];
    const gaps = [];
    for (const { page } of [ada, bo]) {
      page.on("console", (message) => message.text().includes("gap") && gaps.push(message.text()));
    }
    await ada.start("reef", 12);
    await until("the same puzzle", async () => (await bo.read("game")) === 1);
    await bo.rests();
    const numbers = [await ada.read("self"), await bo.read("self")];
    for (let round = 0; round < KILLS; round += 1) {
      t.diagnostic(`kill ${round + 1}: the server dies while both pieces are on their way to it`);
      const before = await agreed(ada, bo);
      await Promise.all([move(ada, 5, 20, 12), move(bo, 10, -20, -12)]);
      await stage.server.kill();
      for (const window of [ada, bo]) {
        await until("noticed", async () => (await window.read("status")) === "reconnecting");
      }
      if (round === 0) await ada.screenshot("durable-puzzle-reconnecting");
      await stage.server.restart();
      for (const window of [ada, bo]) {
        await until("back", async () => (await window.read("status")) === "connected");
      }
      const now = await agreed(ada, bo);
      for (const piece of [5, 10]) {
        assert.notDeepEqual(groupOf(now, piece), groupOf(before, piece), `the move of piece ${piece} is lost`);
      }
    }
    assert.deepEqual([await ada.read("self"), await bo.read("self")], numbers, "they resumed");
    assert.deepEqual(gaps, []);
    const here = await agreed(ada, bo);
    t.diagnostic("a newcomer after everybody left, and after one more kill, finds every piece at its place");
    await ada.screenshot("durable-puzzle-ada");
    await Promise.all(stage.windows.splice(0).map((window) => window.close()));
    await stage.server.kill();
    await stage.server.restart();
    const cy = await stage.open("kept", "Cy Twombly");
    await until("synced", async () => (await cy.read("game")) === 1);
    const place = ({ pieces, x, y }) => ({ pieces, x, y });
    assert.deepEqual((await cy.read("groups")).map(place), here.map(place));
    await cy.screenshot("durable-puzzle-cy");
  },
);
