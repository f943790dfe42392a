// A program that joins a room, for outage.test.mjs: it writes each event as a line of JSON. Arguments: the server, the room, the
// WebSocket (`own`: that of the platform, `ws`: of the package), and `leave` to leave the room at once.

import { connect, transaction } from "groupwire";

const [, , server, name, socket, leaves] = process.argv;
const options = socket === "ws" ? { WebSocket: (await import("ws")).default } : {};
const tell = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

const room = connect(server, name, options);
room.on("status", (status) => tell({ status }));
room.on("problem", (problem) => tell({ problem: problem ?? null }));
room.on("error", ({ code, message, fatal }) => tell({ error: { code, message, fatal } }));
room.channel("draw", transaction()).on("message", ({ data }) => tell({ message: data }));
if (leaves === "leave") room.leave();
tell({ began: true });
