import { afterEach, expect, test, vi } from "vitest";
import { awareness, GroupwireError, transaction, type Message, type RoomError } from "../src/index.js";
import { dialled, join, settled } from "./double.js";
import * as wire from "./wire.js";
import { until } from "./until.js";

afterEach(() => vi.restoreAllMocks());

const text = (frame: wire.Frame | undefined): string => new TextDecoder().decode(frame?.payload);

async function joined(options = {}) {
  const it = join<{ name: string }>(options);
  const draw = it.room.channel("draw", transaction());
  const pointer = it.room.channel("pointer", awareness({ maxRate: 1000 }));
  const socket = await dialled(it);
  socket.serverSends(wire.welcome());
  socket.serverSends(wire.packet(wire.opened(0, 1, "draw", 0), wire.opened(1, 2, "pointer", 1), wire.synced()));
  return { ...it, socket, draw, pointer };
}

test("the opening names the room, the version, the presence and the token", async () => {
  const it = join({ presence: { name: "Ada" }, token: "let me in" });
  const socket = await dialled(it);
  expect(socket.url).toBe("ws://server.example/app/ws");
  expect(socket.binaryType).toBe("arraybuffer");
  const [opening] = socket.packets;
  expect(opening?.[0]).toBe(1);
  expect(wire.frames(opening?.subarray(1) ?? new Uint8Array())[0]?.type).toBe(wire.HELLO);
  const said = new TextDecoder().decode(opening);
  for (const part of ["room", "let me in", '{"name":"Ada"}']) expect(said).toContain(part);
});

test("messages sent before the core is loaded go out after joining, in order", async () => {
  const it = join();
  const draw = it.room.channel("draw", transaction());
  const bytes = Uint8Array.of(1, 2, 3);
  expect(it.room.status).toBe("connecting");
  expect(draw.send({ first: 1 })).toBe("accepted");
  expect(draw.send(bytes)).toBe("accepted");
  bytes.fill(0);
  const socket = await dialled(it);
  socket.serverSends(wire.welcome());
  socket.serverSends(wire.packet(wire.opened(0, 1, "draw", 0)));
  const [body] = socket.frames().filter(({ type }) => type === wire.MESSAGES);
  expect(text(body)).toMatch(/\{"first":1\}.*\x01\x02\x03$/s);
  expect(it.room.status).toBe("connected");
});

test("messages beyond the limit before the core is loaded are refused, and drain follows", async () => {
  const it = join();
  const drain = vi.fn();
  it.room.on("drain", drain);
  const draw = it.room.channel("draw", transaction());
  const chunk = new Uint8Array(50_000);
  const sent = Array.from({ length: 30 }, () => draw.send(chunk));
  expect(new Set(sent)).toEqual(new Set(["accepted", "not-now"]));
  expect(sent.filter((one) => one === "accepted").length * chunk.length).toBeLessThan(1 << 20);
  await dialled(it);
  expect(drain).toHaveBeenCalledOnce();
});

test("what only the core finds out is reported once it is loaded, and other channels work", async () => {
  const it = join();
  const errors: RoomError[] = [];
  it.room.on("error", (error) => errors.push(error));
  const draw = it.room.channel("draw", transaction());
  const channels = Array.from({ length: 64 }, (_, at) => it.room.channel(`channel ${at}`, transaction()));
  const got = vi.fn();
  draw.on("message", got);
  const socket = await dialled(it);
  expect(errors).toMatchObject([{ code: "too-many", fault: "limit", channel: "channel 63", fatal: false }]);
  expect(() => channels.at(-1)?.send("x")).toThrow(/could not be opened/);
  expect(() => it.room.channel("late", transaction())).toThrow(GroupwireError);
  socket.serverSends(wire.welcome());
  socket.serverSends(
    wire.packet(wire.opened(0, 1, "draw", 0), wire.messages({ channel: 1, sender: 2, text: "hello" })),
  );
  expect(got).toHaveBeenCalledOnce();
});

