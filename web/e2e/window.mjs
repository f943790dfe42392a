// A window of one person's browser, on a page that shows itself to tests by a hook in `window`.

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { until } from "./wait.mjs";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

// Without a sandbox, as tests run as root in containers; the rest keeps the browser from talking to its maker.
const FLAGS = `--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update
  --disable-sync`.split(/\s+/);

export async function launch() {
  const executablePath = process.env.GROUPWIRE_BROWSER;
  if (!executablePath) throw new Error("set GROUPWIRE_BROWSER to a Chromium or Chrome");
  await mkdir(SCREENSHOTS, { recursive: true });
  return chromium.launch({ executablePath, args: FLAGS });
}

export class Window {
  #context;
  #hook;
  /** Errors of the page's own code: there must be none. */
  errors = [];

  constructor(hook) {
    this.#hook = hook;
  }

  /** Of its own user, whose name is `name`; `options` are the browser's. */
  async open(browser, url, name, options) {
    this.#context = await browser.newContext({ viewport: { width: 900, height: 640 }, ...options });
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

  /** What a kind of page needs before it is loaded. */
  async prepare() {}

  async close() {
    await this.#context.close();
  }

  /** As a person closes a tab: the page may say goodbye. */
  async closeTab() {
    await this.page.close({ runBeforeUnload: true });
  }

  /**
   * Nothing runs in the page any more, as in a suspended tab, until the returned function is called. By the debugger,
   * since headless Chromium did not freeze pages when told to (`Page.setWebLifecycleState`).
   */
  async freeze() {
    const session = await this.#context.newCDPSession(this.page);
    await session.send("Debugger.enable");
    await session.send("Debugger.pause");
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

  async isConnected(timeout = 20_000) {
    await until("connected", async () => (await this.read("status")) === "connected", timeout);
  }

  /** Presses at the first of the points (CSS pixels), moves over the others, lets go. */
  async drag(points, steps = 8) {
    const { mouse } = this.page;
    const [[x, y], ...rest] = points;
    await mouse.move(x, y);
    await mouse.down();
    for (const [x, y] of rest) await mouse.move(x, y, { steps });
    await mouse.up();
  }

  /** The same with a finger. */
  async swipe(points) {
    const session = await this.#context.newCDPSession(this.page);
    const touch = (type, touchPoints) => session.send("Input.dispatchTouchEvent", { type, touchPoints });
    const [[x, y], ...rest] = points;
    await touch("touchStart", [{ x, y }]);
    for (const [x, y] of rest) await touch("touchMove", [{ x, y }]);
    await touch("touchEnd", []);
    await session.detach();
  }

  async screenshot(name) {
    await this.page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
  }
}
