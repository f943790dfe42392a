// Runs the tests of pages.mjs in one engine. An engine has a `name`, the programs that it `needs`,
// the `transports` of the client that it has, the one to begin with first, and `launch()`, which
// starts a browser with `open()` for the window of a new user and `close()`.

import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { NetworkProxy } from "../proxy.mjs";
import { Server } from "../server.mjs";
import { skip } from "../skip.mjs";
import { PAGES } from "./pages.mjs";
import { isInstalled } from "./program.mjs";

/** Ends tests that hang. */
const options = { timeout: 300_000 };

/**
 * Declares all tests of all pages for an engine. Where its programs are missing, they are counted
 * as skipped.
 */
export function testIn(engine) {
  const missing = engine.needs.find((program) => !isInstalled(program));
  const tests = Object.entries(PAGES).flatMap(([page, testsOf]) =>
    Object.entries(testsOf(engine)).map(([name, run]) => ({ name: `${engine.name}: ${page}: ${name}`, run })),
  );
  if (missing) return tests.forEach(({ name }) => skip(name, missing));
  describe(engine.name, () => {
    const stage = new Stage(engine);
    for (const { name, run } of tests) test(name, options, () => run(stage));
  });
}

/** The browser, the server and the proxy before it. */
class Stage {
  browser;
  server;
  /** The server with the pages of `web/e2e` beside its own. */
  proxy;
  /**
   * Windows in use, and those that later tests can use: to open one takes a second in some engines.
   */
  #used = [];
  #idle = [];

  constructor(engine) {
    this.engine = engine;
    before(async () => {
      [this.browser, this.server] = await Promise.all([engine.launch(), Server.start()]);
      this.proxy = await NetworkProxy.to(this.server);
    });
    afterEach(() => this.#leaveAll());
    after(async () => {
      await Promise.all(this.#idle.map((page) => page.close()));
      await this.browser?.close();
      this.proxy?.close();
      await this.server?.kill();
    });
  }

  /** Opens a page for a new user. */
  async open(url) {
    const page = this.#idle.pop() ?? (await this.browser.open());
    this.#used.push(page);
    await page.goto(url);
    return page;
  }

  async #leaveAll() {
    const pages = this.#used.splice(0);
    await Promise.all(pages.map((page) => page.leave()));
    this.#idle.push(...pages);
    const errors = pages.flatMap(({ errors }) => errors);
    assert.deepEqual(errors, [], "errors in the pages");
  }
}
