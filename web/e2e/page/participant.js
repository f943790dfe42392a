// The page of a participant that records everything it receives. The address sets room, transports and presence, and another server than its own.

import { awareness, connect, transaction } from "../client/dist/index.js";

const { searchParams } = new URL(location.href);
const transports = searchParams.get("transports")?.split(",");
const options = { presence: searchParams.get("name"), ...(transports ? { transports } : {}) };
const room = connect(searchParams.get("server") ?? location.origin, searchParams.get("room"), options);
const draw = room.channel("draw", transaction());
const pointer = room.channel("pointer", awareness({ maxRate: 25, deadline: 1000 }));

/** Transactions and pointers as texts, problems (null: none) and moves as they are, and all other events by name. */
const seen = { texts: [], pointers: [], events: [], moves: [], errors: [], problems: [] };
draw.on("message", ({ data }) => seen.texts.push({ text: data, at: performance.now() }));
pointer.on("message", ({ data, own }) => own || seen.pointers.push(data));
room.on("status", (status) => seen.events.push(status));
room.on("synced", () => seen.events.push("synced"));
room.on("gap", ({ reason }) => seen.events.push(reason));
room.on("error", ({ code, message }) => seen.errors.push(`${code}: ${message}`));
room.on("problem", (problem) => seen.problems.push(problem ?? null));
room.on("transport", ({ name, why }) => seen.moves.push({ name, why, at: performance.now() }));

let chatter;
let said = 0;

window.participant = {
  room,
  seen,
  draw: (text) => draw.send(text),
  point: (text) => pointer.send(text),
  /** Sends random text, which no compressor makes much smaller. */
  drawRandom(length) {
    let text = "";
    while (text.length < length) text += btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(3000))));
    return draw.send(text.slice(0, length));
  },
  /** Sends a numbered transaction every `interval` milliseconds until the next call, which returns their number. */
  chatter(prefix, interval) {
    clearInterval(chatter);
    const before = said;
    said = 0;
    if (prefix) chatter = setInterval(() => draw.send(`${prefix}${said++}`), interval);
    return before;
  },
  /** The longest time without a transaction, in milliseconds, since the time `since`. */
  longestGap(since) {
    const times = [since, ...seen.texts.map(({ at }) => at).filter((at) => at >= since)];
    return Math.max(0, ...times.slice(1).map((at, i) => at - times[i]));
  },
};
