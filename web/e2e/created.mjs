// What an application of a template of create-groupwire does in two windows.

import assert from "node:assert/strict";
import { until } from "./wait.mjs";
import { newContext } from "./window.mjs";

/** Waits until something is as wanted. An error says how it was in the end. */
async function shows(wanted, read) {
  const text = JSON.stringify(wanted);
  let last;
  await until(text, async () => JSON.stringify((last = await read())) === text).catch((cause) => {
    throw new Error(`${cause.message}; it was ${JSON.stringify(last)}`, { cause });
  });
}

/** A window of an application. */
class App {
  errors = [];
  #context;

  static async open(browser, url, options) {
    const app = new App();
    app.#context = await newContext(browser, { viewport: { width: 900, height: 640 }, ...options });
    app.page = await app.#context.newPage();
    app.page.on("pageerror", (error) => app.errors.push(String(error)));
    app.page.on("console", (message) => message.type() === "error" && app.errors.push(message.text()));
    await app.page.goto(url);
    await app.says("All is sent. The server keeps it while it runs.");
    return app;
  }

  /** Waits for a text of the status line. */
  says(text) {
    return shows(text, async () => (await this.page.getByRole("status").textContent()).trim());
  }

  /** Waits until the status line no longer calls all changes saved. */
  async hasUnsaved() {
    // On a busy machine the client may find the server gone before the line is read.
    const unsaved = ["Saving…", "No connection. Changes are kept here, and sent later."];
    await shows(true, async () => unsaved.includes((await this.page.getByRole("status").textContent()).trim()));
  }

  /** Waits until the list has these tasks; done ones have an x. */
  hasTasks(...tasks) {
    const read = (items) =>
      items.map((item) => {
        const mark = item.querySelector("input").checked ? "x " : "";
        return mark + item.querySelector("span").textContent.trim();
      });
    return shows(tasks, () => this.#items("Tasks").evaluateAll(read));
  }

  hasPeople(...names) {
    const read = (items) => items.map((item) => item.textContent.trim());
    return shows(names, () => this.#items("Who is here").evaluateAll(read));
  }

  /** Waits until the others' pointers are those, each a name and a place. */
  hasCursors(...cursors) {
    const read = (all) =>
      all.map((element) => {
        const { left, top } = element.getBoundingClientRect();
        return `${element.textContent} ${Math.round(left)} ${Math.round(top)}`;
      });
    return shows(cursors, () => this.page.locator(".cursor").evaluateAll(read));
  }

  #items(list) {
    return this.page.getByRole("list", { name: list }).getByRole("listitem");
  }

  async add(text) {
    await this.page.getByRole("textbox", { name: "New task" }).fill(text);
    await this.page.getByRole("button", { name: "Add" }).click();
  }

  press(name) {
    return this.page.getByRole("button", { name, exact: true }).click();
  }

  rename(name) {
    return this.page.getByRole("textbox", { name: "Your name" }).fill(name);
  }

  /** Closes the tab as a person does, so that the page can send a goodbye. */
  async closeTab() {
    await this.page.close({ runBeforeUnload: true });
  }

  async close() {
    await this.#context.close();
  }
}

/**
 * Opens an application twice and uses all of it: names, pointers, the list, undo, the line that
 * tells if all is saved. `shoot(page)` takes screenshots of one of the windows.
 */
export async function tryInTwoWindows(browser, url, server, shoot = () => {}) {
  const [ada, bo] = [await App.open(browser, url), await App.open(browser, url)];
  try {
    await ada.rename("Ada");
    await bo.rename("Bo <b>");
    await Promise.all([ada.hasPeople("Bo <b>"), bo.hasPeople("Ada")]);

    await ada.page.mouse.move(120, 600);
    await ada.page.mouse.move(150, 620, { steps: 5 });
    await bo.hasCursors("Ada 150 620");

    await ada.add("Tea");
    await bo.hasTasks("Tea");
    await bo.add("Cake");
    await ada.hasTasks("Tea", "Cake");
    await bo.page.getByRole("checkbox", { name: "Tea" }).check();
    await ada.hasTasks("x Tea", "Cake");
    await ada.press("Remove Cake");
    await bo.hasTasks("x Tea");
    // Undo concerns own changes only: it brings back what Ada removed, and leaves Bo's change.
    await ada.press("Undo");
    await bo.hasTasks("x Tea", "Cake");
    await ada.press("Redo");
    await bo.hasTasks("x Tea");
    await ada.press("Undo");
    await bo.hasTasks("x Tea", "Cake");
    await ada.page.mouse.move(700, 560);
    await bo.page.mouse.move(120, 590, { steps: 3 });
    await bo.hasCursors("Ada 700 560");
    await shoot(bo.page);

    // While the server takes nothing, a change is shown and not called saved.
    server.pause();
    await ada.add("Plates");
    await ada.hasTasks("x Tea", "Cake", "Plates");
    await ada.hasUnsaved();
    server.resume();
    await bo.hasTasks("x Tea", "Cake", "Plates");
    await ada.says("All is sent. The server keeps it while it runs.");

    await ada.closeTab();
    await Promise.all([bo.hasPeople(), bo.hasCursors()]);
    assert.deepEqual([...ada.errors, ...bo.errors], []);
  } finally {
    server.resume();
    await Promise.all([ada.close(), bo.close()]);
  }
}
