// A participant that notes all it is told. The address says room, transports and presence.

import { awareness, connect, transaction } from "../client/dist/index.js";

const { searchParams } = new URL(location.href);
const transports = searchParams.get("transports")?.split(",");
const options = { presence: searchParams.get("name"), ...(transports ? { transports } : {}) };
const room = connect(location.origin, searchParams.get("room"), options);
const draw = room.channel("draw", transaction());
const pointer = room.channel("pointer", awareness({ maxRate: 25, deadline: 1000 }));

/** What was told: transactions and pointers as texts, and everything else by name. */
const told = { texts: [], pointers: [], events: [], moves: [], errors: [] };
draw.on("message", ({ data }) => told.texts.push({ text: data, at: performance.now() }));
pointer.on("message", ({ data, own }) => own || told.pointers.push(data));
room.on("status", (status) => told.events.push(status));
room.on("synced", () => told.events.push("synced"));
room.on("gap", ({ reason }) => told.events.push(reason));
room.on("error", ({ code, message }) => told.errors.push(`${code}: ${message}`));
room.on("transport", ({ name, why }) => told.moves.push({ name, why, at: performance.now() }));

let chatter;

window.participant = {
  room,
  told,
  draw: (text) => draw.send(text),
  point: (text) => pointer.send(text),
  /** Random text, which no compressor makes smaller by much. */
  drawRandom(length) {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil((length * 3) / 4)));
    let text = "";
    for (let at = 0; at < bytes.length; at += 3000) text += btoa(String.fromCharCode(...bytes.subarray(at, at + 3000)));
    return draw.send(text.slice(0, length));
  },
  /** A transaction every so often, numbered, until the next call. */
  chatter(prefix, interval) {
    clearInterval(chatter);
    if (!prefix) return;
    let n = 0;
    chatter = setInterval(() => draw.send(`${prefix}${n++}`), interval);
  },
  /** The longest time, in milliseconds, between two transactions that came after `since`. */
  longestGap(since) {
    const times = told.texts.map(({ at }) => at).filter((at) => at >= since);
    return Math.max(0, ...times.slice(1).map((at, i) => at - times[i]));
  },
};
