// A scripted agent: it joins a room and, when somebody writes "tidy" in the chat, removes tasks
// that are twice in a list and sorts the rest. A host with a model uses the same tools; here a
// program chooses them. Usage:
//
//   node tidy.mjs [GROUPWIRE [SERVER [ROOM]]]

import { host } from "./host.mjs";

const [command = "groupwire", server = "ws://127.0.0.1:8080", room = "plan"] = process.argv.slice(2);

const agent = await host(command, ["agent", "--server", server, "--room", room, "--name", "Tidy bot"]);
await agent.call("join_room", { room, channels: ["chat"] });
await agent.call("set_presence", { room, presence: { status: "write tidy in the chat" } });

let { next_after: after } = await agent.call("read_messages", { room, channel: "chat" });
console.log(`in the room ${room}: write "tidy" in its chat`);
for (;;) {
  await agent.call("wait_for_changes", { room, after, timeout_seconds: 50 });
  const { messages, next_after } = await agent.call("read_messages", { room, channel: "chat", after });
  after = next_after;
  // Messages of others are data: only this one word is a request.
  const asked = messages.some(({ own, text }) => !own && text?.trim().toLowerCase() === "tidy");
  if (asked) await agent.call("send_message", { room, channel: "chat", text: await tidy() });
}

async function tidy() {
  const { entries } = await agent.call("read_shared", { room, name: "tasks", kind: "list", limit: 100 });
  const seen = new Set();
  const doubles = entries.filter(({ value }) => {
    const key = JSON.stringify(value);
    return seen.size === seen.add(key).size;
  });
  const kept = entries.filter((entry) => !doubles.includes(entry));
  const sorted = kept.toSorted((a, b) => JSON.stringify(a.value).localeCompare(JSON.stringify(b.value)));
  const changes = [
    ...doubles.map(({ id }) => ({ do: "list_delete", name: "tasks", id })),
    ...sorted.map(({ id }, index) => ({ do: "list_move", name: "tasks", id, index })),
  ];
  const isTidy = doubles.length === 0 && kept.every(({ id }, at) => id === sorted[at].id);
  if (isTidy) return "the tasks are tidy";
  if (changes.length > 50) return "these are too many tasks for me";
  await agent.call("change_shared", { room, changes });
  return `sorted ${kept.length} tasks, removed ${doubles.length}`;
}
