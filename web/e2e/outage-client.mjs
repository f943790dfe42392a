// A program that joins a room, for outage.test.mjs: it writes each event as a line of JSON.
// Arguments: the server, the room, the WebSocket (`own`: that of the platform, `ws`: of the
// package), and what to do: nothing, `leave` the room at once, or `write` numbered transactions,
// each with the name that follows, until something is written into the program's standard input.

import { connect, transaction } from "groupwire";

/** Milliseconds between two transactions. */
const INTERVAL_MS = 20;

const [, , server, name, socket, action, prefix] = process.argv;
const options = socket === "ws" ? { WebSocket: (await import("ws")).default } : {};
const tell = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

const room = connect(server, name, options);
const draw = room.channel("draw", transaction());
room.on("status", (status) => tell({ status }));
room.on("problem", (problem) => tell({ problem: problem ?? null }));
room.on("gap", ({ reason }) => tell({ gap: reason }));
room.on("error", ({ code, message, fatal }) => tell({ error: { code, message, fatal } }));
let received = 0;
draw.on("message", ({ data }) => {
  received += 1;
  tell({ message: data });
});
// Without a part of the snapshot a stored room takes 32 MB and then no more.
room.provideSnapshot(() => `${received} messages`, { channels: [draw] });
if (action === "leave") room.leave();
if (action === "write") write();
tell({ began: true });

function write() {
  let sent = 0;
  const timer = setInterval(() => draw.send(`${prefix}${sent}`) !== "not-now" && (sent += 1), INTERVAL_MS);
  process.stdin.once("data", () => {
    clearInterval(timer);
    tell({ sent });
  });
}
