/** The page: who is here, the tasks, and whether all is saved. */

import { connect } from "groupwire";
import { showCursors } from "./cursors";
import { me, name, rename, url } from "./place";
import { board } from "./room";
import { statusText } from "./status";
import "./style.css";

const demo = board.join(connect, url, name, { presence: me });
const { room, shared } = demo;
const { tasks } = shared;

const element = <Type extends HTMLElement = HTMLElement>(id: string): Type => document.getElementById(id) as Type;
const undo = element<HTMLButtonElement>("undo");
const redo = element<HTMLButtonElement>("redo");

function showPeople(): void {
  const others = [...demo.participants.values()].filter(({ away }) => !away);
  element("people").replaceChildren(
    ...others.map(({ presence }) => {
      const item = document.createElement("li");
      item.textContent = presence?.name ?? "Somebody";
      item.style.setProperty("--color", presence?.color ?? "gray");
      return item;
    }),
  );
}

function showTasks(): void {
  element("tasks").replaceChildren(...tasks.ids.map(taskItem));
  undo.disabled = !shared.canUndo;
  redo.disabled = !shared.canRedo;
}

function taskItem(id: string): HTMLElement {
  const task = tasks.get(id) ?? { text: "", done: false };
  const [item, label, box, text, remove] = (["li", "label", "input", "span", "button"] as const).map((tag) =>
    document.createElement(tag),
  ) as [HTMLLIElement, HTMLLabelElement, HTMLInputElement, HTMLSpanElement, HTMLButtonElement];
  box.type = "checkbox";
  box.checked = task.done;
  box.onchange = () => tasks.set(id, { ...task, done: box.checked });
  text.textContent = task.text;
  remove.textContent = "✕";
  remove.ariaLabel = `Remove ${task.text}`;
  remove.onclick = () => tasks.delete(id);
  label.append(box, text);
  item.append(label, remove);
  return item;
}

element("room").textContent = name;
element<HTMLInputElement>("name").value = me.name;
element("name").oninput = () => {
  me.name = element<HTMLInputElement>("name").value;
  rename(me.name);
  demo.setPresence(me);
};
element<HTMLFormElement>("add").onsubmit = (event) => {
  event.preventDefault();
  const text = element<HTMLInputElement>("text");
  tasks.push({ text: text.value, done: false });
  text.value = "";
};
undo.onclick = () => shared.undo();
redo.onclick = () => shared.redo();

const showStatus = (): void => {
  element("status").textContent = statusText(room.state);
};
room.on("participants", showPeople);
room.subscribe(showStatus);
shared.subscribe(showTasks);
showCursors(demo, element("board"));
showPeople();
showTasks();
showStatus();
addEventListener("hashchange", () => location.reload());
