// A window of the whiteboard, used as a person uses it, in headless Chromium.

import { until } from "./wait.mjs";
import { Window } from "./window.mjs";

export class Board extends Window {
  /** Opens a window of a new user in `room`. `options` are those of the browser context. */
  static open(browser, server, room, name, options) {
    return new Board("groupwireBoard").open(browser, `${server.url}/?room=${room}`, name, options);
  }

  /** Waits until the board has `count` objects, and returns them. */
  async objects(count, timeout) {
    await until(`${count} objects`, async () => (await this.read("objects")).length === count, timeout);
    return this.read("objects");
  }

  choose(tool) {
    return this.page.getByTestId(`tool-${tool}`).click();
  }
}
