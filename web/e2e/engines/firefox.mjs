// Firefox, driven by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), which it speaks
// without a driver.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Page } from "./page.mjs";
import { isInstalled, Program } from "./program.mjs";

/** Debian's package, and the name elsewhere. */
const NAMES = ["firefox-esr", "firefox"];

/**
 * The page that Firefox starts with is empty, so that no test waits for it. Its own agent switches
 * off all traffic of its own.
 */
const PREFERENCES = { "browser.startup.page": 0, "browser.startup.homepage_override.mstone": "ignore" };

/** The browser of this file as an engine: see run.mjs. */
export const FIREFOX = {
  name: "Firefox",
  needs: [NAMES.find(isInstalled) ?? NAMES[0]],
  transports: ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"],
  launch: (...how) => Firefox.launch(...how),
};

class Firefox {
  #program;
  #profile = mkdtempSync(join(tmpdir(), "groupwire-firefox-"));
  #bidi;

  /**
   * `capabilities` are those of WebDriver, `preferences` some of Firefox's own, `environment` is
   * added to the environment.
   */
  static async launch(capabilities = {}, preferences = {}, environment = {}) {
    const firefox = new Firefox();
    const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
      (entry) => `user_pref(${entry.map((one) => JSON.stringify(one))});`,
    );
    writeFileSync(join(firefox.#profile, "user.js"), lines.join("\n"));
    const options = ["--headless", "--no-remote", "--profile", firefox.#profile, "--remote-debugging-port", "0"];
    firefox.#program = new Program(FIREFOX.needs[0], options, environment);
    const [, address] = await firefox.#program.printed(/WebDriver BiDi listening on (\S+)/);
    firefox.#bidi = await BiDi.connect(`${address}/session`);
    await firefox.#bidi.command("session.new", { capabilities: { alwaysMatch: capabilities } });
    return firefox;
  }

  /** Opens a window of a new user, who shares no storage with others. */
  async open() {
    const { userContext } = await this.#bidi.command("browser.createUserContext");
    // Only the selected tab of a window is drawn.
    const { context } = await this.#bidi.command("browsingContext.create", { type: "window", userContext });
    return new Page(new Tab(this.#bidi, userContext, context));
  }

  async close() {
    await this.#bidi?.command("browser.close");
    await this.#program?.end();
    rmSync(this.#profile, { recursive: true, force: true });
  }
}

/** What page.mjs asks of a driver. */
class Tab {
  #bidi;
  #userContext;
  #context;

  constructor(bidi, userContext, context) {
    this.#bidi = bidi;
    this.#userContext = userContext;
    this.#context = context;
  }

  goto(url) {
    return this.#command("browsingContext.navigate", { url, wait: "complete" });
  }

  reload() {
    return this.#command("browsingContext.reload", { wait: "complete" });
  }

  async evaluate(expression) {
    const parameters = { expression, target: { context: this.#context }, awaitPromise: true };
    const answer = await this.#bidi.command("script.evaluate", parameters);
    if (answer.type === "exception") throw new Error(answer.exceptionDetails.text);
    return answer.result.value;
  }

  perform(actions) {
    return this.#command("input.performActions", { actions });
  }

  closeWindow() {
    return this.#command("browsingContext.close");
  }

  close() {
    return this.#bidi.command("browser.removeUserContext", { userContext: this.#userContext });
  }

  #command(method, params) {
    return this.#bidi.command(method, { context: this.#context, ...params });
  }
}

/** A connection of WebDriver BiDi. */
class BiDi {
  #socket;
  #waiting = new Map();
  #last = 0;

  static connect(url) {
    const bidi = new BiDi();
    bidi.#socket = new WebSocket(url);
    bidi.#socket.onmessage = ({ data }) => bidi.#answered(JSON.parse(data));
    return new Promise((resolve, reject) => {
      bidi.#socket.onopen = () => resolve(bidi);
      bidi.#socket.onclose = () => {
        reject(new Error(`no connection to ${url}`));
        bidi.#waiting.forEach(({ method, reject }) => reject(new Error(`${method}: Firefox has ended`)));
      };
    });
  }

  command(method, params = {}) {
    const id = (this.#last += 1);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { method, resolve, reject }));
  }

  #answered({ id, type, result, error, message }) {
    const { method, resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (type === "success") resolve(result);
    else reject(new Error(`${method}: ${error}: ${message}`));
  }
}
