// The example examples/chat in two windows: typing, read marks, a server that ends and comes back,
// a late joiner, and who leaves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Example } from "./example.mjs";
import { until } from "./wait.mjs";

const example = new Example("chat");
const options = { timeout: 300_000 };

const field = ({ page }) => page.getByLabel("Message", { exact: true });
const shows = ({ page }, text) => until(text, () => page.getByText(text).last().isVisible());
const texts = ({ page }) => page.locator(".text").allTextContents();

async function say(window, text) {
  await field(window).fill(text);
  await window.page.keyboard.press("Enter");
}

test("two write, and read what the other one writes", options, async () => {
  const ada = await example.open("Ada");
  const bo = await example.open("Bo", {}, { viewport: { width: 400, height: 640 }, colorScheme: "dark" });
  await shows(ada, "Bo joined.");

  await field(ada).pressSequentially("Shall we meet at nine?");
  await shows(bo, "Ada is typing…");
  await ada.page.keyboard.press("Enter");
  await shows(bo, "Shall we meet at nine?");
  await until("nobody is typing", async () => (await bo.page.locator(".typing").textContent()) === "");
  await shows(ada, "Sent");
  await shows(ada, "Seen by Bo");
  await say(bo, "Nine is fine. I bring the drawings of the bridge, and the letter from the council.");
  await shows(ada, "Nine is fine.");

  // The server keeps nothing, and the pages do.
  await example.server.kill();
  await shows(ada, "The connection is lost.");
  await say(ada, "Good. See you there!");
  await shows(ada, "Waiting for the network");
  await example.server.restart();
  await shows(bo, "See you there!");
  await until("all is sent", async () => (await ada.page.getByText("Waiting for the network").count()) === 0);
  assert.deepEqual(await texts(ada), await texts(bo));
  assert.equal((await texts(ada)).length, 3);
  await shows(ada, "Seen by Bo");
  await field(bo).pressSequentially("Yes");
  await shows(ada, "Bo is typing…");
  await ada.screenshot("example-chat-ada");
  await bo.screenshot("example-chat-bo");
  const width = await bo.page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 400, `nothing is wider than a small screen: ${width}`);

  const cy = await example.open("Cy", {}, { viewport: { width: 600, height: 320 } });
  await shows(cy, "See you there!");
  assert.deepEqual(await texts(cy), await texts(ada));
  await shows(ada, "Seen by Bo, Cy");
  // A user who has scrolled up has not seen the newest messages.
  await cy.page.getByRole("log").evaluate((log) => (log.scrollTop = 0));
  const newest = cy.page.getByRole("button", { name: "Newest messages" });
  await newest.waitFor();
  await say(ada, "Bring an umbrella.");
  await until("Cy has it", async () => (await texts(cy)).includes("Bring an umbrella."));
  const seen = ada.page.locator(".seen");
  await until("Bo's mark", async () => (await seen.allTextContents()).join() === "Seen by Cy,Seen by Bo");
  await cy.screenshot("example-chat-cy");
  await newest.click();
  await shows(ada, "Seen by Bo, Cy");
  assert.equal(await newest.count(), 0);
  await bo.closeTab();
  await shows(ada, "Bo left.");
});
