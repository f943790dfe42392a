// An application of examples/: builds its page and serves it, beside a server that pages of other
// origins may use.

import { mkdtempSync, rmSync } from "node:fs";
import { after, before } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";
import { Stage } from "./stage.mjs";
import { until } from "./wait.mjs";
import { Window } from "./window.mjs";

export class Example extends Stage {
  #pages;

  /** `name` is the folder in examples/; `options` are added to those of `groupwire serve`. */
  constructor(name, ...options) {
    super(ExampleWindow, "--origin", "*", ...options);
    const root = fileURLToPath(new URL(`../../examples/${name}/`, import.meta.url));
    // A folder of its own, because another test may build the same application now.
    const outDir = mkdtempSync(join(tmpdir(), `groupwire-${name}-`));
    const settings = { root, logLevel: "error", build: { outDir, emptyOutDir: true } };
    before(async () => {
      await build(settings);
      this.#pages = await preview({ ...settings, preview: { port: 0, host: "127.0.0.1" } });
    });
    after(async () => {
      await this.#pages?.close();
      rmSync(outDir, { recursive: true });
    });
  }

  /**
   * Opens a window of a new user. `query` is added to the page's address, `settings` are those of
   * the browser context.
   */
  async open(name, query = {}, settings = {}) {
    const [address] = this.#pages.resolvedUrls.local;
    const search = new URLSearchParams({ server: this.server.url, ...query });
    const window = await new ExampleWindow().open(this.browser, `${address}?${search}`, name, settings);
    this.windows.push(window);
    return window;
  }
}

/** A window on a page that shows its status in an element with `data-status`. */
class ExampleWindow extends Window {
  async isConnected() {
    const status = this.page.locator("[data-status]");
    await until("connected", async () => (await status.getAttribute("data-status")) === "connected");
  }
}
