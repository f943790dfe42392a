// The whiteboard in two windows, used with pointer and keyboard.

import assert from "node:assert/strict";
import { until } from "../../wait.mjs";

const WAVE = [
  [200, 300],
  [260, 220],
  [340, 380],
  [420, 240],
];

/** What the page's hook tells (web/whiteboard/src/hook.ts). */
const read = (page, field) =>
  page.evaluate((field) => {
    const value = window.groupwireBoard?.[field];
    return typeof value === "function" ? value() : value;
  }, field);

async function open(stage, room) {
  const page = await stage.open(`${stage.server.url}/?room=${room}`);
  await isConnected(page);
  return page;
}

const isConnected = (page) => until("connected", async () => (await read(page, "status")) === "connected");

async function objects(page, count) {
  await until(`${count} objects`, async () => (await read(page, "objects")).length === count);
  return read(page, "objects");
}

export function whiteboard() {
  return { "two windows see each other's stroke, box and pointer": draw, "a page that is reloaded goes on": reload };
}

async function draw(stage) {
  const [ada, bo] = await Promise.all([open(stage, "engine-two"), open(stage, "engine-two")]);
  await ada.click(`[data-testid="tool-pen"]`);
  await ada.drag(WAVE);
  const [stroke] = await objects(bo, 1);
  assert.equal(stroke.kind, "stroke");
  // The key of the rectangle.
  await bo.type("r");
  await bo.drag([
    [500, 150],
    [700, 300],
  ]);
  const kinds = (await objects(ada, 2)).map(({ kind }) => kind);
  assert.deepEqual(kinds.sort(), ["rectangle", "stroke"]);
  await bo.move([
    [600, 200],
    [650, 420],
  ]);
  await until("Bo's pointer at the same place of Ada's page", async () => {
    const [pointer] = await read(ada, "pointers");
    const at = pointer && (await ada.evaluate(({ x, y }) => window.groupwireBoard.toScreen(x, y), pointer));
    return at && Math.abs(at.x - 650) < 2 && Math.abs(at.y - 420) < 2;
  });
  const [{ name }] = await read(ada, "participants");
  const label = await ada.evaluate(
    () => document.querySelector("gw-cursors").shadowRoot.querySelector(`[part="name"]`).textContent,
  );
  assert.equal(label.trim(), name);
}

async function reload(stage) {
  const [ada, bo] = await Promise.all([open(stage, "engine-again"), open(stage, "engine-again")]);
  await ada.click(`[data-testid="tool-pen"]`);
  await ada.drag(WAVE);
  const [stroke] = await objects(bo, 1);
  await bo.reload();
  await isConnected(bo);
  assert.deepEqual(await objects(bo, 1), [stroke]);
  await until("Ada sees one Bo", async () => (await read(ada, "participants")).length === 1);
  await bo.click(`[data-testid="tool-pen"]`);
  await bo.drag(WAVE.map(([x, y]) => [x + 60, y + 60]));
  const drawn = await objects(ada, 2);
  assert.deepEqual(drawn[0], stroke);
  assert.deepEqual(await objects(bo, 2), drawn);
}
