// An agent and two pages edit one shared list and one Yjs text at the same time, and have the same
// at the end. The agent is `groupwire agent`, driven by the official SDK of the Model Context
// Protocol. Of the Yjs text it quotes what it changes, while the others move it.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { servePages } from "./pages.mjs";
import { random } from "./random.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { closeAll, launch, Window } from "./window.mjs";

/** How many edits all make together. GROUPWIRE_AGENT_STEPS sets another number. */
const STEPS = Number(process.env.GROUPWIRE_AGENT_STEPS ?? 150);

const SEED = Number(process.env.GROUPWIRE_SEED ?? 1);

const root = fileURLToPath(new URL("agent-page/", import.meta.url));
const room = "plan";

let browser, server, pages;
const windows = [];
const agents = [];

before(async () => {
  [browser, server, pages] = await Promise.all([launch(), Server.start("--origin", "*"), servePages(root)]);
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
  await closeAll(windows);
});
after(async () => {
  await browser?.close();
  await pages?.close();
  await server?.kill();
});

async function openWindow(name) {
  const query = new URLSearchParams({ server: server.url, name });
  const window = await new Window("seen").open(browser, `${pages.address}?${query}`, name);
  windows.push(window);
  return window;
}

/**
 * Starts an agent that has joined the room. The result calls a tool, and throws its error, whose
 * name is its code.
 */
async function openAgent() {
  const client = new Client({ name: "groupwire-e2e", version: "0.1.0" });
  const command = process.env.GROUPWIRE_BINARY;
  const url = server.url.replace("http", "ws");
  const args = ["agent", "--server", url, "--room", room, "--name", "Tidy bot", "--max-changes", "1000"];
  await client.connect(new StdioClientTransport({ command, args }));
  agents.push(client);
  const call = async (name, more = {}) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: { room, ...more } });
    if (isError) throw Object.assign(new Error(structuredContent.message), { name: structuredContent.code });
    return structuredContent;
  };
  await call("join_room");
  return call;
}

/** Makes an edit with the agent's tools. Returns false if others were faster. */
async function editAsAgent(call, next, words) {
  const below = (limit) => Math.floor(next() * limit);
  try {
    if (below(2) === 0) {
      const { entries } = await call("read_shared", { name: "tasks", kind: "list", limit: 100 });
      const id = entries[below(entries.length)]?.id;
      const index = below(entries.length + 1);
      const changes = [
        { do: "list_insert", name: "tasks", index, value: words },
        ...(id === undefined
          ? []
          : [
              { do: "list_set", name: "tasks", id, value: words },
              { do: "list_move", name: "tasks", id, index },
            ]),
        ...(entries.length > 5 ? [{ do: "list_delete", name: "tasks", id }] : []),
      ];
      await call("change_shared", { changes: [changes[below(changes.length)]] });
      return true;
    }
    const { content = "" } = await call("read_text", { text: "notes" }).catch(() => ({}));
    const line = content.split("\n")[below(content.split("\n").length)];
    const from = below(Math.max(1, line.length - 6));
    const quote = line.slice(from, from + 6);
    const edits = quote
      ? [
          { do: "replace", quote, occurrence: 1, text: `${quote.slice(0, 2)}${words}` },
          { do: "insert_after", quote, occurrence: 1, text: words },
          { do: "insert_before", quote, occurrence: 1, text: words },
          { do: "delete", quote, occurrence: 1 },
          { do: "add_paragraph", after: quote, occurrence: 1, text: words },
        ]
      : [{ do: "add_paragraph", text: words }];
    await call("edit_text", { text: "notes", kind: "text", edits: [edits[below(edits.length)]] });
    return true;
  } catch (error) {
    // Another participant has deleted the words or the item since the agent read them.
    if (!["no-such-quote", "no-such-item"].includes(error.name)) throw error;
    return false;
  }
}

