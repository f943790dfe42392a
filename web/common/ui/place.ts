/** Shows the room's name and the state of the connection. */

import type { Status } from "groupwire";
import { button, make, part } from "./dom";

const WORDS: Readonly<Record<Status, string>> = {
  connecting: "Connecting…",
  connected: "Connected",
  reconnecting: "Reconnecting. Your changes are kept.",
  closed: "Disconnected",
};

/** Operations that wait for longer than this (ms) are shown as "Sending…"; a round trip takes less. */
const SLOW = 1500;

export interface PlaceOptions {
  readonly app: string;
  /** The application's logo, as SVG on a square of 32. */
  readonly mark: string;
  readonly room: string;
  readonly onHelp: () => void;
}

export class Place {
  private readonly dot = make("span", "dot");
  private readonly words = make("span", "words");
  private waitingSince: number | undefined;

  constructor({ app, mark: path, room, onHelp }: PlaceOptions) {
    const mark = make("span", "mark");
    mark.innerHTML = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9"/>${path}</svg>`;
    const name = make("span", "room", room);
    name.title = room;
    const text = make("div", "place-text");
    const line = make("div", "status");
    line.role = "status";
    line.dataset.testid = "status";
    line.append(this.dot, this.words);
    text.append(name, line);
    const help = button({ icon: "help", label: "Keyboard shortcuts", key: "?", testid: "help", onPress: onHelp });
    part("place").append(mark, text, help);
    document.title = `${room} · ${app}`;
  }

  /** `waiting` is the number of own operations that the room has not ordered yet. */
  update(status: Status, waiting: number): void {
    this.waitingSince = waiting > 0 ? (this.waitingSince ?? performance.now()) : undefined;
    const isSlow = this.waitingSince !== undefined && performance.now() - this.waitingSince > SLOW;
    const words = status === "connected" && isSlow ? "Sending…" : WORDS[status];
    if (this.words.textContent !== words) this.words.textContent = words;
    this.dot.dataset.status = status;
  }
}
