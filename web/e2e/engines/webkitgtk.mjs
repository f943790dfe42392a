// WebKitGTK's MiniBrowser, driven by WebDriver (https://www.w3.org/TR/webdriver2/), on a display
// that nobody sees.

import { Page } from "./page.mjs";
import { Program } from "./program.mjs";
import { freePort } from "../../../scripts/ports.mjs";

/** The display, large enough for the windows, which have no window manager. */
const SCREEN = "1280x1000x24";

/** The browser of this file as an engine: see run.mjs. WebKitGTK has no WebTransport. */
export const WEBKITGTK = {
  name: "WebKitGTK",
  needs: ["WebKitWebDriver", "Xvfb"],
  transports: ["websocket", "multipart", "iframe", "longpoll", "poll"],
  launch: () => WebKitGTK.launch(),
};

class WebKitGTK {
  #xvfb;
  #display;

  static async launch() {
    const webkit = new WebKitGTK();
    webkit.#xvfb = new Program("Xvfb", ["-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp"]);
    webkit.#display = `:${(await webkit.#xvfb.printed(/^(\d+)\n/m))[1]}`;
    return webkit;
  }

  /**
   * Opens a window of a new user: a browser of its own, because a driver has one session, and its
   * windows share their storage.
   */
  async open() {
    return new Page(await Session.open(this.#display));
  }

  async close() {
    await this.#xvfb?.end();
  }
}

/** What page.mjs asks of a driver. */
class Session {
  #driver;
  #url;

  static async open(display) {
    const session = new Session();
    const port = await freePort();
    session.#driver = new Program("WebKitWebDriver", [`--port=${port}`], { DISPLAY: display });
    session.#url = `http://127.0.0.1:${port}`;
    const isReady = () =>
      session.#command("GET", "/status").then(
        ({ ready }) => ready,
        () => false,
      );
    await session.#driver.started(isReady);
    const { sessionId } = await session.#command("POST", "/session", { capabilities: {} });
    session.#url += `/session/${sessionId}`;
    return session;
  }

  goto(url) {
    return this.#command("POST", "/url", { url });
  }

  reload() {
    return this.#command("POST", "/refresh", {});
  }

  evaluate(expression) {
    return this.#command("POST", "/execute/sync", { script: `return ${expression}`, args: [] });
  }

  perform(actions) {
    return this.#command("POST", "/actions", { actions });
  }

  /**
   * Closes the window as a person does, who goes on with another one. With the last one the browser
   * may end before it has told the page.
   */
  async closeWindow() {
    const { handle } = await this.#command("POST", "/window/new", { type: "window" });
    await this.#command("DELETE", "/window");
    await this.#command("POST", "/window", { handle });
  }

  async close() {
    // With the last window, the session ends.
    await this.#command("DELETE", "/window");
    await this.#driver.end();
  }

  async #command(method, path, body) {
    const answer = await fetch(this.#url + path, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`);
    return value;
  }
}
