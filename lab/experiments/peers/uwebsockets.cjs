// Bun's WebSocket server, which is uWebSockets, with its publish to a topic; with a tick, one message of all that came
// within it. Run it with bun.

const { announce, tick } = require("./common.cjs");

let waiting = [];
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request, server) {
    if (!server.upgrade(request)) return new Response("a WebSocket is expected", { status: 426 });
  },
  websocket: {
    open: (socket) => socket.subscribe("room"),
    message(_, message) {
      if (tick === 0) server.publish("room", message);
      else waiting.push(message);
    },
  },
});
announce(server.port, `uWebSockets in Bun ${Bun.version}`);

if (tick > 0) {
  setInterval(() => {
    if (waiting.length === 0) return;
    server.publish("room", `[${waiting.join(",")}]`);
    waiting = [];
  }, tick);
}