/** The list and the text as the agent reads them. */
async function readAsAgent(call) {
  const list = [];
  for (let skip = 0; skip !== null;) {
    const part = await call("read_shared", { name: "tasks", kind: "list", limit: 100, skip });
    list.push(...part.entries.map(({ value }) => value));
    skip = part.next_skip;
  }
  let text = "";
  for (let skip = 0; skip !== null;) {
    const part = await call("read_text", { text: "notes", skip });
    text += part.content;
    skip = part.next_skip;
  }
  return { list, text };
}

const readPage = async (window) => ({ list: await window.read("list"), text: await window.read("text") });

test(
  "an agent and two pages edit a list and a text, and have the same at the end",
  { timeout: 120_000 + 1000 * STEPS },
  async (t) => {
    const [ada, bo] = [await openWindow("Ada"), await openWindow("Bo")];
    const call = await openAgent();
    const steps = Math.ceil(STEPS / 3);
    let late = 0;
    const page = async (window, name, seed) => {
      const next = random(seed);
      for (let step = 0; step < steps; step += 1) {
        const edit = [Math.floor(next() * 7), next(), `${name}${step}`];
        await window.page.evaluate((edit) => window.seen.edit(...edit), edit);
      }
    };
    const agent = async () => {
      const next = random(SEED + 2);
      for (let step = 0; step < steps; step += 1) {
        if (!(await editAsAgent(call, next, `bot${step}`))) late += 1;
      }
    };
    await Promise.all([page(ada, "ada", SEED), page(bo, "bo", SEED + 1), agent()]);
    t.diagnostic(`seed ${SEED}: ${3 * steps} steps; ${late} times others were faster than the agent`);

    for (const window of [ada, bo]) await until("saved", () => window.read("saved"));
    let all;
    const same = async () => {
      all = await Promise.all([readPage(ada), readPage(bo), readAsAgent(call)]);
      return all.every((one) => JSON.stringify(one) === JSON.stringify(all[0]));
    };
    await until("the same list and text", same).catch(() => assert.deepEqual(all, [all[0], all[0], all[0]]));
    const { list, text } = all[0];
    for (const name of ["ada", "bo", "bot"]) {
      assert.ok(list.some((task) => task.startsWith(name)) || text.includes(name), `${name} has written something`);
    }
    assert.deepEqual(await bo.read("shown"), [list, text], "the page shows it");
    assert.ok(late < steps / 2, `the agent came too late ${late} times of ${steps}`);
  },
);

test("people see an agent that edits, its step can be taken back, and theirs stays", async () => {
  const ada = await openWindow("Ada");
  await ada.page.evaluate(() => window.seen.edit(4, 0, "Ada begins."));
  await until("Ada's words", () => ada.read("saved"));
  const before = await ada.read("text");
  const call = await openAgent();
  const { texts } = await call("read_text");
  assert.deepEqual(texts, [{ text: "notes", kind: "text" }]);
  const edits = [{ do: "insert_after", quote: "Ada begins.", text: " The bot goes on." }];
  assert.deepEqual(await call("edit_text", { text: "notes", edits }), { changed: true, confirmed: true });
  await until("the bot's words", async () => (await ada.read("text")).includes("The bot goes on."));
  const bot = await until("the bot's cursor", async () =>
    (await ada.read("users")).find(({ user, cursor }) => user?.agent === true && cursor),
  );
  assert.equal(bot.user.name, "Tidy bot");
  assert.deepEqual(Object.keys(bot.cursor), ["anchor", "head"]);
  assert.ok((await ada.read("people")).some(({ name, agent }) => name === "Tidy bot" && agent === true));

  await ada.page.evaluate(() => window.seen.edit(4, 1, "Ada again."));
  assert.equal((await call("undo", { document: "yjs" })).undone, true);
  await until("the undo", async () => !(await ada.read("text")).includes("The bot"));
  assert.equal(await ada.read("text"), `${before}Ada again. `);
  await assert.rejects(call("send_message", { channel: "yjs", text: "x" }), { name: "invalid-argument" });
});
