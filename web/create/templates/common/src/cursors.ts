/** The pointers of the others, above an element of the page. */

import { follow } from "groupwire/motion";
import type { BoardRoom } from "./room";

/**
 * Shows the others' pointers above `area`, and tells the others where the own one is. Returns a
 * function that ends it.
 *
 * A place is the share of the area's width and the pixels from its top, because windows are not
 * equally wide.
 */
export function showCursors(room: BoardRoom, area: HTMLElement): () => void {
  const { cursor } = room.channels;
  const shown = new Map<number, HTMLElement>();
  const end = new AbortController();

  const followed = follow(room.room, cursor.channel, {
    draw: (views) => {
      const here = views.filter(({ isGone }) => !isGone);
      const ids = new Set(here.map(({ sender }) => sender));
      for (const [id, element] of shown) {
        if (ids.has(id)) continue;
        element.remove();
        shown.delete(id);
      }
      for (const { sender, place } of here) {
        const [x = 0, y = 0] = place;
        const { name = "", color = "" } = room.participants.get(sender)?.presence ?? {};
        const element = shown.get(sender) ?? area.appendChild(newCursor());
        shown.set(sender, element);
        element.lastElementChild!.textContent = name;
        element.style.setProperty("--color", color);
        element.style.left = `${x * 100}%`;
        element.style.translate = `0 ${y}px`;
      }
    },
  });

  area.addEventListener(
    "pointermove",
    ({ clientX, clientY }) => {
      const { left, top, width } = area.getBoundingClientRect();
      cursor.send([(clientX - left) / width, clientY - top]);
    },
    { signal: end.signal },
  );
  area.addEventListener("pointerleave", () => cursor.send(null), { signal: end.signal });

  return () => {
    end.abort();
    followed.stop();
    for (const element of shown.values()) element.remove();
  };
}

function newCursor(): HTMLElement {
  const element = document.createElement("div");
  element.className = "cursor";
  element.ariaHidden = "true";
  element.append(document.createElement("i"), document.createElement("span"));
  return element;
}
