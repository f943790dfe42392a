// The example in windows of headless Chromium, with a real server: node --test browser.mjs, with
// the variables that `make test-tldraw` sets.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Example } from "../../web/e2e/example.mjs";
import { NetworkProxy } from "../../web/e2e/proxy.mjs";
import { until } from "../../web/e2e/wait.mjs";

const example = new Example("tldraw");
const WIDE = { viewport: { width: 1100, height: 640 } };
const options = { timeout: 300_000 };
const proxies = [];
after(() => proxies.forEach((proxy) => proxy.close()));

/** The types of a window's shapes, from back to front. */
const types = ({ page }) =>
  page.evaluate(() =>
    editor
      .getCurrentPageShapesSorted()
      .map(({ type, props }) => props.geo ?? type)
      .join(),
  );

/** The document of a window as a text: all records that people share. */
const documentOf = ({ page }) =>
  page.evaluate(() => {
    const sorted = (value) =>
      Array.isArray(value) || value === null || typeof value !== "object"
        ? value
        : Object.fromEntries(
            Object.keys(value)
              .sort()
              .map((key) => [key, sorted(value[key])]),
          );
    return JSON.stringify(sorted(editor.store.serialize("document")));
  });

const has = (window, expected) =>
  until(`shapes ${expected}`, async () => (await types(window)) === expected).catch(async (error) => {
    throw new Error(`${error.message}; there are ${await types(window)}`, { cause: error });
  });

const areAlike = (one, other) =>
  until("the same document", async () => (await documentOf(one)) === (await documentOf(other)));

/** Takes a tool by its key, and draws with it. */
async function draw(window, key, points) {
  await window.page.keyboard.press(key);
  await window.drag(points);
}

async function open(name, query = {}, settings = WIDE) {
  const window = await example.open(name, query, settings);
  await hasEditor(window);
  return window;
}

const hasEditor = ({ page }) => until("the editor", () => page.evaluate(() => "editor" in globalThis));

test("two draw, each undoes their own, and one loads the page anew", options, async () => {
  const ada = await open("Ada");
  const bo = await open("Bo", {}, { ...WIDE, colorScheme: "dark" });
  for (const { page } of [ada, bo]) await until("both", () => page.getByText("2 people").isVisible());

  await draw(ada, "r", [[300, 200], [420, 300]]); // prettier-ignore
  await has(bo, "rectangle");
  await draw(bo, "o", [[500, 200], [620, 300]]); // prettier-ignore
  await has(ada, "rectangle,ellipse");
  await draw(ada, "d", [[300, 400], [400, 420], [500, 400], [600, 430]]); // prettier-ignore
  await has(bo, "rectangle,ellipse,draw");
  await areAlike(ada, bo);

  // Ada's undo takes her stroke and her rectangle, never Bo's ellipse.
  await ada.page.keyboard.press("Control+z");
  await has(bo, "rectangle,ellipse");
  await ada.page.keyboard.press("Control+Shift+z");
  await has(bo, "rectangle,ellipse,draw");
  await bo.page.keyboard.press("Control+z");
  await has(ada, "rectangle,draw");
  await bo.page.keyboard.press("Control+Shift+z");
  await has(ada, "rectangle,ellipse,draw");
  await areAlike(ada, bo);

  // Ada's pointer is shown to Bo, with her name.
  await ada.page.mouse.move(450, 250);
  await bo.page.mouse.move(560, 480);
  const names = ({ page }) => page.evaluate(() => editor.getCollaborators().map(({ userName }) => userName));
  await until("Ada's name", async () => (await names(bo)).join() === "Ada");
  await until("Ada's pointer", () =>
    bo.page.evaluate(() => {
      const { cursor } = editor.getCollaborators()[0];
      const at = editor.pageToScreen(cursor);
      return Math.abs(at.x - 450) < 2 && Math.abs(at.y - 250) < 2;
    }),
  );
  await ada.screenshot("example-tldraw-ada");
  await bo.screenshot("example-tldraw-bo");

  const before = await documentOf(ada);
  await bo.page.reload();
  await bo.isConnected();
  await hasEditor(bo);
  await has(bo, "rectangle,ellipse,draw");
  assert.equal(await documentOf(bo), before);
  await until("one other", async () => (await names(ada)).join() === "Bo");
});

test("what is drawn without a connection is there when it is back", options, async () => {
  const proxy = await NetworkProxy.to(example.server);
  proxies.push(proxy);
  const room = "break";
  const ada = await open("Ada", { room });
  const bo = await open("Bo", { room, server: proxy.url });
  await draw(ada, "r", [[300, 200], [420, 300]]); // prettier-ignore
  await has(bo, "rectangle");

  proxy.tcp = false;
  proxy.udp = false;
  proxy.cut();
  await until("offline", () => bo.page.getByText("Offline", { exact: true }).first().isVisible());
  await draw(bo, "o", [[500, 200], [620, 300]]); // prettier-ignore
  await draw(ada, "f", [[650, 350], [800, 450]]); // prettier-ignore
  await has(bo, "rectangle,ellipse");
  await has(ada, "rectangle,frame");
  await bo.screenshot("example-tldraw-offline");
  proxy.open();
  for (const window of [ada, bo]) {
    await until("all three", async () => (await types(window)).split(",").length === 3);
  }
  await areAlike(ada, bo);
  const kinds = (await types(ada)).split(",").toSorted();
  assert.deepEqual(kinds, ["ellipse", "frame", "rectangle"]);
});

test("a phone shows the drawing, too", options, async () => {
  const phone = await open("Cy", {}, { viewport: { width: 390, height: 700 }, hasTouch: true });
  await has(phone, "rectangle,ellipse,draw");
  await phone.screenshot("example-tldraw-phone");
});