test("a message arrives as it was sent, with its fields", async () => {
  const { socket, draw, pointer } = await joined();
  const got: Message[] = [];
  draw.on("message", (message) => got.push(message));
  pointer.on("message", (message) => got.push(message));
  draw.send("mine");
  await settled();
  socket.serverSends(
    wire.packet(
      wire.participants(true, [{ id: 5, state: 1, presence: "" }]),
      wire.messages(
        { channel: 1, sender: 5, text: '{"x":[1]}' },
        { channel: 1, sender: 1, own: true },
        { channel: 2, sender: 5, data: [0, 255], key: "k" },
      ),
    ),
  );
  expect(got).toMatchObject([
    {
      data: '{"x":[1]}',
      sender: 5,
      own: false,
      position: 1,
      stale: false,
      state: false,
      key: undefined,
      departed: undefined,
    },
    { data: "mine", sender: 1, own: true, position: 2, index: 1 },
    { data: Uint8Array.of(0, 255), sender: 5, position: 0, index: 1, key: "k" },
  ]);
  expect(got[0]?.json()).toEqual({ x: [1] });
  expect(() => got[2]?.json()).toThrow(SyntaxError);
  expect(got[0]?.age).toBeGreaterThanOrEqual(0);
});

test("pending is told when it is no longer 0 and when it is 0 again, and durability as the room states it", async () => {
  const it = join();
  const draw = it.room.channel("draw", transaction());
  const pointer = it.room.channel("pointer", awareness());
  const told: number[] = [];
  it.room.on("pending", (count) => told.push(count));
  draw.send("one");
  pointer.send("here");
  expect([it.room.pending, it.room.durability]).toEqual([1, undefined]);
  const socket = await dialled(it);
  expect([told, it.room.pending]).toEqual([[1], 1]);
  socket.serverSends(wire.welcome());
  expect(it.room.durability).toBe("memory");
  const channels = [wire.opened(0, 1, "draw", 0), wire.opened(1, 2, "pointer", 1)];
  socket.serverSends(wire.packet(wire.stored(1, 7), ...channels, wire.synced()));
  expect(it.room.durability).toBe("local");
  draw.send("two");
  await settled();
  expect([told, it.room.pending]).toEqual([[1], 2]);
  const own = { channel: 1, sender: 1, own: true };
  socket.serverSends(wire.packet(wire.messages(own)));
  expect([told, it.room.pending]).toEqual([[1], 1]);
  socket.serverSends(wire.packet(wire.messages(own)));
  expect([told, it.room.pending]).toEqual([[1, 0], 0]);
  it.room.leave();
  await settled();
  expect(it.room.pending).toBe(0);
});

test("an exception in a listener is reported and does not stop the others; a removed listener is not called", async () => {
  const report = vi.spyOn(console, "error").mockImplementation(() => {});
  const { socket, draw } = await joined();
  const [left, healthy] = [vi.fn(), vi.fn()];
  draw.on("message", () => {
    throw new Error("mine");
  });
  draw.on("message", left)();
  draw.on("message", healthy);
  socket.serverSends(
    wire.packet(wire.messages({ channel: 1, sender: 2, text: "a" }, { channel: 1, sender: 2, text: "b" })),
  );
  expect(healthy).toHaveBeenCalledTimes(2);
  expect(left).not.toHaveBeenCalled();
  expect(report).toHaveBeenCalledTimes(2);
});

test("participants are all others, with their presence if it is JSON", async () => {
  const { room, socket } = await joined({ presence: { name: "Me" } });
  const told = vi.fn();
  room.on("participants", told);
  expect(room.self).toEqual({ id: 1, presence: { name: "Me" }, away: false });
  socket.serverSends(
    wire.packet(
      wire.participants(true, [
        { id: 1, state: 1, presence: "" },
        { id: 2, state: 1, presence: '{"name":"Bo"}' },
        { id: 3, state: 2, presence: "{hostile" },
      ]),
    ),
  );
  expect([...room.participants.values()]).toEqual([
    { id: 2, presence: { name: "Bo" }, away: false },
    { id: 3, presence: undefined, away: true },
  ]);
  // W100: the user is the server's word, whatever the presence claims.
  socket.serverSends(
    wire.packet(
      wire.participants(false, [
        { id: 2, state: 1, user: "bo@example.org", presence: '{"name":"Bo"}' },
        { id: 3, state: 2, presence: '{"user":"bo@example.org"}' },
      ]),
    ),
  );
  expect([...room.participants.values()]).toEqual([
    { id: 2, user: "bo@example.org", presence: { name: "Bo" }, away: false },
    { id: 3, presence: { user: "bo@example.org" }, away: true },
  ]);
  expect(room.participants.get(3)).not.toHaveProperty("user");
  socket.serverSends(wire.packet(wire.participants(false, [{ id: 2, state: 0, presence: "" }])));
  expect([...room.participants.keys()]).toEqual([3]);
  socket.serverSends(wire.packet(wire.participants(true, [{ id: 4, state: 1, presence: "" }])));
  expect([...room.participants.keys()]).toEqual([4]);
  expect(told).toHaveBeenCalledTimes(4);
  room.setPresence({ name: "New" });
  expect(room.self?.presence).toEqual({ name: "New" });
  await settled();
  expect(text(socket.frames().find(({ type }) => type === wire.PRESENCE))).toBe('{"name":"New"}');
});

