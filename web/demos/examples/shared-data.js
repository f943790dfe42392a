// A list that everybody edits, with undo (guide, "Shared data")
import { connect } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { list, shared } from "groupwire/shared";
import { z } from "zod";

root.innerHTML = `
  <form id="add">
    <input id="text" aria-label="New task" maxlength="200" required />
    <button>Add</button>
  </form>
  <ul id="tasks" aria-label="Tasks"></ul>
  <button id="undo">Undo</button>
  <p id="status" role="status"></p>`;

const board = defineRoom({
  shared: shared({
    tasks: list(z.object({ text: z.string().max(200), done: z.boolean() })),
  }),
});

const demo = board.join(connect, "http://127.0.0.1:8080", "demo");

const element = (id) => root.getElementById(id);

function showTasks(shared, items, undo) {
  const show = () => {
    items.replaceChildren(...shared.tasks.ids.map((id) => taskItem(shared, id)));
    undo.disabled = !shared.canUndo;
  };
  undo.addEventListener("click", () => shared.undo());
  shared.subscribe(show);
  show();
}

function taskItem({ tasks }, id) {
  const task = tasks.get(id);
  const item = document.createElement("li");
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = task.done;
  box.addEventListener("change", () => tasks.set(id, { ...task, done: box.checked }));
  label.append(box, task.text);
  item.append(label);
  return item;
}

function showStatus() {
  const { status, pending, durability } = demo.room.state;
  const saved = durability === "memory" ? "All is sent" : "All is saved";
  element("status").textContent = status !== "connected" ? status : pending ? "Saving…" : saved;
}

demo.room.subscribe(showStatus);
showTasks(demo.shared, element("tasks"), element("undo"));

element("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = element("text");
  demo.shared.tasks.push({ text: text.value, done: false });
  text.value = "";
});
