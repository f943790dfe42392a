import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { WebSocketLink } from "../src/transport/websocket.js";

/** The events of a link, as words, and a promise for its end. */
function watched() {
  const told = [];
  let end;
  const ended = new Promise((resolve) => (end = resolve));
  const events = {
    opened: () => told.push("opened"),
    received: () => told.push("received"),
    receivedDatagram() {},
    sent: () => told.push("sent"),
    datagramSent() {},
    closed: (reason) => {
      told.push(reason);
      end();
    },
  };
  return { told, ended, events };
}

/** A socket that tells only what the test says. */
class Silent {
  bufferedAmount = 0;
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;
  send() {}
  close() {
    this.isClosed = true;
  }
}

function silent() {
  let socket;
  class Socket extends Silent {
    constructor() {
      super();
      socket = this;
    }
  }
  const { told, events } = watched();
  const link = new WebSocketLink(Socket, "ws://server.example/ws", events);
  return { socket, link, told };
}

/** An address at which a connection is refused. */
async function nowhere() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return `ws://127.0.0.1:${port}`;
}

test("an error before it is open ends the link, although no close follows, as in Node 22", () => {
  const { socket, told } = silent();
  socket.onerror({});
  expect(told).toEqual(["was refused"]);
});

test("an error of an open link ends it, once", () => {
  const { socket, told } = silent();
  const { onclose } = socket;
  socket.onopen();
  socket.onerror({});
  expect(socket.onclose).toBeNull();
  expect(onclose).not.toBeNull();
  expect(told).toEqual(["opened", "broke"]);
  expect(socket.isClosed).toBe(true);
});

test("an error after the link was closed is handled", () => {
  const { socket, link, told } = silent();
  link.close();
  socket.onerror({});
  expect(told).toEqual([]);
});

// An error event without a listener would be an uncaught exception, which fails the run of the
// tests.
test("the package ws: a refused connection ends the link, and nothing is thrown", async () => {
  const { told, ended, events } = watched();
  new WebSocketLink(WebSocket, await nowhere(), events);
  await ended;
  expect(told).toEqual(["was refused"]);
});

test("the package ws: closing a link that connects throws nothing", async () => {
  let socket;
  class Kept extends WebSocket {
    constructor(url) {
      super(url);
      socket = this;
    }
  }
  const { told, events } = watched();
  const link = new WebSocketLink(Kept, await nowhere(), events);
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  link.close();
  await closed;
  expect(told).toEqual([]);
});
