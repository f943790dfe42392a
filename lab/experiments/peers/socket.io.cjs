// Socket.IO over WebSocket, as its documentation has a broadcast; with a tick, one event of all that came within it.

const { createServer } = require("node:http");
const { Server } = require("socket.io");
const { announce, tick, version } = require("./common.cjs");

const http = createServer();
const io = new Server(http, { transports: ["websocket"] });
http.listen(0, "127.0.0.1", () =>
  announce(http.address().port, `Socket.IO ${version("socket.io")}, Node ${process.versions.node}`),
);

let waiting = [];
io.on("connection", (socket) => {
  socket.on("pointer", (pointer) => {
    if (tick === 0) io.emit("pointer", pointer);
    else waiting.push(pointer);
  });
});

if (tick > 0) {
  setInterval(() => {
    if (waiting.length === 0) return;
    io.emit("pointers", waiting);
    waiting = [];
  }, tick);
}
