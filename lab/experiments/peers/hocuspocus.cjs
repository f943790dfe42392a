// Hocuspocus' server without extensions: documents in memory.

const { Server } = require("@hocuspocus/server");
const { announce, version } = require("./common.cjs");

const server = new Server({
  address: "127.0.0.1",
  port: 0,
  quiet: true,
  stopOnSignals: false,
});
server
  .listen()
  .then(() =>
    announce(
      server.httpServer.address().port,
      `Hocuspocus ${version("@hocuspocus/server")}, Node ${process.versions.node}`,
    ),
  );
