// The browser, the server and the windows of one test file. Windows are closed after each test.

import { after, afterEach, before } from "node:test";
import { Server } from "./server.mjs";
import { closeAll, launch } from "./window.mjs";

export class Stage {
  browser;
  server;
  windows = [];
  #kind;

  /**
   * `kind` is the class of the windows, such as `Board`; `options` are added to those of `groupwire
   * serve`.
   */
  constructor(kind, ...options) {
    this.#kind = kind;
    before(
      async () => ([this.browser, this.server] = await Promise.all([launch(...this.flags), Server.start(...options)])),
    );
    afterEach(() => closeAll(this.windows));
    after(async () => {
      await this.browser?.close();
      await this.server?.kill();
    });
  }

  /** Flags of the browser. */
  get flags() {
    return [];
  }

  /** Opens a window of a new user on `server`. */
  async open(room, name, settings, server = this.server) {
    const window = await this.#kind.open(this.browser, server, room, name, settings);
    this.windows.push(window);
    return window;
  }
}
