// The example examples/pointers in two windows: arrows that follow, names and colours, and nobody's
// arrow stays behind.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Example } from "./example.mjs";
import { until } from "./wait.mjs";

const example = new Example("pointers");
const options = { timeout: 300_000 };

/**
 * Where the arrow with this name is shown on the stage, in thousandths of its size; undefined if it
 * is not shown.
 */
const arrow = ({ page }, name) =>
  page.evaluate((name) => {
    const stage = document.querySelector("main").getBoundingClientRect();
    const cursor = [...document.querySelectorAll(".cursor")].find(({ textContent }) => textContent === name);
    if (!cursor || cursor.hidden) return undefined;
    const { left, top } = cursor.getBoundingClientRect();
    return [(left - stage.left) / stage.width, (top - stage.top) / stage.height].map((x) => Math.round(x * 1000));
  }, name);

const isAt = async (window, name, x, y) => String(await arrow(window, name)) === `${x},${y}`;

/** Moves the mouse of a window to a place on its stage, in thousandths. */
async function point({ page }, x, y, steps = 1) {
  const stage = await page.locator("main").boundingBox();
  await page.mouse.move(stage.x + (x * stage.width) / 1000, stage.y + (y * stage.height) / 1000, { steps });
}

test("two windows of different sizes point at each other's stage", options, async () => {
  const ada = await example.open("Ada Lovelace");
  const bo = await example.open("Bo", {}, { viewport: { width: 400, height: 640 }, colorScheme: "dark" });
  await until("both are there", () => ada.page.getByText("2 people are here").isVisible());
  await until("Bo's avatar", () => ada.page.getByTitle("Bo").isVisible());

  await bo.page.getByLabel("Show messages as they arrive").check();
  await point(ada, 200, 250);
  await until("Ada's arrow", () => isAt(bo, "Ada Lovelace", 200, 250));
  await point(ada, 600, 500, 20);
  await until("the end of her way", () => isAt(bo, "Ada Lovelace", 600, 500));
  await until("the last message as it arrived", () => bo.page.locator(".arrival:visible").isVisible());

  // The arrow keys do the same as the mouse.
  await bo.page.locator("main").press("ArrowLeft");
  await until("Bo's arrow", () => isAt(ada, "Bo", 490, 500));
  assert.deepEqual(await arrow(bo, "Bo"), [490, 500], "one's own arrow is shown");
  await ada.screenshot("example-pointers-ada");
  await bo.screenshot("example-pointers-bo");

  await ada.page.getByRole("button", { name: /You are/ }).click();
  await ada.page.getByLabel("Your name").fill("Countess");
  await ada.page.getByLabel("Colour 4").check();
  await ada.screenshot("example-pointers-form");
  await ada.page.getByRole("button", { name: "Done" }).click();
  await until("her new name", () => bo.page.getByTitle("Countess").isVisible());

  await ada.closeTab();
  await until("nothing of Ada", () => bo.page.getByText("Only you are here").isVisible());
  assert.equal(await bo.page.locator("li, .arrival").count(), 0);
});
