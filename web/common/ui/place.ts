/**
 * Shows the room's name, and by `<gw-status>` the connection and in a stored room whether all
 * changes are saved.
 */

import type { Room } from "groupwire";
import "groupwire-widgets/status";
import { button, make, part } from "./dom";

export interface PlaceOptions {
  readonly app: string;
  /** The application's logo, as SVG on a square of 32. */
  readonly mark: string;
  /** The name that is shown. */
  readonly name: string;
  readonly room: Room;
  readonly onHelp: () => void;
}

export function showPlace({ app, mark: path, name: shown, room, onHelp }: PlaceOptions): void {
  const mark = make("span", "mark");
  mark.innerHTML = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9"/>${path}</svg>`;
  const name = make("span", "room", shown);
  name.title = shown;
  const status = document.createElement("gw-status");
  status.room = room;
  const text = make("div", "place-text");
  text.append(name, status);
  const help = button({ icon: "help", label: "Keyboard shortcuts", key: "?", testid: "help", onPress: onHelp });
  part("place").append(mark, text, help);
  document.title = `${shown} · ${app}`;
}
