/** Motion on the channels of simulated rooms, with loss. */

import { expect, test, vi } from "vitest";
import { follow, localLag, predict, sendReckoned, type FollowedView } from "../../src/motion.js";
import { awareness, forSeeds, simulate, transaction } from "../../src/testing.js";

vi.setConfig({ testTimeout: 120_000 });

const NETWORK = { loss: 0.2, jitter: 30, fakeTimers: true } as const;
const POINTER = awareness({ maxRate: 25, loss: 0.05, deadline: 250 });

test("a pointer is followed smoothly over a network that loses, and is gone with its participant", () =>
  forSeeds(3, async (seed) => {
    const net = simulate({ seed, ...NETWORK });
    const [a, b] = net.join(2);
    const drawn: (readonly FollowedView[])[] = [];
    const own = a.channel("pointer", POINTER);
    const shown = follow(b, b.channel("pointer", POINTER), { draw: (views) => drawn.push(views), trace: 400 });
    await net.settle();
    for (let x = 0; x <= 900; x += 8) {
      own.send([x, x / 2]);
      await net.run(16);
    }
    const places = drawn.map(([view]) => view?.place[0] ?? 0);
    expect(shown.traces()[0]?.points.length).toBeGreaterThan(2);
    await net.run(2000);
    expect(shown.views()).toMatchObject([{ sender: a.self?.id, place: [896, 448] }]);
    // It goes forward all the time, and never by more than at twice its speed; what a correction
    // works in comes on top.
    const steps = places.slice(1).map((x, i) => x - (places[i] ?? 0));
    expect(Math.min(...steps)).toBeGreaterThan(-4);
    expect(Math.max(...steps)).toBeLessThan(40);
    const count = drawn.length;
    await net.run(1000);
    // Without movement no frame is drawn.
    expect(drawn.length).toBe(count);
    net.closeTab(a);
    await net.run(1000);
    expect(shown.views()).toEqual([]);
    shown.stop();
  }));

test("a pointer is gone with its participant, although its last message comes later", () =>
  forSeeds(10, async (seed) => {
    const net = simulate({ seed, jitter: 100, fakeTimers: true });
    const [a, b] = net.join(2);
    const own = a.channel("pointer", POINTER);
    const shown = follow(b, b.channel("pointer", POINTER), { trace: 400 });
    await net.settle();
    for (let x = 0; x < 10; x++) {
      own.send([x, x]);
      await net.run(40);
    }
    expect(shown.views()).toMatchObject([{ sender: a.self?.id }]);
    own.send([10, 10]);
    net.closeTab(a);
    await net.run(3000);
    expect([shown.views(), shown.traces()]).toEqual([[], []]);
    net.end();
  }));

test("what is nonsense, or gone, is not followed", async () => {
  const net = simulate(NETWORK);
  const [a, b] = net.join(2);
  const own = a.channel("pointer", POINTER);
  const shown = follow(b, b.channel("pointer", POINTER));
  await net.settle();
  for (const value of ["{", "7", JSON.stringify([1e300]), JSON.stringify({ x: 1 })]) {
    own.send(value);
    await net.run(100);
  }
  expect(shown.views()).toEqual([]);
  own.send([1, 2]);
  await net.run(500);
  own.send("null");
  await net.run(500);
  expect(shown.views()).toMatchObject([{ place: [1, 2], isGone: true }]);
  net.end();
});

test("dead reckoning sends little, and is exact in the end", async () => {
  const net = simulate({ seed: 3, ...NETWORK });
  const [a, b] = net.join(2);
  const moving = a.channel("avatar", awareness({ maxRate: 25, loss: 0.01 }));
  const sender = sendReckoned(moving, { error: 2, key: "me" });
  const shown = follow(b, b.channel("avatar", awareness({ maxRate: 25, loss: 0.01 })), { mode: "reckon" });
  await net.settle();
  const before = a.stats.sent.messages;
  for (let step = 0; step < 300; step++) {
    // Straight on, then a turn, then a stop.
    const x = Math.min(step, 200) * 3;
    sender.move([x, Math.max(x - 300, 0)]);
    await net.run(16);
  }
  await net.run(3000);
  expect(a.stats.sent.messages - before).toBeLessThan(40);
  const [x = 0, y = 0] = shown.views()[0]?.place ?? [];
  expect(Math.hypot(x - 600, y - 300)).toBeLessThan(2.2);
  sender.stop();
  net.end();
});

