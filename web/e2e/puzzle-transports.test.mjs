// The puzzle over each transport, with real pages and a real server: a file of its own, so that it
// runs beside the other tests of the puzzle.

import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOf, Puzzle } from "./puzzle.mjs";
import { Stage } from "./stage.mjs";
import { until } from "./wait.mjs";

const options = { timeout: 300_000 };
const NAMES = ["Ada Lovelace", "Bo Diddley", "Cy Twombly"];

const stage = new Stage(Puzzle);

for (const transport of ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"]) {
  test(`over ${transport}: a drag is seen live, and the drop by a late joiner`, options, async (t) => {
    const room = `over-${transport}`;
    const only = `${room}&transport=${transport}`;
    const [ada, bo] = [await stage.open(only, NAMES[0]), await stage.open(only, NAMES[1])];
    for (const window of [ada, bo]) {
      await until(transport, async () => (await window.read("transport"))?.name === transport);
      await window.rests();
    }
    const before = await bo.center(3);
    const from = await ada.grab(3);
    // Slow enough for others to see each step.
    for (let step = 1; step <= 10; step++) await ada.page.mouse.move(from.x + 6 * step, from.y + 4 * step);
    await until("the drag", async () => (await bo.read("drags")).some(({ piece }) => piece === 3));
    await until("the piece", async () => Math.abs((await bo.center(3)).x - before.x - 60) < 2);
    // The state that Bo received on joining has no latency, so Ada moves on.
    let step = 10;
    const { latency, jitter } = await until("measured", async () => {
      step += 1;
      await ada.page.mouse.move(from.x + 60 + (step % 9), from.y + 40);
      const figures = await bo.read("figures");
      return figures.latency === undefined ? undefined : figures;
    });
    t.diagnostic(`latency ${latency.toFixed(1)} ms, jitter ${jitter.toFixed(1)} ms`);
    await ada.page.mouse.up();
    const dropped = groupOf(await ada.settled(), 3);
    await until("dropped", async () => groupOf(await bo.read("groups"), 3).x === dropped.x);
    const cy = await stage.open(only, NAMES[2]);
    await until("found", async () => groupOf(await cy.read("groups"), 3).x === dropped.x);
    assert.deepEqual(await cy.read("groups"), await ada.read("groups"));
  });
}

test("the transport is changed in the panel while a piece is held", options, async (t) => {
  const [ada, bo] = [await stage.open("choice", NAMES[0]), await stage.open("choice", NAMES[1])];
  await ada.rests();
  const from = await ada.grab(3);
  await ada.page.mouse.move(from.x + 20, from.y + 20, { steps: 4 });
  await ada.page.keyboard.press("s");
  for (const transport of ["longpoll", "websocket"]) {
    await ada.page.getByTestId("transport-choice").selectOption(transport);
    await until(transport, async () => (await ada.read("transport"))?.name === transport);
    const why = ada.page.getByTestId("transport-why");
    t.diagnostic(await why.innerText());
    assert.match(new URL(ada.page.url()).search, new RegExp(`transport=${transport}`));
  }
  await ada.screenshot("puzzle-choice");
  await ada.page.mouse.move(from.x + 60, from.y + 50, { steps: 4 });
  await ada.page.mouse.up();
  const dropped = groupOf(await ada.settled(), 3);
  await until("dropped", async () => groupOf(await bo.read("groups"), 3).x === dropped.x);
  assert.equal(await ada.read("self"), 1, "the same participant all along");
});
