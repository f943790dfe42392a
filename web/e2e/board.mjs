// The whiteboard as a person uses it, in headless Chromium.

import { until } from "./wait.mjs";
import { Window } from "./window.mjs";

export class Board extends Window {
  /** A window of its own user, as `options` say, who draws in `room`. */
  static open(browser, server, room, name, options) {
    return new Board("groupwireBoard").open(browser, `${server.url}/?room=${room}`, name, options);
  }

  /** The kinds of what is drawn, when there are so many. */
  async objects(count, timeout) {
    await until(`${count} objects`, async () => (await this.read("objects")).length === count, timeout);
    return this.read("objects");
  }

  choose(tool) {
    return this.page.getByTestId(`tool-${tool}`).click();
  }
}