test("with local lag an action takes effect at the same time here and there", async () => {
  const net = simulate({ seed: 5, ...NETWORK, loss: 0 });
  const [a, b] = net.join(2);
  const effects: string[][] = [[], []];
  const times: number[][] = [[], []];
  const [first, second] = [a, b].map((room, i) =>
    localLag<{ readonly n: number }>(room.channel("hits", transaction()), {
      lag: 150,
      apply: ({ action: { action } }) => {
        effects[i]?.push(String(action.n));
        times[i]?.push(performance.now());
      },
    }),
  );
  await net.settle();
  for (const n of [1, 2, 3, 4]) {
    (n % 2 ? first : second)?.act({ n });
    await net.run(70);
  }
  await net.run(1000);
  expect(effects).toEqual([
    ["1", "2", "3", "4"],
    ["1", "2", "3", "4"],
  ]);
  times[0]?.forEach((time, i) => expect(Math.abs(time - (times[1]?.[i] ?? 0))).toBeLessThan(60));
  expect(first?.lag.needed()).toBeGreaterThan(20);
  net.end();
});

test("in a hidden page, which has no frames, no more actions wait than may", async () => {
  vi.stubGlobal("requestAnimationFrame", () => 1);
  vi.stubGlobal("cancelAnimationFrame", () => {});
  const net = simulate({ fakeTimers: true });
  const [a, b] = net.join(2);
  const done: number[] = [];
  const lag = localLag<number>(b.channel("hits", transaction()), {
    limit: 10,
    apply: ({ action: { action } }) => done.push(action),
  });
  const hits = a.channel("hits", transaction());
  for (let n = 0; n < 30; n += 1) hits.send(String(n));
  await net.settle();
  expect(done).toEqual(Array.from({ length: done.length }, (_, n) => n));
  expect(done.length).toBeGreaterThanOrEqual(20);
  lag.stop();
  net.end();
  vi.unstubAllGlobals();
});

test("an action that cannot be applied does not take others with it", async () => {
  const net = simulate({ fakeTimers: true });
  const [a, b] = net.join(2);
  const done: number[] = [];
  const apply = ({ action: { action } }: { readonly action: { readonly action: readonly number[] } }): void => {
    done.push(action.reduce((sum, number) => sum + number));
  };
  const lag = localLag<readonly number[]>(b.channel("hits", transaction()), { apply });
  const hits = a.channel("hits", transaction());
  for (const text of ["[1]", "7", "[2]", "[3]"]) hits.send(text);
  // The simulation throws what is reported to the page as an uncaught error.
  await expect(net.settle()).rejects.toThrow("reduce is not a function");
  await net.settle().catch(() => {});
  expect(done).toEqual([1, 2, 3]);
  lag.stop();
  const game = predict<number, readonly number[], unknown>(a, a.channel("moves", transaction()), {
    init: 0,
    step: (sum, [by]) => {
      if (by === undefined) throw new TypeError("no number");
      return sum + by;
    },
  });
  const moves = b.channel("moves", transaction());
  game.act([1]);
  expect(() => game.act([])).toThrow("no number");
  for (const text of ["null", "[]", "{", "[10]"]) moves.send(text);
  game.act([100]);
  await net.settle();
  expect([game.state, game.prediction.pending]).toEqual([111, 0]);
  net.end();
});

test("predicted states are equal in the end, whatever the network does", () =>
  forSeeds(5, async (seed) => {
    const net = simulate({ seed, ...NETWORK, durability: "local" });
    const rooms = net.join(3);
    const games = rooms.map((room) =>
      predict<string, { readonly add: string }, unknown>(room, room.channel("moves", transaction()), {
        init: "",
        step: (state, { add }) => state + add,
      }),
    );
    for (let i = 0; i < 20; i++) {
      games.forEach((game, id) => {
        const before = game.state;
        game.act({ add: String(id) });
        expect(game.state).toBe(before + id);
      });
      if (i === 10) net.partition(rooms[1] ?? "b", 1500);
      await net.run(net.random() * 100);
    }
    await net.settle();
    const [first = "", ...others] = games.map(({ state }) => state);
    expect(first).toHaveLength(60);
    for (const other of others) expect(other).toBe(first);
    games.forEach((game) => expect(game.prediction.pending).toBe(0));
  }));
