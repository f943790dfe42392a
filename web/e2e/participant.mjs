// A page that takes part in a room and tells the tests what it is told.

import { until } from "./wait.mjs";

export class Participant {
  /** Errors of the page's own code: there must be none. */
  errors = [];

  /** In a browser context of its own, or in the one given: another tab of the same user. */
  static async open(browser, road, room, { name = "Ada", transports, context } = {}) {
    const it = new Participant();
    it.context = context ?? (await browser.newContext());
    it.ownsContext = !context;
    it.page = await it.context.newPage();
    it.page.on("pageerror", (error) => it.errors.push(String(error)));
    const query = new URLSearchParams({ room, name, ...(transports ? { transports: transports.join() } : {}) });
    await it.page.goto(`${road.url}/e2e/page/index.html?${query}`);
    await until(`${name} has joined`, () => it.has("synced"), 20_000);
    return it;
  }

  /** Runs in the page, with `window.participant` first. */
  run(act, argument) {
    return this.page.evaluate(`(${act})(window.participant, ${JSON.stringify(argument)})`);
  }

  async close() {
    await (this.ownsContext ? this.context : this.page).close();
  }

  /** As a person closes a tab. */
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
    return this.run(({ told }) => told.events);
  }

  async has(event) {
    return this.run((it, event) => it?.told.events.includes(event) ?? false, event);
  }

  /** The transactions as they came; long ones by their beginnings. */
  texts() {
    return this.run(({ told }) => told.texts.map(({ text }) => text.slice(0, 40)));
  }

  /** Waits until `count` transactions have come after this call. */
  async gotMore(count, timeout) {
    return this.got((await this.texts()).length + count, timeout);
  }

  /** Waits until `count` transactions have come in all, and gives their texts. */
  async got(count, timeout) {
    const length = () => this.run(({ told }) => told.texts.length);
    let last;
    try {
      await until(`${count} transactions`, async () => (last = await length()) >= count, timeout);
    } catch (error) {
      throw new Error(`${error.message}; there were ${last}`);
    }
    return this.texts();
  }
}
