// The two windows of the whiteboard, and what is noted in them.

import { Board } from "../../../web/e2e/board.mjs";
import { pause } from "../../../web/e2e/wait.mjs";

export const VIEW = { width: 1200, height: 800 };

/**
 * The shortest time between two places that the browser is told, in ms: a mouse tells 125 a second.
 */
const MOUSE = 8;

class Person extends Board {
  static async open(browser, url, name) {
    const person = new this("groupwireBoard");
    person.name = name.toLowerCase();
    await person.open(browser, url, name, { viewport: VIEW });
    await person.page.evaluate(addWatch);
    person.devtools = await person.page.context().newCDPSession(person.page);
    return person;
  }

  begin() {
    return this.page.evaluate(this.constructor.watch);
  }

  end() {
    return this.page.evaluate(() => window.watched());
  }
}

/** The person whose pointer is shown to the other one. */
export class Sender extends Person {
  isOver = false;

  /** Two strokes, so that there is something to see. */
  async draw() {
    await this.drag([
      [150, 600],
      [260, 420],
      [380, 640],
      [520, 430],
    ]);
    await this.choose("rectangle");
    await this.drag([
      [700, 300],
      [960, 480],
    ]);
    await this.choose("pen");
  }

  move({ x, y }) {
    return this.devtools.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  }

  /** Moves the pointer along these places until they end or this is over. */
  async play(places) {
    const start = performance.now();
    let at = 0;
    while (at < places.length && !this.isOver) {
      const now = performance.now() - start;
      let due;
      for (; at < places.length && places[at].time <= now; at++) due = places[at];
      // The answer comes when the page has handled it, which nobody waits for.
      if (due) this.move(due).catch(() => {});
      await pause(Math.max(MOUSE, (places[at]?.time ?? 0) - (performance.now() - start)));
    }
  }

  /** A ring where the pointer is, for the picture: pages without a window show no pointer. */
  mark() {
    return this.page.evaluate(() => {
      const ring = document.createElement("div");
      ring.style.cssText =
        "position:fixed;pointer-events:none;z-index:9999;width:16px;height:16px;margin:-9px;border:2px solid #d00;border-radius:50%";
      const place = ({ clientX, clientY }) => Object.assign(ring.style, { left: `${clientX}px`, top: `${clientY}px` });
      addEventListener("pointermove", place, { capture: true });
      document.body.append(ring);
      return new Promise((resolve) => setTimeout(resolve, 100));
    });
  }

  /**
   * Notes where the pointer is, with every place that the browser has joined into one event, and
   * the state of the connection.
   */
  static watch() {
    const places = [];
    const states = window.watchStates();
    const note = (event) => {
      const all = event.getCoalescedEvents?.() ?? [];
      for (const one of all.length > 0 ? all : [event])
        places.push([performance.timeOrigin + one.timeStamp, one.clientX, one.clientY]);
    };
    addEventListener("pointermove", note, { capture: true });
    window.watched = () => {
      removeEventListener("pointermove", note, { capture: true });
      return { places, states: states() };
    };
  }
}

/** The person to whom the pointer is shown. */
export class Receiver extends Person {
  /**
   * Notes in each frame where the page shows the pointer: where its arrow really is, or null if
   * there is none.
   */
  static watch() {
    const frames = [];
    const states = window.watchStates();
    let isOver = false;
    const layer = document.querySelector("gw-cursors").shadowRoot;
    const after = new MessageChannel();
    // A message comes after all that the page does in the frame.
    after.port1.onmessage = ({ data: now }) => {
      const { transform } = layer.querySelector('[part~="cursor"]')?.style ?? {};
      const [, x, y] = /translate\(([-\d.]+)px, ([-\d.]+)px\)/.exec(transform) ?? [];
      frames.push([
        performance.timeOrigin + now,
        ...[x, y].map((value) => (value === undefined ? null : Number(value))),
      ]);
      if (!isOver) requestAnimationFrame((now) => after.port2.postMessage(now));
    };
    after.port2.postMessage(performance.now());
    window.watched = () => {
      isOver = true;
      return { frames, states: states() };
    };
  }
}

/**
 * Gives a page `watchStates()`, which notes what the page says of its connection and returns a
 * function that returns it.
 */
function addWatch() {
  window.watchStates = () => {
    const states = [];
    const look = () => {
      const transport = document.querySelector('[data-testid="transport-why"]')?.textContent.split(".")[0];
      const said = `${window.groupwireBoard.status}, ${transport}`;
      if (states.at(-1)?.[1] !== said) states.push([performance.timeOrigin + performance.now(), said]);
    };
    look();
    const timer = setInterval(look, 20);
    return () => {
      clearInterval(timer);
      return states;
    };
  };
}
