/** Positions over a network whose datagrams overtake what the stream says of participants. */

import { afterEach, expect, test, vi } from "vitest";
import { awareness } from "../../src/index.js";
import { defineRoom } from "../../src/schema.js";
import { followPositions } from "../../src/store/positions.js";
import { forSeeds, simulate, type Simulation } from "../../src/testing.js";

vi.setConfig({ testTimeout: 120_000 });
afterEach(() => vi.unstubAllGlobals());

const board = defineRoom({ channels: { cursor: awareness({ maxRate: 25, loss: 0.05, deadline: 250 }) } });

/** A participant who follows the others, and what it shows. */
function follower(net: Simulation) {
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 16));
  vi.stubGlobal("cancelAnimationFrame", clearTimeout);
  const joined = board.join(net.connect, "http://test", "room", {});
  const seen: { shown: ReadonlyMap<number, unknown> } = { shown: new Map() };
  followPositions(joined, "cursor", (positions) => (seen.shown = positions));
  return seen;
}

test("whoever points before the others know of it is shown, although it does not move again", () =>
  forSeeds(20, async (seed) => {
    const net = simulate({ seed, jitter: 100, fakeTimers: true });
    const seen = follower(net);
    await net.settle();
    // What the stream loses is sent again, and comes later.
    net.change("a", { down: { jitter: 100, loss: 0.4 } });
    const { room, channels } = board.join(net.connect, "http://test", "room", {});
    await net.until(() => room.status === "connected");
    channels.cursor.send("[1,2]");
    await net.settle();
    expect([...seen.shown]).toEqual([[room.self?.id, "[1,2]"]]);
    net.end();
  }));

test("nobody is shown who has left, although its last message comes later, or whose number another one has now", () =>
  forSeeds(10, async (seed) => {
    const net = simulate({ seed, jitter: 100, fakeTimers: true });
    const seen = follower(net);
    const { room, channels } = board.join(net.connect, "http://test", "room", {});
    await net.settle();
    for (let x = 0; x < 10; x += 1) {
      channels.cursor.send(`[${x},0]`);
      await net.run(40);
    }
    expect(seen.shown.size).toBe(1);
    channels.cursor.send("[10,0]");
    net.closeTab(room);
    await net.run(3000);
    expect(seen.shown.size).toBe(0);
    net.end();
  }));

test("after a loss of the room a number is that of somebody else, whose position is not known", async () => {
  const net = simulate({ fakeTimers: true });
  const seen = follower(net);
  const { room, channels } = board.join(net.connect, "http://test", "room", {});
  await net.settle();
  channels.cursor.send("[1,2]");
  await net.run(1000);
  expect([...seen.shown.keys()]).toEqual([2]);
  net.crashTab(room);
  net.partition("a", 3000);
  net.restartServer();
  const others = [1, 2].map(() => board.join(net.connect, "http://test", "room", {}).room);
  await net.settle();
  expect(others.map(({ self }) => self?.id)).toContain(2);
  expect(seen.shown.size).toBe(0);
  net.end();
});

test("whoever stands still is shown after an administrator has reset another channel", async () => {
  const net = simulate({ fakeTimers: true });
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 16));
  const joined = board.join(net.connect, "http://test", "room", {});
  const on = vi.spyOn(joined.room, "on");
  let shown: ReadonlyMap<number, unknown> = new Map();
  followPositions(joined, "cursor", (positions) => (shown = positions));
  const { channels } = board.join(net.connect, "http://test", "room", {});
  await net.settle();
  channels.cursor.send("[1,2]");
  await net.run(1000);
  expect(shown.size).toBe(1);
  // The simulated server has no administrator.
  const gap = { reason: "reset", channel: "shapes" };
  for (const [event, listener] of on.mock.calls) if (event === "gap") (listener as (value: unknown) => void)(gap);
  await net.run(1000);
  expect(shown.size).toBe(1);
  net.end();
});