test("a large room tells how many there are, and of those who do something; pages have the others", async () => {
  const { room, socket } = await joined();
  const told = vi.fn();
  const pages = vi.fn();
  room.on("participants", told);
  room.on("page", pages);
  socket.serverSends(wire.packet(wire.participants(true, [{ id: 2, state: 1, presence: "" }])));
  expect([room.complete, room.count]).toEqual([true, 2]);
  // W103, W104.
  socket.serverSends(wire.packet(wire.count(false, 5000)));
  expect([room.complete, room.count, room.participants.size]).toEqual([false, 5000, 1]);
  expect(told).toHaveBeenCalledTimes(2);
  // W105.
  room.askForPage(300);
  await settled();
  const asked = socket.frames().find(({ type }) => type === wire.PAGE_WANTED);
  expect([...(asked?.payload ?? [])]).toEqual([0xac, 2]);
  socket.serverSends(wire.packet(wire.page(300, true, [{ id: 301, presence: '{"name":"Bo"}' }])));
  expect(pages).toHaveBeenCalledWith({
    participants: [{ id: 301, presence: { name: "Bo" }, away: false }],
    last: true,
  });
  expect(room.participants.size).toBe(1);
  socket.serverSends(wire.packet(wire.participants(true, [{ id: 3, state: 1, presence: "" }]), wire.count(true, 2)));
  expect([room.complete, room.count, [...room.participants.keys()]]).toEqual([true, 2, [3]]);
});

test("awareness waits until its sender is known, and that of one who left never comes", async () => {
  const { room, socket, pointer } = await joined();
  const got: (readonly [sender: number, data: unknown, isKnown: boolean])[] = [];
  pointer.on("message", ({ sender, data }) => got.push([sender, data, room.participants.has(sender)]));
  const said = (sender: number, text: string): number[] => wire.messages({ channel: 2, sender, text });
  const note = (id: number, state: number): number[] => wire.participants(false, [{ id, state, presence: "" }]);
  socket.serverSends(wire.packet(said(2, "early"), said(2, "and again"), said(0, "the room itself")));
  expect(got.splice(0)).toEqual([[0, "the room itself", false]]);
  socket.serverSends(wire.packet(note(3, 1)));
  expect(got).toEqual([]);
  socket.serverSends(wire.packet(note(2, 1), said(2, "known")));
  expect(got.splice(0).map(([, data, isKnown]) => [data, isKnown])).toEqual([
    ["early", true],
    ["and again", true],
    ["known", true],
  ]);
  socket.serverSends(wire.packet(note(2, 0), said(2, "late"), note(3, 2)));
  expect(got).toEqual([]);
  // What is kept has a limit.
  for (let at = 0; at < 300; at += 1) socket.serverSends(wire.packet(said(4, String(at))));
  socket.serverSends(wire.packet(note(4, 1)));
  expect(got.map(([, data]) => Number(data))).toEqual(Array.from({ length: 256 }, (_, at) => at + 44));
});

