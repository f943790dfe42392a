// The whiteboard as a person uses it, in headless Chromium.

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

export class Board {
  #context;
  /** Errors of the page's own code: there must be none. */
  errors = [];

  /** A window of its own user, as `options` say, who draws in `room`. */
  static async open(browser, server, room, name, options = {}) {
    const board = new Board();
    board.#context = await browser.newContext({ viewport: { width: 900, height: 640 }, ...options });
    await board.#context.addInitScript((name) => localStorage.setItem("groupwire-name", name), name);
    board.page = await board.#context.newPage();
    board.page.on("pageerror", (error) => board.errors.push(String(error)));
    await board.page.goto(`${server.url}/?room=${room}`);
    await board.isConnected();
    return board;
  }

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

  /** A value of `window.groupwireBoard`. */
  read(field) {
    return this.page.evaluate((field) => {
      const value = window.groupwireBoard?.[field];
      return typeof value === "function" ? value() : value;
    }, field);
  }

  async isConnected(timeout = 20_000) {
    await until("connected", async () => (await this.read("status")) === "connected", timeout);
  }

  /** The kinds of what is drawn, when there are so many. */
  async objects(count, timeout) {
    await until(`${count} objects`, async () => (await this.read("objects")).length === count, timeout);
    return this.read("objects");
  }

  choose(tool) {
    return this.page.getByTestId(`tool-${tool}`).click();
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
