// A page in a browser, as the tests use it, whatever drives the browser. A driver has `goto(url)`,
// `reload()`, `evaluate(expression)`, which waits for a promise, `perform(actions)` with the
// actions of WebDriver, `closeWindow()` and `close()`.

import { until } from "../wait.mjs";

const EMPTY = "about:blank";

/**
 * The time (ms) between two of the places that a pointer is moved to: that of a screen with 60
 * frames per second.
 */
const FRAME_MS = 16;

export class Page {
  #driver;
  /**
   * Uncaught errors since the last `goto`, from the time at which the page was loaded. They are
   * complete after `leave`.
   */
  errors = [];

  constructor(driver) {
    this.#driver = driver;
  }

  async goto(url) {
    this.errors = [];
    await this.#driver.goto(url);
    await this.#loaded();
  }

  async reload() {
    await this.#collectErrors();
    await this.#driver.reload();
    await this.#loaded();
  }

  /** Leaves the page and its site without a trace, so that the window serves another user. */
  async leave() {
    await this.#collectErrors();
    await this.evaluate(() => localStorage.clear());
    await this.#driver.goto(EMPTY);
  }

  /** Closes the window, while the browser goes on. Then there is nothing left to do but `close`. */
  closeWindow() {
    return this.#driver.closeWindow();
  }

  close() {
    return this.#driver.close();
  }

  /**
   * Runs a function, or the text of an expression, in the page. The argument and the result travel
   * as JSON.
   */
  async evaluate(act, argument) {
    const expression = typeof act === "function" ? `(${act})(${JSON.stringify(argument)})` : act;
    const result = await this.#driver.evaluate(`(async () => JSON.stringify(await (${expression})))()`);
    return typeof result === "string" ? JSON.parse(result) : undefined;
  }

  /** Presses the button at the first point (CSS pixels), moves over the others, and releases it. */
  async drag(points) {
    const [first, ...rest] = points;
    await this.#point([moveTo(first), DOWN, ...rest.flatMap((to, i) => path(points[i], to)), UP]);
  }

  /** Moves the pointer from the first point over the others, without a button. */
  async move(points) {
    const [first, ...rest] = points;
    await this.#point([moveTo(first), ...rest.flatMap((to, i) => path(points[i], to))]);
  }

  /** Clicks in the middle of an element, once it is there. */
  async click(selector) {
    const middle = (selector) => {
      const box = document.querySelector(selector)?.getBoundingClientRect();
      return box && [box.x + box.width / 2, box.y + box.height / 2];
    };
    const at = await until(selector, () => this.evaluate(middle, selector));
    await this.#point([moveTo(at), DOWN, UP]);
  }

  /** Presses and releases keys, one for each character. */
  async type(text) {
    const actions = [...text].flatMap((value) => ["keyDown", "keyUp"].map((type) => ({ type, value })));
    await this.#driver.perform([{ type: "key", id: "keyboard", actions }]);
  }

  #loaded() {
    return this.evaluate(() => {
      window.uncaught = [];
      const collect = (event) => window.uncaught.push(String(event.error ?? event.reason ?? event.message));
      for (const kind of ["error", "unhandledrejection"]) addEventListener(kind, collect);
      // Without a GPU, blurring the background of the panels in each frame would take most of the
      // time of the tests.
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("* { backdrop-filter: none !important; }");
      document.adoptedStyleSheets.push(sheet);
    });
  }

  async #collectErrors() {
    this.errors.push(...((await this.evaluate("window.uncaught")) ?? []));
  }

  #point(actions) {
    return this.#driver.perform([{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions }]);
  }
}

const DOWN = { type: "pointerDown", button: 0 };
const UP = { type: "pointerUp", button: 0 };

function moveTo([x, y], duration = 0) {
  return { type: "pointerMove", x: Math.round(x), y: Math.round(y), duration, origin: "viewport" };
}

/** Ten moves from one point to another. */
function path([x0, y0], [x1, y1]) {
  return Array.from({ length: 10 }, (_, i) => (i + 1) / 10).map((part) =>
    moveTo([x0 + (x1 - x0) * part, y0 + (y1 - y0) * part], FRAME_MS),
  );
}
