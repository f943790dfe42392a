// The broadcast server of ws's documentation; with a tick, one message of all that came within it.

const { WebSocketServer, WebSocket } = require("ws");
const { announce, tick, version } = require("./common.cjs");

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () =>
  announce(server.address().port, `ws ${version("ws")}, Node ${process.versions.node}`),
);

const broadcast = (data) => {
  for (const client of server.clients) {
    if (client.readyState === WebSocket.OPEN) client.send(data, { binary: false });
  }
};

let waiting = [];
server.on("connection", (socket) => {
  socket.on("error", console.error);
  socket.on("message", (data) => {
    if (tick === 0) broadcast(data);
    else waiting.push(data.toString());
  });
});

if (tick > 0) {
  setInterval(() => {
    if (waiting.length === 0) return;
    broadcast(Buffer.from(`[${waiting.join(",")}]`));
    waiting = [];
  }, tick);
}
