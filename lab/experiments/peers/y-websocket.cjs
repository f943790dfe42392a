// y-websocket's own server: awareness only, no document.

const { createServer } = require("node:http");
const { WebSocketServer } = require("ws");
const { setupWSConnection } = require("y-websocket/bin/utils");
const { announce, version } = require("./common.cjs");

const http = createServer();
const sockets = new WebSocketServer({ server: http });
sockets.on("connection", setupWSConnection);
http.listen(0, "127.0.0.1", () =>
  announce(http.address().port, `y-websocket ${version("y-websocket")}, Node ${process.versions.node}`),
);
