// The browser, the server and the proxy before it of one test file. Participants are closed after
// each test.

import { after, afterEach, before } from "node:test";
import { Participant } from "./participant.mjs";
import { NetworkProxy } from "./proxy.mjs";
import { Server } from "./server.mjs";
import { closeAll, launch } from "./window.mjs";

export class Network {
  browser;
  server;
  proxy;
  people = [];
  #contexts = [];

  constructor() {
    before(async () => {
      [this.browser, this.server] = await Promise.all([launch(), Server.start()]);
      this.proxy = await NetworkProxy.to(this.server);
    });
    afterEach(async () => {
      this.proxy.open();
      try {
        await closeAll(this.people);
      } finally {
        await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
      }
    });
    after(async () => {
      await this.browser?.close();
      this.proxy?.close();
      await this.server?.kill();
    });
  }

  /** A browser context for several tabs of one user. */
  async newContext() {
    const context = await this.browser.newContext();
    this.#contexts.push(context);
    return context;
  }

  /** Opens a page of a new participant. */
  async join(room, name, settings = {}) {
    const person = await Participant.open(this.browser, this.proxy, room, { name, ...settings });
    this.people.push(person);
    return person;
  }
}
