// A window of the puzzle, used as a person uses it, in headless Chromium.

import { until } from "./wait.mjs";
import { Window } from "./window.mjs";

export class Puzzle extends Window {
  /** Opens a window of a new user in `room`. `options` are those of the browser context. */
  static open(browser, server, room, name, options) {
    return new Puzzle("groupwirePuzzle").open(browser, `${server.url}/puzzle/?room=${room}`, name, options);
  }

  /**
   * Fixes the random seed of new puzzles, so that the pieces lie at the same places in each run.
   */
  async prepare(context) {
    await context.addInitScript(() => {
      const random = crypto.getRandomValues.bind(crypto);
      crypto.getRandomValues = (array) => (array instanceof Uint32Array ? array.fill(7) : random(array));
    });
  }

  /** Waits until this window's operations are ordered, and returns the groups of pieces. */
  async settled() {
    await until("ordered", async () => (await this.read("waiting")) === 0);
    return this.read("groups");
  }

  /** Starts a puzzle with this number of pieces. */
  async start(picture, pieces) {
    const { page } = this;
    const game = await this.read("game");
    await page.getByTestId("new").click();
    await page.getByTestId(`picture-${picture}`).click();
    await page.getByTestId(`size-${pieces}`).click();
    await page.getByTestId("start").click();
    await until("a new puzzle", async () => (await this.read("game")) > game);
    await this.rests();
  }

  /** Waits until no piece moves any more. */
  async rests() {
    await until("rest", () => this.read("isStill"));
  }

  /** The position of a piece on the screen. */
  async center(piece) {
    return (await this.read("centers"))[piece];
  }

  /** Grabs a piece at its centre. */
  async grab(piece) {
    const { x, y } = await this.center(piece);
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    return { x, y };
  }

  /** Drags a piece to its place beside another one, a few pixels off, and drops it. */
  async join(piece, other, { columns, rows }) {
    const [zoom, to] = [await this.read("zoom"), await this.center(other)];
    const at = (i) => ({ x: ((i % columns) * 1200) / columns, y: (Math.floor(i / columns) * 900) / rows });
    const [dx, dy] = [at(piece).x - at(other).x, at(piece).y - at(other).y];
    await this.grab(piece);
    const { mouse } = this.page;
    await mouse.move(to.x + dx * zoom - 30, to.y + dy * zoom + 20, { steps: 4 });
    await mouse.move(to.x + dx * zoom + 3, to.y + dy * zoom - 3, { steps: 3 });
    await mouse.up();
    await this.rests();
  }
}

/** The group of a piece. */
export function groupOf(groups, piece) {
  return groups.find(({ pieces }) => pieces.includes(piece));
}