test("of another incarnation, whose numbers begin anew, nothing that waited is taken", async () => {
  const it = await joined();
  const got: unknown[] = [];
  it.pointer.on("message", ({ data }) => got.push(data));
  it.socket.serverSends(wire.packet(wire.messages({ channel: 2, sender: 2, text: "before" })));
  it.socket.drop();
  const socket = await dialled(it, 1);
  socket.serverSends(wire.welcome({ incarnation: 8, outcome: 2 }));
  socket.serverSends(
    wire.packet(
      wire.opened(0, 1, "draw", 0),
      wire.opened(1, 2, "pointer", 1),
      wire.participants(true, [{ id: 2, state: 1, presence: "" }]),
      wire.messages({ channel: 2, sender: 2, text: "after" }),
    ),
  );
  expect(got).toEqual(["after"]);
});

test("a broken connection is re-established and the session resumed", async () => {
  const it = await joined();
  const statuses: string[] = [];
  it.room.on("status", (status) => statuses.push(status));
  it.draw.send("before the break");
  await settled();
  it.socket.drop();
  expect(it.room.status).toBe("reconnecting");
  const socket = await dialled(it, 1);
  socket.serverSends(wire.welcome({ outcome: 1 }));
  socket.serverSends(wire.packet(wire.opened(0, 1, "draw", 0), wire.opened(1, 2, "pointer", 1)));
  expect(statuses).toEqual(["reconnecting", "connected"]);
  // The message was not acknowledged, so it is sent again.
  expect(text(socket.frames().find(({ type }) => type === wire.MESSAGES))).toContain("before the break");
  expect(it.room.stats).toMatchObject({ transport: "websocket", reconnects: 1 });
});

test("a violation of the protocol is reported as the server's fault, and the room reconnects", async () => {
  const it = await joined();
  const errors: RoomError[] = [];
  it.room.on("error", (error) => errors.push(error));
  // This frame is longer than its packet.
  it.socket.serverSends(Uint8Array.of(wire.MESSAGES, 99));
  expect(errors).toMatchObject([{ code: "malformed", fault: "peer", fatal: false }]);
  expect(it.socket.isClosed).toBe(true);
  const socket = await dialled(it, 1);
  socket.serverSends(wire.welcome({ outcome: 1 }));
  expect(it.room.status).toBe("connected");
});

test("a status is emitted when it changes, not at every attempt", async () => {
  const it = join();
  const statuses: string[] = [];
  it.room.on("status", (status) => statuses.push(status));
  for (const nth of [0, 1, 2]) (await dialled(it, nth)).drop();
  expect(statuses).toEqual([]);
  (await dialled(it, 3)).serverSends(wire.welcome());
  for (const nth of [3, 4]) (await dialled(it, nth)).drop();
  expect(statuses).toEqual(["connected", "reconnecting"]);
});

test("if the server lost the room, the gap is emitted and the session begins anew", async () => {
  const it = await joined();
  const order: string[] = [];
  it.room.on("gap", ({ reason }) => order.push(reason));
  it.room.on("status", (status) => order.push(status));
  it.room.on("synced", () => order.push("synced"));
  it.socket.drop();
  const socket = await dialled(it, 1);
  socket.serverSends(wire.welcome({ outcome: 2, incarnation: 8, participant: 4 }));
  socket.serverSends(wire.packet(wire.opened(0, 1, "draw", 0), wire.opened(1, 2, "pointer", 1), wire.synced()));
  expect(order).toEqual(["reconnecting", "incarnation", "connected", "synced"]);
  expect(it.room.self?.id).toBe(4);
});

test("a snapshot contains the transactions that were delivered before the request", async () => {
  const { room, socket, draw } = await joined();
  const seen: unknown[] = [];
  draw.on("message", (message) => seen.push(message.data));
  room.provideSnapshot(() => seen.join());
  const record = (name: string) => wire.messages({ channel: 1, sender: 2, text: name });
  socket.serverSends(wire.packet(record("a"), wire.snapshotWanted(1), record("b")));
  await settled();
  const payload = socket.frames().find(({ type }) => type === wire.SNAPSHOT)?.payload;
  // Part 0, as_of 1, total 1, offset 0.
  expect([...(payload ?? [])]).toEqual([0, 1, 1, 0, "a".charCodeAt(0)]);
});

