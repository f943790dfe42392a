/** Shows the room's name, the state of the connection, and in a stored room whether all changes are saved. */

import type { Durability, Status } from "groupwire";
import { button, make, part } from "./dom";

const WORDS: Readonly<Record<Status, string>> = {
  connecting: "Connecting…",
  connected: "Connected",
  reconnecting: "Reconnecting. Your changes are kept.",
  closed: "Disconnected",
};

/** Operations that wait for longer than this (ms) are shown as "Sending…"; a round trip takes less. */
const SLOW = 1500;

/** Those that wait for longer than this (ms) are shown as "Saving…" in a stored room, so that the word does not flicker. */
const SAVING = 250;

export interface PlaceOptions {
  readonly app: string;
  /** The application's logo, as SVG on a square of 32. */
  readonly mark: string;
  readonly room: string;
  readonly onHelp: () => void;
}

/** What is shown of a room. */
export interface PlaceState {
  readonly status: Status;
  /** The number of own operations that the room has not confirmed. */
  readonly pending: number;
  readonly durability: Durability | undefined;
}

export class Place {
  private readonly dot = make("span", "dot");
  private readonly words = make("span", "words");
  private readonly saved = make("span", "saved");
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
    this.saved.dataset.testid = "saved";
    line.append(this.dot, this.words, this.saved);
    text.append(name, line);
    const help = button({ icon: "help", label: "Keyboard shortcuts", key: "?", testid: "help", onPress: onHelp });
    part("place").append(mark, text, help);
    document.title = `${room} · ${app}`;
  }

  update({ status, pending, durability = "memory" }: PlaceState): void {
    this.waitingSince = pending > 0 ? (this.waitingSince ?? performance.now()) : undefined;
    const waited = this.waitingSince === undefined ? 0 : performance.now() - this.waitingSince;
    const isStored = status === "connected" && durability !== "memory";
    const isSlow = status === "connected" && !isStored && waited > SLOW;
    write(this.words, isSlow ? "Sending…" : WORDS[status]);
    write(this.saved, !isStored ? "" : waited > SAVING ? "Saving…" : "Saved");
    this.dot.dataset.status = status;
  }
}

/** Leaves equal text alone, so that screen readers do not read it again. */
function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
