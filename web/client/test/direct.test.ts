/** Messages to one participant (wire W114 to W116), with the real core in simulated rooms. */

import { expect, test, vi } from "vitest";
import { awareness, transaction, type Room, type RoomError, type Simulation } from "../src/testing.js";
import { start } from "./testing/started.js";

vi.setConfig({ testTimeout: 300_000 });

/** What a room is told on "chat": by everybody's messages, and by those for it alone. */
function listen(room: Room): string[] {
  const chat = room.channel("chat", transaction());
  const got: string[] = [];
  chat.on("message", ({ data, own }) => got.push(`${own ? "own" : "all"}: ${String(data)}`));
  chat.on("direct", ({ data, sender }) => got.push(`${sender} alone: ${String(data)}`));
  return got;
}

const id = (room: Room | undefined): number => room?.self?.id ?? 0;

test("W114: only its receiver is told, between the messages for all, and the sender learns that it was delivered", async () => {
  const net = start({ seed: 3, loss: 0.1, jitter: 20, durability: "local" });
  const rooms = net.join(3);
  const got = rooms.map(listen);
  await net.settle();
  const chat = rooms[0]?.channel("chat");
  chat?.send("before");
  const receipt = chat?.sendTo(id(rooms[1]), "psst");
  chat?.send("after");
  await net.settle();
  expect(await receipt).toBe("delivered");
  expect(got).toEqual([
    ["own: before", "own: after"],
    ["all: before", `${id(rooms[0])} alone: psst`, "all: after"],
    ["all: before", "all: after"],
  ]);
  expect(net.log()).toContain(`receives from participant ${id(rooms[0])}, alone on "chat"`);
});

test("W115, W116: it waits for who is away, and the sender learns of who does not come back", async () => {
  const net = start({ seed: 4, durability: "local", away: 3000 });
  const [a, b, c] = ["a", "b", "c"].map((name) => net.join({ name }));
  const got = [a, b, c].map((room) => (room ? listen(room) : []));
  await net.settle();
  net.partition("b");
  net.partition("c");
  const chat = a?.channel("chat");
  const receipts = [id(b), id(c), 4711].map((to) => chat?.sendTo(to, "are you there?"));
  await net.run(500);
  net.restartServer();
  await net.run(1000);
  net.heal("b");
  await net.run(8000);
  net.heal("c");
  await net.settle();
  expect(await Promise.all(receipts)).toEqual(["delivered", "gone", "gone"]);
  expect([got[1]?.length, got[2]?.length]).toEqual([1, 0]);
});

test("W116: who has not opened the channel is told nothing, and the sender learns it", async () => {
  const net = start({ seed: 5 });
  const [a, b] = net.join(2);
  if (!a || !b) throw new Error("two rooms");
  listen(a);
  b.channel("other", transaction());
  await net.settle();
  expect(await settled(net, a.channel("chat").sendTo(id(b), "psst"))).toBe("not-open");
});

test("W114: it is kept for the first listener, apart from the messages for all", async () => {
  const net = start({ seed: 6 });
  const [a, b] = net.join(2);
  if (!a || !b) throw new Error("two rooms");
  listen(a);
  const chat = b.channel("chat", transaction());
  const [all, alone]: string[][] = [[], []];
  chat.on("message", ({ data }) => all?.push(String(data)));
  await net.settle();
  const receipt = a.channel("chat").sendTo(id(b), "psst");
  a.channel("chat").send("hello");
  await net.settle();
  expect(await receipt).toBe("delivered");
  expect(all).toEqual(["hello"]);
  chat.on("direct", ({ data }) => alone?.push(String(data)));
  await net.settle();
  expect(alone).toEqual(["psst"]);
});

test("what nobody listens to is lost at a bound, and told, and messages for all go on", async () => {
  const net = start({ seed: 7, tick: 0 });
  const [a, b] = net.join(2);
  if (!a || !b) throw new Error("two rooms");
  listen(a);
  const all: string[] = [];
  const errors: RoomError[] = [];
  b.on("error", (error) => errors.push(error));
  b.channel("chat", transaction()).on("message", ({ data }) => all.push(String(data)));
  await net.settle();
  const large = "x".repeat(50_000);
  for (let nth = 0; nth < 90; nth += 1)
    expect(await settled(net, a.channel("chat").sendTo(id(b), large))).toBe("delivered");
  a.channel("chat").send("hello");
  await net.settle();
  expect(errors.map(({ code, channel }) => [code, channel])).toEqual([["no-listener", "chat"]]);
  expect(all).toEqual(["hello"]);
});

test("who closes the room before it knows is told `unknown`, and awareness is for all", async () => {
  const net = start({ seed: 8 });
  const [a, b] = net.join(2);
  if (!a || !b) throw new Error("two rooms");
  listen(a);
  a.channel("pointer", awareness());
  await net.settle();
  const receipt = a.channel("chat").sendTo(id(b), "psst");
  expect(() => a.channel("pointer").sendTo(id(b), "psst")).toThrow(/one participant/);
  a.leave();
  await net.settle();
  expect(await receipt).toBe("unknown");
});

async function settled<T>(net: Simulation, promise: Promise<T>): Promise<T> {
  await net.settle();
  return promise;
}