test("at most two packets wait in a network that accepts nothing, until it drains", async () => {
  const { socket, draw, room } = await joined();
  await settled();
  const before = socket.packets.length;
  socket.bufferedAmount = 1000;
  for (let i = 0; i < 5; i++) {
    draw.send(`message ${i}`);
    await settled();
  }
  expect(socket.packets.length - before).toBe(2);
  const drain = vi.fn();
  room.on("drain", drain);
  const chunk = "x".repeat(50_000);
  let sent = draw.send(chunk);
  for (let i = 0; i < 1000 && sent === "accepted"; i++) sent = draw.send(chunk);
  expect(sent).toBe("not-now");
  socket.bufferedAmount = 0;
  await until(() => socket.frames().some((frame) => text(frame).includes("message 4")));
  expect(drain).not.toHaveBeenCalled();
});

test("messages sent in one task share a packet", async () => {
  const { socket, draw, pointer } = await joined();
  await settled();
  const before = socket.packets.length;
  draw.send("one");
  pointer.send("two");
  draw.send("three");
  await settled();
  expect(socket.packets.length - before).toBe(1);
});

test("leaving sends all submitted messages and BYE, closes, and then refuses messages", async () => {
  const { room, socket, draw } = await joined();
  // It does so even if the network accepts nothing, because the page is closing.
  socket.bufferedAmount = 1000;
  for (let i = 0; i < 2; i++) draw.send("x".repeat(50_000));
  draw.send("last words");
  room.leave();
  const types = socket.frames().map(({ type }) => type);
  expect(types.slice(-2)).toEqual([wire.MESSAGES, wire.BYE]);
  expect(socket.isClosed).toBe(true);
  expect(room.status).toBe("closed");
  expect(socket.frames().map(text).join()).toContain("last words");
  expect(room.stats.sent.messages).toBe(3);
  expect(() => draw.send("x")).toThrow(expect.objectContaining({ code: "closed", fault: "own" }));
  expect(() => room.channel("new", transaction())).toThrow(/closed/);
  room.leave();
});

test("a listener may leave, send and open channels", async () => {
  const { room, socket, draw } = await joined();
  const statuses: string[] = [];
  room.on("status", (status) => statuses.push(status));
  draw.on("message", () => {
    room.channel("another", transaction());
    draw.send("answer");
    room.leave();
  });
  socket.serverSends(wire.packet(wire.messages({ channel: 1, sender: 2, text: "a" })));
  await settled();
  expect(statuses).toEqual(["closed"]);
  expect(socket.frames().map(text).join()).toContain("answer");
});

test("leaving before the core is loaded closes all connections", async () => {
  const it = join();
  const status = vi.fn();
  it.room.on("status", status);
  it.room.leave();
  expect(status).toHaveBeenCalledExactlyOnceWith("closed");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(it.sockets.every(({ isClosed }) => isClosed)).toBe(true);
});

test("a refused channel is named in the error, and its send throws", async () => {
  const it = join();
  const errors: RoomError[] = [];
  it.room.on("error", (error) => errors.push(error));
  const secret = it.room.channel("secret", transaction());
  const socket = await dialled(it);
  socket.serverSends(wire.welcome());
  socket.serverSends(wire.packet(wire.refused(0)));
  expect(errors).toMatchObject([{ code: "refused", fault: "refused", channel: "secret", fatal: false }]);
  expect(() => secret.send("x")).toThrow(expect.objectContaining({ code: "not-allowed" }));
  expect(() => secret.send("x".repeat(70_000))).toThrow(expect.objectContaining({ code: "too-large", fault: "limit" }));
});

test("a server of another protocol is reported and the room closes", async () => {
  const report = vi.spyOn(console, "error").mockImplementation(() => {});
  const it = join();
  const socket = await dialled(it);
  socket.serverSends('{"type":"connected"}');
  expect(it.room.status).toBe("closed");
  expect(socket.isClosed).toBe(true);
  // No listener was registered.
  expect(report.mock.calls[0]?.[0]).toMatch(/protocol version/);
});

test("a core that cannot be loaded or a missing WebSocket closes the room with a reason", async () => {
  const errors: RoomError[] = [];
  const { room } = join({ WebSocket: undefined as never }, "room");
  room.on("error", (error) => errors.push(error));
  vi.stubGlobal("WebSocket", undefined);
  await until(() => room.status === "closed");
  vi.unstubAllGlobals();
  expect(errors).toMatchObject([{ code: "no-transport", fault: "own", fatal: true }]);
});
