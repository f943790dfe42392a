// The example examples/turns in two windows: a game by mouse and keyboard, a page that is loaded
// anew, a player who leaves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Example } from "./example.mjs";
import { until } from "./wait.mjs";

const example = new Example("turns");
const options = { timeout: 300_000 };

const news = ({ page }) => page.getByRole("status").textContent();
const says = (window, text) => until(text, async () => (await news(window)).includes(text));
const click = ({ page }, name) => page.getByRole("button", { name }).click();

/** Drops a disc into a column, once that is allowed. */
async function drop(window, column) {
  await says(window, "Your move.");
  await click(window, `Column ${column}:`);
  await until("the disc lies", async () => !(await news(window)).includes("Your move."));
}

test("two play, one comes back, one leaves, and a third one takes the seat", options, async () => {
  const ada = await example.open("Ada");
  const bo = await example.open("Bo", {}, { viewport: { width: 400, height: 760 }, colorScheme: "dark" });
  await click(ada, "Play red");
  await says(ada, "Waiting for another player.");
  await click(bo, "Play yellow");
  await drop(ada, 4);
  await drop(bo, 4);
  await ada.page.reload();
  await ada.isConnected();
  await drop(ada, 4);

  // By the keyboard: the middle column is the first that has the focus.
  await says(bo, "Your move.");
  await bo.page.getByRole("button", { name: "Column 4: red, yellow, red" }).focus();
  await bo.page.keyboard.press("ArrowRight");
  await bo.page.keyboard.press("Enter");
  await says(ada, "Bo: column 5. Your move.");
  assert.equal(await bo.page.getByRole("button", { name: "Column 5: yellow" }).count(), 1);
  assert.deepEqual(
    [await ada.page.locator(".cell:not([data-side=''])").count(), await bo.page.locator(".mine").count()],
    [4, 0],
  );
  await ada.page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
  await ada.screenshot("example-turns-ada");
  await bo.screenshot("example-turns-bo");
  const { scrollWidth } = await bo.page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth }));
  assert.ok(scrollWidth <= 400, `nothing is wider than a small screen: ${scrollWidth}`);

  const cy = await example.open("Cy");
  await until("a watcher", () => ada.page.getByText("Also here: Cy").isVisible());
  assert.equal(await cy.page.getByRole("button", { name: /Play|Leave|Give up/ }).count(), 0);
  await click(ada, "Give up");
  await says(bo, "You win.");
  await click(bo, "New game");
  await drop(bo, 1);
  await ada.closeTab();
  await says(bo, "Ada has left.");
  await click(bo, "Free the other seat");
  await click(cy, "Play red");
  await drop(cy, 7);
  await says(bo, "Cy: column 7. Your move.");
});
