/** One text in which several people type at once: Yjs over a room. */

import { GroupwireProvider } from "groupwire-yjs";
import { simpleDiffString } from "lib0/diff";
import * as Y from "yjs";
import { h, newId } from "../dom.js";
import type { DemoWindow, Kind, Running } from "../kind.js";

const BEGINNING = "Type here in both windows at once.\nNothing that anybody types gets lost.\n";

export const text: Kind = {
  title: "One text, typed by everybody",
  hint: "Type in both windows, also in the same line. Yjs merges what is typed; Groupwire carries it.",
  counts: [2],
  message: "A message of Yjs",
  network: { delay: 60 },
  channels: {
    yjs: { name: "Changes of the text", asks: "each one reaches everybody once, in one order" },
    "yjs/awareness": { name: "Who is where", asks: "the newest place; some may be missing" },
  },
  open,
};

function open({ index, person, room, body, say }: DemoWindow): Running {
  const doc = new Y.Doc();
  const provider = new GroupwireProvider(room, doc);
  const shared = doc.getText("text");
  const id = newId("text");
  const area = h("textarea", { id, rows: 6, spellcheck: "false" });
  body.append(h("label", { for: id, class: "hidden" }, `Text in ${person.name}'s window`), area);

  area.addEventListener("input", () => {
    const { index: at, remove, insert } = simpleDiffString(shared.toString(), area.value);
    doc.transact(() => {
      shared.delete(at, remove);
      shared.insert(at, insert);
    }, area);
    tellPlace();
  });
  shared.observe((event) => {
    if (event.transaction.origin === area) return;
    const places = [area.selectionStart, area.selectionEnd].map((place) => moved(place, event.delta));
    area.value = shared.toString();
    area.setSelectionRange(places[0] ?? 0, places[1] ?? 0);
    // Text that others insert before the caret moves it.
    tellPlace();
  });

  const { awareness } = provider;
  const tellPlace = (): void => awareness?.setLocalStateField("place", area.selectionStart);
  awareness?.setLocalStateField("user", { name: person.name });
  area.addEventListener("keyup", tellPlace);
  area.addEventListener("click", tellPlace);
  awareness?.on("change", () => {
    const others = [...awareness.getStates()].filter(([client]) => client !== doc.clientID);
    say(others.flatMap(([, state]) => wordsFor(state, shared.toString())).join(" "));
  });
  if (index === 0) void provider.whenSynced.then(() => shared.length === 0 && shared.insert(0, BEGINNING));
  return { stop: () => provider.destroy() };
}

/** Says in which line somebody is. */
function wordsFor(state: Record<string, unknown>, text: string): string[] {
  const { user, place } = state as { user?: { name?: string }; place?: number };
  if (typeof place !== "number" || !user?.name) return [];
  return [`${user.name} is in line ${text.slice(0, place).split("\n").length}.`];
}

/** Where a place is after the changes of somebody else. */
function moved(place: number, delta: Y.YTextEvent["delta"]): number {
  let [at, to] = [0, place];
  for (const { retain = 0, insert = "", delete: removed = 0 } of delta) {
    if (at > to) break;
    const length = typeof insert === "string" ? insert.length : 1;
    to += length - Math.min(removed, Math.max(0, to - at));
    at += retain + length;
  }
  return to;
}
