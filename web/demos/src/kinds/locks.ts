/** Who may edit what: locks that one window holds at a time. */

import { lock, map, shared } from "groupwire/shared";
import { h, newId } from "../dom.js";
import type { DemoWindow, Kind, Running } from "../kind.js";

/** The parts of a page that one person edits at a time. */
const PARTS = ["Title", "Summary"];

const page = shared({ Title: lock(), Summary: lock(), texts: map() });

const TEXTS: Readonly<Record<string, string>> = {
  Title: "Plan for Friday",
  Summary: "Tea at four, cake at five.",
};

export const locks: Kind = {
  title: "Locks: one at a time",
  hint: "Press Edit in one window: the other one sees who edits, and can take over only when the first has finished.",
  counts: [2],
  network: { delay: 60 },
  channels: { shared: { name: "Locks and texts", asks: "each one reaches everybody once, in one order" } },
  open,
};

function open({ person, room, body }: DemoWindow): Running {
  const data = page.open(room);
  const shows = PARTS.map((part) => {
    const lock = data[part as "Title" | "Summary"];
    const id = newId("part");
    const input = h("input", { id, maxlength: 80 });
    const who = h("span", { class: "who", role: "status" });
    const button = h("button", { type: "button" });
    input.addEventListener("input", () => data.texts.set(part, input.value));
    button.addEventListener("click", () => (lock.isMine ? lock.release() : lock.acquire()));
    const box = h(
      "div",
      { class: "lock" },
      h("label", { for: id }, part),
      input,
      h("div", { class: "row" }, button, who),
    );
    body.append(box);
    return (): void => {
      const { holder, isMine } = lock;
      const isFree = holder === undefined;
      const name = room.participants.get(holder ?? 0)?.presence?.name ?? "Somebody";
      const text = data.texts.get(part) as string | undefined;
      const root = body.getRootNode() as ShadowRoot;
      if (root.activeElement !== input || !isMine) input.value = text ?? TEXTS[part] ?? "";
      input.readOnly = !isMine;
      box.dataset.state = isMine ? "mine" : isFree ? "free" : "taken";
      button.textContent = isMine ? `Finish editing ${part.toLowerCase()}` : `Edit ${part.toLowerCase()}`;
      button.disabled = !isMine && !isFree;
      const words = isMine ? `You, ${person.name}, edit this.` : isFree ? "Nobody edits this." : `${name} edits this.`;
      if (who.textContent !== words) who.textContent = words;
    };
  });
  const show = (): void => shows.forEach((one) => one());
  data.subscribe(show);
  room.on("participants", show);
  show();
  return {};
}
