// A browser page that takes part in a room, controlled by the tests.

import { until } from "./wait.mjs";

export class Participant {
  /** Uncaught errors of the page, of which there must be none. */
  errors = [];

  /** Opens a page in a new browser context, or in `context` as another tab of the same user. */
  static async open(browser, proxy, room, { name = "Ada", transports, context, timeout } = {}) {
    const it = new Participant();
    it.context = context ?? (await browser.newContext());
    it.ownsContext = !context;
    it.page = await it.context.newPage();
    it.page.on("pageerror", (error) => it.errors.push(String(error)));
    const query = new URLSearchParams({ room, name, ...(transports ? { transports: transports.join() } : {}) });
    await it.page.goto(`${proxy.url}/e2e/page/index.html?${query}`);
    await until(`${name} has joined`, () => it.has("synced"), timeout);
    return it;
  }

  /** Runs a function in the page; its first argument is `window.participant`. */
  run(act, argument) {
    return this.page.evaluate(`(${act})(window.participant, ${JSON.stringify(argument)})`);
  }

  async close() {
    await (this.ownsContext ? this.context : this.page).close();
  }

  /** Closes the tab as a person does. */
  async closeTab() {
    await this.page.close({ runBeforeUnload: true });
  }

  transport() {
    return this.run(({ room }) => room.transport && { name: room.transport.name, why: room.transport.why });
  }

  async isOn(name, timeout) {
    await until(`on ${name}`, async () => (await this.transport())?.name === name, timeout);
  }

  status() {
    return this.run(({ room }) => room.status);
  }

  events() {
    return this.run(({ seen }) => seen.events);
  }

  /**
   * The errors that the application was told. A connection on which nothing came is none of them:
   * the machine may have been too busy, and the session goes on.
   */
  errorsTold() {
    return this.run(({ seen }) => seen.errors.filter((error) => !error.startsWith("silent: ")));
  }

  async has(event) {
    return this.run((it, event) => it?.seen.events.includes(event) ?? false, event);
  }

  /** The texts of the transactions in their order, cut to 40 characters. */
  texts() {
    return this.run(({ seen }) => seen.texts.map(({ text }) => text.slice(0, 40)));
  }

  /** Waits until `count` more transactions have come. */
  async gotMore(count, timeout) {
    return this.got((await this.texts()).length + count, timeout);
  }

  /** Waits until `count` transactions have come in all, and returns their texts. */
  async got(count, timeout) {
    const length = () => this.run(({ seen }) => seen.texts.length);
    let last;
    try {
      await until(`${count} transactions`, async () => (last = await length()) >= count, timeout);
    } catch (error) {
      throw new Error(`${error.message}; there were ${last}`);
    }
    return this.texts();
  }
}
