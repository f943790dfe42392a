// Plays a participant with the TypeScript client in Node. conformance/README.md has the commands.

import { createInterface } from "node:readline";
import { awareness, connect, transaction } from "../../web/client/dist/node.js";
import { counter, list, lock, map, shared, turns } from "../../web/client/dist/shared.js";

let room;
/** Resolves the promise of the token that the room waits for. */
let giveToken;
let data;
const channels = new Map();
let log = [];

const COMMANDS = {
  hello: () => ({ language: "TypeScript", can: ["shared"] }),
  join,
  open({ channel, kind }) {
    const opened = room.channel(channel, kind === "awareness" ? awareness() : transaction());
    if (channels.has(channel)) return;
    channels.set(channel, opened);
    opened.on("message", (message) => note("message", channel, message));
    opened.on("direct", (message) => note("direct", channel, message));
  },
  send: ({ channel, text, key }) => ({ sent: channels.get(channel).send(text, key === undefined ? {} : { key }) }),
  sendTo: async ({ channel, to, text }) => ({ outcome: await channels.get(channel).sendTo(to, text) }),
  confirm: () => until(() => room.pending === 0),
  presence: ({ presence }) => room.setPresence(JSON.parse(presence)),
  token({ token }) {
    if (!giveToken) return room.setToken(token);
    giveToken(token);
    giveToken = undefined;
  },
  state: () => ({ id: room.self?.id ?? 0, status: room.status, pending: room.pending, people: people() }),
  events() {
    const events = log;
    log = [];
    return { events };
  },
  share() {
    const kinds = { shapes: map(), texts: list(), likes: counter(), pen: lock(), game: turns() };
    data = shared(kinds).open(room);
  },
  put: ({ key, value }) => void data.shapes.set(key, JSON.parse(value)),
  patch: ({ key, value }) => void data.shapes.patch(key, JSON.parse(value)),
  remove: ({ key }) => void data.shapes.delete(key),
  push: ({ value }) => void data.texts.push(JSON.parse(value)),
  insert: ({ at, value }) => void data.texts.insert(at, JSON.parse(value)),
  change: ({ at, value }) => void data.texts.set(data.texts.ids[at], JSON.parse(value)),
  move: ({ at, place }) => void data.texts.move(data.texts.ids[at], place),
  delete: ({ at }) => void data.texts.delete(data.texts.ids[at]),
  add: ({ by }) => void data.likes.add(by),
  group({ key, value, by }) {
    data.batch(() => {
      data.shapes.set(key, JSON.parse(value));
      data.likes.add(by);
    });
  },
  undo: () => void data.undo(),
  redo: () => void data.redo(),
  acquire: () => void data.pen.acquire(),
  release: () => void data.pen.release(),
  joinTurns: () => void data.game.join(),
  leaveTurns: () => void data.game.leave(),
  nextTurn: () => void data.game.next(),
  data: () => ({
    shapes: Object.fromEntries(data.shapes.value),
    texts: data.texts.value,
    likes: data.likes.value,
    holder: data.pen.holder ?? 0,
    isMine: data.pen.isMine,
    turns: data.game.value,
    pending: data.pending,
  }),
  leave: () => room?.leave(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = (await COMMANDS[command.do](command)) ?? {};
  } catch (error) {
    answer = { error: error.code ?? "unknown", text: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);

/** Joins, and answers with the id, or with the first error of the room. */
async function join({ url, room: name, token = "", presence, renews }) {
  let isFirst = true;
  const tokens = () => {
    if (isFirst) {
      isFirst = false;
      return token;
    }
    log.push({ event: "token" });
    return new Promise((resolve) => (giveToken = resolve));
  };
  const shown = presence === undefined ? {} : { presence: JSON.parse(presence) };
  room = connect(url, name, { token: renews ? tokens : token, ...shown });
  let failed;
  room.on("error", (error) => {
    // A server that does not answer in time is tried again.
    if (error.code !== "silent") failed ??= error;
    log.push({ event: "error", code: error.code });
  });
  // The runner shows what was printed if a command is not answered.
  room.on("problem", (problem) => console.error(`problem: ${problem?.message ?? "none"}`));
  room.on("gap", ({ reason }) => log.push({ event: "gap", reason }));
  room.on("status", (status) => {
    console.error(`status: ${status}`);
    log.push({ event: "status", status });
  });
  await until(() => failed || room.status === "connected");
  if (room.status === "connected") return { id: room.self.id };
  room.leave();
  throw failed;
}

function note(event, channel, { data, sender, own, state, key }) {
  log.push({ event, channel, text: String(data), sender, own, state, ...(key === undefined ? {} : { key }) });
}

function people() {
  return [...room.participants.values()].map(({ id, away, presence }) => {
    return { id, away, presence: presence === undefined ? "" : JSON.stringify(presence) };
  });
}

/** Waits for a condition. Events of several objects can make it true, so it looks often. */
async function until(isTrue) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2));
}
