import { afterEach, expect, test, vi } from "vitest";
import { awareness, transaction } from "../src/index.js";
import { encode, encodeJson } from "../src/codec.js";
import { watchPage } from "../src/page.js";
import { serverOf } from "../src/address.js";
import { socketDoor } from "../src/door.js";
import { WebSocketLink } from "../src/transport/websocket.js";
import { SocketDouble } from "./double.js";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a QoS keeps its kind", () => {
  expect(awareness({ loss: 0.1 })).toEqual({ kind: "awareness", loss: 0.1 });
  expect(transaction()).toEqual({ kind: "transaction" });
});

test.each([
  ["ws://host:1/", "ws://host:1/ws"],
  ["https://host", "wss://host/ws"],
  ["http://host/app/", "ws://host/app/ws"],
  ["wss://host/app?key=1#part", "wss://host/app/ws?key=1"],
])("the WebSocket of %s", (server, url) => {
  expect(socketDoor(serverOf(server))).toBe(url);
});

test.each(["", "host:8080", "ftp://host"])("%j is not a server's address", (server) => {
  expect(() => serverOf(server)).toThrow(expect.objectContaining({ code: "invalid-url" }));
});

test.each([
  ["localhost:8080", "http://localhost:8080"],
  ["localhost", "http://localhost"],
  ["127.0.0.1:8080/app", "http://127.0.0.1:8080/app"],
  ["my-machine:8080", "http://my-machine:8080"],
  ["example.com", "https://example.com"],
  ["rooms.example.com:9000", "https://rooms.example.com:9000"],
])("an address without a scheme, %s, is refused with the one that was meant", (server, meant) => {
  expect(() => serverOf(server)).toThrow(`"${server}" has no scheme: write "${meant}"`);
});

test("strings and bytes travel unchanged, all other values as JSON", () => {
  const bytes = Uint8Array.of(9, 1, 2, 9);
  expect(encode("ä")).toEqual({ bytes: Uint8Array.of(0xc3, 0xa4), text: true });
  expect(encode(bytes).bytes).toBe(bytes);
  expect(encode(bytes.buffer)).toEqual({ bytes, text: false });
  expect(encode(new DataView(bytes.buffer, 1, 2))).toEqual({ bytes: Uint8Array.of(1, 2), text: false });
  expect(new TextDecoder().decode(encode([1, null]).bytes)).toBe("[1,null]");
  expect(encodeJson(undefined, "it")).toHaveLength(0);
  expect(() => encode((() => 0) as never)).toThrow("the message: $ is a function, which JSON cannot carry");
});

function transport() {
  vi.useFakeTimers();
  const [opened, received, sent, closed] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  const events = { opened, received, receivedDatagram: vi.fn(), sent, datagramSent: vi.fn(), closed };
  let socket: SocketDouble | undefined;
  class Socket extends SocketDouble {
    constructor(url: string) {
      super(url);
      socket = this as SocketDouble;
    }
  }
  const made = new WebSocketLink(Socket, "ws://host/ws", events);
  return { made, events, socket: socket as SocketDouble };
}

test("a packet counts as sent when the socket's buffer is empty, which is checked at the latest when a packet arrives", () => {
  const { made, events, socket } = transport();
  socket.open();
  made.send(Uint8Array.of(1));
  expect(events.sent).toHaveBeenCalledTimes(1);
  socket.bufferedAmount = 1;
  made.send(Uint8Array.of(2));
  made.send(Uint8Array.of(3));
  vi.advanceTimersByTime(100);
  expect(events.sent).toHaveBeenCalledTimes(1);
  socket.bufferedAmount = 0;
  socket.serverSends(Uint8Array.of(4));
  expect(events.sent).toHaveBeenCalledTimes(3);
  socket.bufferedAmount = 1;
  made.send(Uint8Array.of(5));
  socket.bufferedAmount = 0;
  vi.advanceTimersByTime(20);
  expect(events.sent).toHaveBeenCalledTimes(4);
  // A report makes the core send the next packet, which has not left yet.
  socket.bufferedAmount = 1;
  made.send(Uint8Array.of(6));
  socket.bufferedAmount = 0;
  events.sent.mockImplementationOnce(() => {
    socket.bufferedAmount = 1;
    made.send(Uint8Array.of(7));
  });
  vi.advanceTimersByTime(20);
  expect(events.sent).toHaveBeenCalledTimes(5);
  // After `close` nothing is reported.
  socket.bufferedAmount = 1;
  made.send(Uint8Array.of(8));
  made.close();
  vi.advanceTimersByTime(1000);
  expect(events.sent).toHaveBeenCalledTimes(5);
});

test("a page reports when it is active again and when it closes for good", () => {
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: "hidden" });
  vi.stubGlobal("window", window);
  vi.stubGlobal("document", document);
  const connection = new EventTarget();
  vi.stubGlobal("navigator", { connection });
  const hide = (persisted: boolean) => window.dispatchEvent(Object.assign(new Event("pagehide"), { persisted }));
  const events = { resumed: vi.fn(), pageCloses: vi.fn(), ended: vi.fn() };
  const stop = watchPage(events);
  document.dispatchEvent(new Event("visibilitychange"));
  hide(true);
  expect(events.resumed).not.toHaveBeenCalled();
  expect(events.pageCloses).not.toHaveBeenCalled();
  hide(false);
  expect(events.pageCloses).toHaveBeenCalledOnce();
  document.visibilityState = "visible";
  document.dispatchEvent(new Event("visibilitychange"));
  window.dispatchEvent(new Event("online"));
  window.dispatchEvent(new Event("pageshow"));
  connection.dispatchEvent(new Event("change"));
  expect(events.resumed).toHaveBeenCalledTimes(4);
  stop();
  window.dispatchEvent(new Event("online"));
  expect(events.resumed).toHaveBeenCalledTimes(4);
});
