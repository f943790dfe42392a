// The example in windows of headless Chromium, with a real server: node --test browser.mjs, with
// the variables that `make test-excalidraw` sets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Example } from "../../web/e2e/example.mjs";
import { until } from "../../web/e2e/wait.mjs";

const example = new Example("excalidraw");
/** The window is wide enough for Excalidraw to show avatars. */
const WIDE = { viewport: { width: 1100, height: 640 } };
const options = { timeout: 300_000 };

/** The elements of a window's scene that are not deleted, from back to front: their types. */
const types = ({ page }) =>
  page.evaluate(() =>
    excalidraw
      .getSceneElements()
      .map(({ type }) => type)
      .join(),
  );
/** The part of the scene that all users have alike. */
const scene = ({ page }) =>
  page.evaluate(() => {
    const all = excalidraw.getSceneElementsIncludingDeleted();
    return JSON.stringify(all.map(({ id, version, versionNonce, index }) => [id, version, versionNonce, index]));
  });
const has = (window, expected) => until(expected, async () => (await types(window)) === expected);
/** Takes a tool by its key, and draws with it. */
async function draw(window, key, points) {
  await window.page.keyboard.press(key);
  await window.drag(points);
}

/**
 * Presses a key until the scene has these elements. A step of undo may be a selection alone; what
 * others drew is never undone.
 */
async function press(window, key, expected) {
  const before = await types(window);
  for (let step = 0; step < 6 && (await types(window)) !== expected; step += 1) await window.page.keyboard.press(key);
  assert.equal(await types(window), expected, `${key} from ${before}`);
}

async function open(name, settings, room = "drawing") {
  const window = await example.open(name, { room }, settings);
  await until("Excalidraw", () => window.page.evaluate(() => "excalidraw" in globalThis));
  return window;
}

test("two draw together, and each undoes what is their own", options, async () => {
  const [ada, bo] = [await open("Ada", WIDE), await open("Bo", { ...WIDE, colorScheme: "dark" })];
  for (const { page } of [ada, bo]) await until("both", () => page.getByText("2 people").isVisible());

  await draw(ada, "r", [[300, 200], [420, 300]]); // prettier-ignore
  await has(bo, "rectangle");
  await draw(bo, "o", [[500, 200], [620, 300]]); // prettier-ignore
  await has(ada, "rectangle,ellipse");

  // At the same moment: neither stroke is interrupted by what comes from the other one.
  const strokes = [[ada, 350], [bo, 450]]; // prettier-ignore
  for (const [{ page }, y] of strokes) {
    await page.keyboard.press("p");
    await page.mouse.move(300, y);
    await page.mouse.down();
  }
  for (let x = 310; x <= 600; x += 10) {
    for (const [{ page }, y] of strokes) await page.mouse.move(x, y + 20 * Math.sin(x / 30));
  }
  for (const [{ page }] of strokes) await page.mouse.up();
  for (const window of [ada, bo]) {
    await until("both strokes", async () => (await types(window)).split("freedraw").length === 3);
  }
  await until("one scene", async () => (await scene(ada)) === (await scene(bo)));
  const lengths = await ada.page.evaluate(() =>
    excalidraw.getSceneElements().flatMap(({ points }) => (points ? [points.length] : [])),
  );
  assert.deepEqual(lengths.map((length) => length >= 30), [true, true], `whole strokes: ${lengths}`); // prettier-ignore

  // Ada's undo takes her stroke and her rectangle, never Bo's.
  await press(ada, "Control+z", "rectangle,ellipse,freedraw");
  await has(bo, "rectangle,ellipse,freedraw");
  await press(ada, "Control+z", "ellipse,freedraw");
  await has(bo, "ellipse,freedraw");
  await press(ada, "Control+Shift+z", "rectangle,ellipse,freedraw");
  await has(bo, "rectangle,ellipse,freedraw");
  await press(bo, "Control+z", "rectangle,ellipse");
  await has(ada, "rectangle,ellipse");

  // Ada's pointer is where she points.
  await ada.page.mouse.move(450, 250);
  const pointer = () => bo.page.evaluate(() => [...excalidraw.getAppState().collaborators.values()][0]?.pointer);
  await until("her pointer", async () => {
    const at = await pointer();
    return at && Math.abs(at.x - 450) < 2 && Math.abs(at.y - 250) < 2;
  });
  await bo.page.mouse.move(560, 400);
  await until("his pointer", () =>
    ada.page.evaluate(() => [...excalidraw.getAppState().collaborators.values()][0]?.pointer),
  );
  await ada.screenshot("example-excalidraw-ada");
  await bo.screenshot("example-excalidraw-bo");
});

test("who comes late has the drawing, and sees what somebody else sees by following", options, async () => {
  const room = "late";
  const bo = await open("Bo", WIDE, room);
  await draw(bo, "r", [[300, 200], [420, 300]]); // prettier-ignore
  await draw(bo, "o", [[500, 200], [620, 300]]); // prettier-ignore
  await has(bo, "rectangle,ellipse");
  await until("all is sent", () => bo.page.getByText("Only you").isVisible());
  const ada = await open("Ada", WIDE, room);
  await has(ada, "rectangle,ellipse");
  await until("one scene", async () => (await scene(ada)) === (await scene(bo)));

  const followers = () => bo.page.evaluate(() => excalidraw.getAppState().followedBy.size);
  /** Where the scene is in a window, and how large. */
  const view = ({ page }) =>
    page.evaluate(() => {
      const { scrollX, scrollY, zoom } = excalidraw.getAppState();
      return [scrollX, scrollY, 100 * zoom.value].map(Math.round).join();
    });
  // In a window of this width the others are in a list.
  await ada.page.locator(".UserList__more").click();
  await ada.page.locator(".UserList__collaborator").click();
  await until("Bo has a follower", async () => (await followers()) === 1);
  await bo.page.mouse.move(500, 400);
  await bo.page.mouse.wheel(240, 130);
  await until("Bo has moved", async () => (await view(bo)) !== "0,0,100");
  await until("the same view", async () => (await view(ada)) === (await view(bo)));
  await ada.screenshot("example-excalidraw-following");

  // The user's own movement of the view ends the following.
  await ada.page.mouse.move(500, 400);
  await ada.page.mouse.wheel(0, 60);
  await until("nobody follows", async () => (await followers()) === 0);
  const before = await view(ada);
  await bo.page.mouse.wheel(-100, -70);
  await until("Ada sees Bo's new view told", async () => (await view(bo)) !== before);
  assert.equal(await view(ada), before);
});
