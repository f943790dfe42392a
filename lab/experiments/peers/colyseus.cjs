// Colyseus over WebSocket. Without a tick each message is broadcast when it comes, as its documentation has it for events;
// with one a message changes the room's state, whose changes go out once a tick: its way for what moves.

const { createServer } = require("node:http");
const { matchMaker, Room, Server } = require("@colyseus/core");
const { schema, t: type } = require("@colyseus/schema");
const { WebSocketTransport } = require("@colyseus/ws-transport");
const { announce, tick, version } = require("./common.cjs");

// Holds what a message says, in the smallest types that it fits into. Clients know the rest: type and tool.
const Pointer = schema({ x: type.uint16(), y: type.uint16(), n: type.uint32(), t: type.float64() }, "Pointer");
const State = schema({ pointers: type.map(Pointer) }, "State");

class Events extends Room {
  autoDispose = false;
  patchRate = null;

  onCreate() {
    this.onMessage("pointer", (_, message) => this.broadcast("pointer", message));
  }
}

class Synchronised extends Room {
  autoDispose = false;
  patchRate = tick;
  state = new State();

  onCreate() {
    this.onMessage("pointer", (_, { id, x, y, n, t }) => {
      let pointer = this.state.pointers.get(id);
      if (!pointer) {
        pointer = new Pointer();
        this.state.pointers.set(id, pointer);
      }
      pointer.assign({ x, y, n, t });
    });
  }
}

const http = createServer();
const server = new Server({ greet: false, transport: new WebSocketTransport({ server: http }) });
server.define("pointers", tick > 0 ? Synchronised : Events);
server.listen(0, "127.0.0.1").then(async () => {
  // Everybody joins this room, however many do at a time.
  await matchMaker.createRoom("pointers", {});
  announce(http.address().port, `Colyseus ${version("@colyseus/core")}, Node ${process.versions.node}`);
});
