/** A list that everybody edits at once, with undo: the guide's page "Shared data". */

import { list, shared } from "groupwire/shared";
import { z } from "zod/mini";
import { h, newId } from "../dom.js";
import type { DemoWindow, Kind, Running } from "../kind.js";

const board = shared({ tasks: list(z.object({ text: z.string(), done: z.boolean() })) });

/** What is on the list at the beginning. */
const BEGINNING = ["Buy tea", "Bake a cake"];

export const sharedList: Kind = {
  title: "A list for everybody, with undo",
  hint: "Add, tick and remove tasks in both windows. Undo takes back what its own window did, and nothing that others did.",
  counts: [2],
  settings: { durability: "local" },
  network: { delay: 60 },
  channels: { shared: { name: "Changes of the list", asks: "each one reaches everybody once, in one order" } },
  open,
};

function open({ index, person, room, body, say }: DemoWindow): Running {
  const data = board.open(room);
  const { tasks } = data;
  const field = newId("task");
  const input = h("input", { id: field, maxlength: 60, autocomplete: "off" });
  const items = h("ul", { class: "tasks", "aria-label": `Tasks in ${person.name}'s window`, role: "list" });
  const undo = h("button", { type: "button", click: () => data.undo() }, "Undo");
  const redo = h("button", { type: "button", click: () => data.redo() }, "Redo");
  const form = h(
    "form",
    { class: "row" },
    h("label", { for: field, class: "hidden" }, `New task of ${person.name}`),
    input,
    h("button", { type: "submit" }, "Add"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text) tasks.push({ text, done: false });
    input.value = "";
  });
  body.append(form, items, h("div", { class: "row" }, undo, redo));

  const show = (): void => {
    items.replaceChildren(...tasks.ids.map((id) => item(id)));
    undo.disabled = !data.canUndo;
    redo.disabled = !data.canRedo;
  };
  const item = (id: string): HTMLElement => {
    const task = tasks.get(id) ?? { text: "", done: false };
    const box = h("input", { type: "checkbox", checked: task.done });
    box.addEventListener("change", () => tasks.set(id, { ...task, done: box.checked }));
    const remove = h("button", { type: "button", class: "quiet", "aria-label": `Remove ${task.text}` }, "×");
    remove.addEventListener("click", () => tasks.delete(id));
    return h("li", {}, h("label", {}, box, h("span", {}, task.text)), remove);
  };
  // Elements are made anew, so the reader's place on the page is kept by the item's number.
  const showInPlace = (): void => {
    const root = body.getRootNode() as ShadowRoot;
    const focused = [...items.querySelectorAll("input, button")].indexOf(root.activeElement as HTMLElement);
    show();
    if (focused >= 0) (items.querySelectorAll<HTMLElement>("input, button")[focused] ?? input).focus();
  };
  data.subscribe(showInPlace);
  room.subscribe(({ pending }) => say(pending ? "Saving…" : ""));
  show();
  if (index === 0) room.once("synced", () => BEGINNING.forEach((text) => tasks.push({ text, done: false })));
  return {};
}
