// The example examples/agent against a server: a scripted agent tidies a list when somebody asks in
// the chat, and others see it as an agent.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect, transaction } from "groupwire";
import { list, shared } from "groupwire/shared";
import { WebSocket } from "ws";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";

const program = fileURLToPath(new URL("../../examples/agent/tidy.mjs", import.meta.url));

let server, example;

before(async () => (server = await Server.start()));
after(async () => {
  example?.kill();
  await server?.kill();
});

test("the agent tidies the tasks when it is asked to, as one step, and only then", { timeout: 120_000 }, async () => {
  const room = connect(server.url, "plan", { transports: ["websocket"], WebSocket, presence: { name: "Ada" } });
  const said = [];
  const chat = room.channel("chat", transaction());
  chat.on("message", ({ data, own }) => own || said.push(data));
  const tasks = shared({ tasks: list() }).open(room).tasks;
  for (const task of ["tea", "bread", "tea", "milk", "bread"]) tasks.push(task);

  const url = server.url.replace("http", "ws");
  example = spawn(process.execPath, [program, process.env.GROUPWIRE_BINARY, url, "plan"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(example.stdout, "data");
  assert.match(String(line), /write "tidy"/);
  const bot = await until("the agent", () =>
    [...room.participants.values()].find(({ presence }) => presence?.agent === true && presence.status),
  );
  assert.equal(bot.presence.name, "Tidy bot");

  chat.send("please do not touch anything");
  chat.send("tidy");
  await until("an answer", () => said.length > 0);
  assert.deepEqual(said, ["sorted 3 tasks, removed 2"]);
  assert.deepEqual(tasks.value, ["bread", "milk", "tea"]);
  chat.send(" Tidy ");
  await until("the second answer", () => said.length > 1);
  assert.equal(said[1], "the tasks are tidy");
  room.leave();
});
