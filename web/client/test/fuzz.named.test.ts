/** Failures that `fuzz.test.ts` has found, or that were found beside them, each by its name. */

import { expect, test, vi } from "vitest";
import { awareness, GroupwireError, transaction } from "../src/index.js";
import { Playout, follow } from "../src/motion.js";
import { defineRoom } from "../src/schema.js";
import { peopleOf, RoomHandle, Selection } from "../src/store.js";
import { simulate } from "../src/testing.js";
import { join } from "./double.js";

const invalid = expect.objectContaining({ name: "GroupwireError", code: "invalid-argument" }) as GroupwireError;

const ended = expect.objectContaining({ name: "GroupwireError", code: "ended" }) as GroupwireError;

test("a simulation that ends while it runs stops, and its rooms take no calls", async () => {
  const net = simulate();
  const [a] = net.join(2);
  await net.settle();
  const running = net.run(10_000);
  net.end();
  await expect(running).rejects.toThrow(ended);
  expect(() => a.channel("chat", transaction())).toThrow(expect.objectContaining({ code: "closed" }));
  expect(a.stats.transport).toBe("none");
});

test("a token that expires before the first `run` is nobody's", async () => {
  const net = simulate();
  const room = net.join();
  net.expireToken(room);
  await net.settle();
  expect(room.status).toBe("connected");
  net.end();
});

test("a hole in a list is no right value", () => {
  const { room } = join();
  expect(() => room.setTransports([, "poll"] as never)).toThrow(invalid);
  expect(() => room.provideSnapshot(() => "", { channels: new Array(1) })).toThrow(invalid);
  expect(() => peopleOf([, { id: 1 }] as never, undefined)).toThrow(invalid);
  expect(new Playout().push([, 1] as never, 0)).toBe(false);
  room.leave();
});

test("a listener of a store that is no function is told at once", () => {
  const source = { root: () => 1, firstRoot: () => 1, version: () => 1, subscribe: () => () => {} };
  expect(() => new Selection(source, (root) => root).subscribe(undefined as never)).toThrow(invalid);
});

test("a channel of a store whose name is no text is told", () => {
  const room = defineRoom({ channels: { chat: transaction() } });
  const { connect } = simulate();
  const handle = new RoomHandle({ room, url: "ws://host", name: "room", connect });
  for (const name of [Object.create(null), Symbol("chat"), "chta", "__proto__"]) {
    expect(() => handle.on(name as never, () => {})).toThrow(invalid);
    expect(() => handle.send(name as never, "")).toThrow(invalid);
  }
});

test("an index that is no number is told at the call that gives it", () => {
  expect(() => new Playout().push([0], 0, 0, Symbol("x") as never)).toThrow(invalid);
});

test("an exception in `draw` is told, and the next frame comes", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const net = simulate({ fakeTimers: true });
  try {
    const [a, b] = net.join(2);
    const [to, from] = [a, b].map((room) => room.channel("pointer", awareness()));
    let frames = 0;
    if (!to || !from) throw new Error("there are two");
    await net.settle();
    follow(a, to, {
      draw: () => {
        frames += 1;
        throw new Error("mine");
      },
    });
    from.send([1, 2]);
    await expect(net.run(1000)).rejects.toThrow("mine");
    const before = frames;
    from.send([2, 2]);
    await expect(net.run(1000)).rejects.toThrow("mine");
    expect(frames).toBeGreaterThan(before);
  } finally {
    net.end();
    error.mockRestore();
  }
});

test("while a channel is closing another one can be opened, and the part of the snapshot has it again afterwards", async () => {
  const net = simulate({ snapshotAfter: 3 });
  const room = net.join();
  const made = vi.fn(() => "state");
  room.provideSnapshot(made);
  const first = room.channel("first", transaction());
  first.on("message", () => {});
  await net.settle();
  // The closing has begun, and waits for the confirmation of a transaction.
  net.partition(room);
  first.send("x");
  void first.close();
  await net.run(1500);
  expect(room.channel("second", transaction()).name).toBe("second");
  expect(room.channel("first", transaction())).toBe(first);
  net.heal(room);
  await net.settle();
  for (let at = 0; at < 5; at += 1) first.send("x");
  await net.settle();
  expect(made).toHaveBeenCalled();
  net.end();
});
