/** Channels that are named in `connect`, and transactions that come before somebody listens. */

import { expect, test, vi } from "vitest";
import { awareness, transaction, type Room, type RoomError, type Simulation } from "../src/testing.js";
import { dialled, join } from "./double.js";
import * as wire from "./wire.js";
import { start } from "./testing/started.js";

vi.setConfig({ testTimeout: 300_000 });

/** A room with the channel "chat", on which nobody listens yet. */
const connectTo = (net: Simulation): Room =>
  net.connect("http://server.example", "room", { channels: { chat: transaction(), pointer: awareness() } });

function listen(room: Room): string[] {
  const got: string[] = [];
  room.channel("chat").on("message", ({ data }) => got.push(String(data)));
  return got;
}

test("the channels of connect are opened by the first packet", async () => {
  const it = join({ channels: { draw: transaction(), pointer: awareness({ maxRate: 25 }) } });
  const socket = await dialled(it);
  const opening = wire.frames(socket.packets[0]?.subarray(1) ?? new Uint8Array());
  expect(opening.filter(({ type }) => type === wire.OPEN)).toHaveLength(2);
  expect(it.room.channel("pointer").qos).toMatchObject({ kind: "awareness", maxRate: 25 });
});

test("a channel that is not open needs its QoS", () => {
  expect(() => join().room.channel("chat")).toThrow(/"chat" is not open: name it in `connect`, or pass its QoS/);
});

test("transactions that come before the first listener are kept for it, in their order with later ones", async () => {
  const net = start();
  const [a, b] = [connectTo(net), connectTo(net)];
  await net.settle();
  listen(a);
  for (const text of ["one", "two", "three"]) a.channel("chat").send(text);
  a.channel("pointer").send("here");
  await net.settle();
  const points = vi.fn();
  b.channel("pointer").on("message", points);
  const got = listen(b);
  // Not within `on`: the application may have more to do before.
  expect(got).toEqual([]);
  a.channel("chat").send("four");
  await net.settle();
  expect(got).toEqual(["one", "two", "three", "four"]);
  expect(points).not.toHaveBeenCalled();
});

test("a part of the snapshot is kept with the transactions after it", async () => {
  const net = start({ snapshotAfter: 5 });
  const a = connectTo(net);
  const all = listen(a);
  a.provideSnapshot(() => JSON.stringify(all), { part: "chat", channels: [a.channel("chat")] });
  for (let at = 0; at < 8; at += 1) {
    a.channel("chat").send(`${at}`);
    await net.run(100);
  }
  const b = connectTo(net);
  await net.settle();
  let texts: string[] = [];
  b.channel("chat").on("message", ({ data }) => texts.push(String(data)));
  b.on("snapshot", ({ data }) => (texts = JSON.parse(new TextDecoder().decode(data)) as string[]));
  await net.settle();
  expect(texts).toEqual(all);
  expect(texts).toHaveLength(8);
});

test("who keeps transactions for a listener makes no snapshot without them", async () => {
  const net = start({ snapshotAfter: 5 });
  const [a, b] = [connectTo(net), connectTo(net)];
  await net.settle();
  const made = vi.fn(() => "nothing");
  b.provideSnapshot(made, { part: "chat", channels: [b.channel("chat")] });
  for (let at = 0; at < 20; at += 1) {
    a.channel("chat").send(`${at}`);
    await net.run(100);
  }
  await net.settle();
  expect(net.log()).toContain('b is asked for the part "chat"');
  expect(made).not.toHaveBeenCalled();
});

test("too many transactions without a listener are an error that says what to do, once", async () => {
  const net = start();
  const [a, b] = [connectTo(net), connectTo(net)];
  await net.settle();
  listen(a);
  const errors: RoomError[] = [];
  b.on("error", (error) => errors.push(error));
  for (let at = 0; at < 4100; at += 1) {
    a.channel("chat").send("x");
    if (at % 500 === 0) await net.run(100);
  }
  await net.settle();
  expect(errors).toMatchObject([{ code: "no-listener", fault: "own", fatal: false, channel: "chat" }]);
  expect(errors[0]?.message).toMatch(/nobody listens for "message" on the channel "chat".*listen earlier/);
  const got = listen(b);
  a.channel("chat").send("later");
  await net.settle();
  expect(got).toEqual(["later"]);
});

test("a channel that is closed and opened again within a second misses nothing, and the room is not told", async () => {
  const net = start();
  const [a, b] = [connectTo(net), connectTo(net)];
  await net.settle();
  const stop = b.channel("chat").on("message", () => {});
  listen(a);
  stop();
  void b.channel("chat").close();
  a.channel("chat").send("in between");
  await net.run(500);
  const got = listen(b);
  await net.settle();
  expect(got).toEqual(["in between"]);
  expect(net.log()).not.toContain('b has the channel on "chat" closed');
});

test("the state of a room is one object until it changes, and tells those who subscribed", async () => {
  const net = start({ durability: "local" });
  const a = net.join<{ name: string }>({ presence: { name: "Ada" } });
  const seen: unknown[] = [];
  const { subscribe } = a;
  const stop = subscribe((state) => seen.push(state));
  const first = a.state;
  expect(a.state).toBe(first);
  expect(first).toMatchObject({ name: "room", status: "connecting", self: undefined, pending: false });
  await net.settle();
  const joined = a.state;
  expect(joined).not.toBe(first);
  expect(first.status).toBe("connecting");
  expect(joined).toMatchObject({ status: "connected", durability: "local", self: { presence: { name: "Ada" } } });
  expect(joined.transport?.name).toBe("webtransport");
  await net.run(5000);
  expect(a.state).toBe(joined);
  const b = net.join();
  await net.settle();
  expect(joined.participants.size).toBe(0);
  expect(a.state.participants.size).toBe(1);
  a.channel("chat", transaction()).send("x");
  await net.run(30);
  expect(a.state.pending).toBe(true);
  await net.settle();
  expect(a.state.pending).toBe(false);
  expect(seen.at(-1)).toBe(a.state);
  stop();
  const count = seen.length;
  net.closeTab(b);
  await net.settle();
  expect(seen).toHaveLength(count);
});
