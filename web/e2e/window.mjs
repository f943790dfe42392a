// A browser window of one user, on a page that offers a hook in `window` to tests.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { PATIENCE_MS, pause, until } from "./wait.mjs";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

// Without a sandbox, because tests run as root in containers. The other flags prevent the browser's
// own network traffic.
const FLAGS = `--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update
  --disable-sync`.split(/\s+/);

/** Starts a browser. `flags` are added to those of all tests. */
export async function launch(...flags) {
  const executablePath = process.env.GROUPWIRE_BROWSER;
  if (!executablePath) throw new Error("set GROUPWIRE_BROWSER to a Chromium or Chrome");
  await mkdir(SCREENSHOTS, { recursive: true });
  return chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
}

/** A browser context without blurred backgrounds. `options` are those of the browser. */
export async function newContext(browser, options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  // Without a GPU, blurring the background of the panels in each frame would take most of the time
  // of these tests.
  await context.addInitScript(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { backdrop-filter: none !important; }");
    document.adoptedStyleSheets.push(sheet);
  });
  return context;
}

/**
 * Closes what the arrays hold, each with a `close()` and the uncaught `errors` of its page, of
 * which there must be none.
 */
export async function closeAll(...opened) {
  const closing = opened.flatMap((array) => array.splice(0));
  await Promise.all(closing.map((one) => one.close()));
  const errors = closing.flatMap(({ errors }) => errors);
  assert.deepEqual(errors, [], "errors in the pages");
}

export class Window {
  #context;
  #hook;
  /** Uncaught errors of the page, of which there must be none. */
  errors = [];

  constructor(hook) {
    this.#hook = hook;
  }

  /** Opens the page for a new user with this name. `options` are those of the browser context. */
  async open(browser, url, name, options) {
    this.#context = await newContext(browser, { viewport: { width: 900, height: 640 }, ...options });
    await this.#context.addInitScript((name) => {
      // Frames within the page may have no storage.
      if (self === top) localStorage.setItem("groupwire-name", name);
    }, name);
    await this.prepare(this.#context);
    this.page = await this.#context.newPage();
    this.page.on("pageerror", (error) => this.errors.push(String(error)));
    await this.page.goto(url);
    await this.isConnected();
    return this;
  }

  /** Prepares the context before the page is loaded. */
  async prepare() {}

  async close() {
    await this.#context.close();
  }

  /** Closes the tab as a person does, so that the page can send a goodbye. */
  async closeTab() {
    await this.page.close({ runBeforeUnload: true });
  }

  /**
   * Suspends the page, as a browser does with a background tab, until the returned function is
   * called. The debugger pauses it, because `Page.setWebLifecycleState` did not suspend pages in
   * headless Chromium.
   */
  async freeze() {
    const session = await this.#context.newCDPSession(this.page);
    let isPaused = false;
    session.on("Debugger.paused", () => (isPaused = true));
    await session.send("Debugger.enable");
    // The page pauses at its next statement. On a busy machine a request was without effect.
    for (let at = 0; !isPaused; at++) {
      if (at % 100 === 0) await session.send("Debugger.pause");
      await pause(10);
    }
    return () => session.detach();
  }

  /** A value of the page's hook. */
  read(field) {
    return this.page.evaluate(
      ([hook, field]) => {
        const value = window[hook]?.[field];
        return typeof value === "function" ? value() : value;
      },
      [this.#hook, field],
    );
  }

  async isConnected(timeout) {
    await until("connected", async () => (await this.read("status")) === "connected", timeout);
  }

  /** Presses at the first point (CSS pixels), moves over the others, and releases. */
  async drag(points, steps = 8) {
    const { mouse } = this.page;
    const [[x, y], ...rest] = points;
    await mouse.move(x, y);
    await mouse.down();
    for (const [x, y] of rest) await mouse.move(x, y, { steps });
    await mouse.up();
  }

  /** Drags with a finger. */
  async swipe(points) {
    const session = await this.#context.newCDPSession(this.page);
    const touch = (type, touchPoints) => session.send("Input.dispatchTouchEvent", { type, touchPoints });
    const [[x, y], ...rest] = points;
    await touch("touchStart", [{ x, y }]);
    for (const [x, y] of rest) await touch("touchMove", [{ x, y }]);
    await touch("touchEnd", []);
    await session.detach();
  }

  /** The parts of a widget, such as the names of cursors. */
  part(widget, name) {
    return this.page.locator(`${widget} [part~="${name}"]`);
  }

  async screenshot(name) {
    await this.page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
  }
}
