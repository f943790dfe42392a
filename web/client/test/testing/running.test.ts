/** How a simulation runs: errors, time, seeds, the log. */

import { afterEach, expect, test, vi } from "vitest";
import { forSeeds, simulate, transaction, type Room } from "../../src/testing.js";
import { SimulatedClock } from "../../src/testing/clock.js";
import { Log } from "../../src/testing/log.js";
import { Random } from "../../src/testing/random.js";

// Simulations take milliseconds, but the machine may have much else to do.
vi.setConfig({ testTimeout: 300_000 });

afterEach(() => vi.unstubAllEnvs());

test("an exception in a listener fails the test that awaits", async () => {
  const net = simulate();
  const room = net.join();
  room.on("status", (status) => expect(status).toBe("closed"));
  await expect(net.settle()).rejects.toThrow("to be 'closed'");
  net.end();
});

test("what does not settle says why, with the log", async () => {
  const lossy = simulate({ loss: 1 });
  lossy.join().channel("chat", transaction()).send("x");
  await expect(lossy.settle({ limit: 5000 })).rejects.toThrow(
    /not settled within 5000 ms.*a is connecting; a has 1 transactions.*seed 1.*a joins the room/s,
  );
  await expect(lossy.until(() => false, { limit: 10 })).rejects.toThrow(/within 10 ms.*what happened last/s);
  lossy.end();
  await expect(lossy.run(1)).rejects.toThrow("has ended");
  expect(() => lossy.join()).toThrow("has ended");
});

test("a simulation runs once at a time", async () => {
  const net = simulate();
  const running = net.run(10);
  await expect(net.run(10)).rejects.toThrow("is running");
  await running;
  net.end();
});

test("participants are named a, b, c, or as they are told, and unknown ones are errors", () => {
  const net = simulate();
  net.join(2);
  net.join({ name: "ada" });
  expect(() => net.join({ name: "a" })).toThrow('a participant "a" already');
  expect(() => net.partition("zoe")).toThrow('no participant "zoe"');
  expect(() => net.heal({} as Room)).toThrow("no participant with this room");
  net.heal("ada");
  expect(() => net.join({ loss: 2 })).toThrow("`loss` of `join` must be a number from 0 to 1, not 2");
  net.end();
});

test("timers and dates of the application follow simulated time if the test says so", async () => {
  const before = Date.now();
  const net = simulate({ fakeTimers: true });
  const begin = Date.now();
  const happened: string[] = [];
  setTimeout(() => happened.push(`once at ${performance.now()}`), 1500);
  const repeated = setInterval(() => happened.push(`again at ${new Date().getTime() - begin}`), 600);
  clearTimeout(setTimeout(() => happened.push("never"), 100));
  await net.run(1300);
  clearInterval(repeated);
  await net.run(10_000);
  expect(happened).toEqual(["again at 600", "again at 1200", "once at 1500"]);
  expect(Date.now() - begin).toBe(11_300);
  net.end();
  expect(Date.now()).toBeGreaterThanOrEqual(before);
  expect(Date.now() - before).toBeLessThan(60_000);
});

test("fake timers of the test runner do not disturb it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "performance", "Date"] });
  try {
    const net = simulate();
    const [a, b] = net.join(2);
    await net.settle();
    expect([a.participants.size, b.participants.size]).toEqual([1, 1]);
    net.end();
  } finally {
    vi.useRealTimers();
  }
});

test("a run that fails names its seed and shows the log, and its simulation is ended", async () => {
  const seeds: number[] = [];
  const failing = forSeeds(10, async (seed) => {
    const net = simulate({ seed });
    const room = net.join();
    seeds.push(seed);
    await net.settle();
    expect(seed * 2).not.toBe(6);
    expect(room.status).toBe("connected");
  });
  await expect(failing).rejects.toThrow(/expected 6 not to be 6.*GROUPWIRE_SEED=3.*a joins the room.*is connected/s);
  expect(seeds).toEqual([1, 2, 3]);
  await expect(forSeeds(1, () => Promise.reject("text"))).rejects.toThrow(/text.*GROUPWIRE_SEED=1/s);
});

test("variables replay one seed, or run more", async () => {
  const run = async (): Promise<number[]> => {
    const seeds: number[] = [];
    await forSeeds(3, (seed) => seeds.push(seed));
    return seeds;
  };
  expect(await run()).toEqual([1, 2, 3]);
  vi.stubEnv("GROUPWIRE_SEEDS", "5");
  expect(await run()).toEqual([1, 2, 3, 4, 5]);
  vi.stubEnv("GROUPWIRE_SEED", "42");
  expect(await run()).toEqual([42, 43, 44, 45, 46]);
  vi.stubEnv("GROUPWIRE_SEEDS", "");
  expect(await run()).toEqual([42]);
  expect(simulate().seed).toBe(42);
  vi.stubEnv("GROUPWIRE_SEED", "x");
  await expect(run()).rejects.toThrow("GROUPWIRE_SEED is a whole number");
});

test("the log keeps the newest lines", () => {
  const log = new Log();
  for (let at = 0; at < 5000; at += 1) log.add(at, () => `line ${at}`);
  const lines = log.text().split("\n");
  expect(lines).toHaveLength(2001);
  expect(lines[0]).toBe("(3000 earlier lines are left out)");
  expect(lines.at(1)).toBe("   3000.0 ms  line 3000");
  expect(lines.at(-1)).toBe("   4999.0 ms  line 4999");
  expect(log.text(1)).toBe("(4999 earlier lines are left out)\n   4999.0 ms  line 4999");
});

test("the clock runs entries by time, and entries of one time in their order", () => {
  const clock = new SimulatedClock();
  const random = new Random(5);
  const times = Array.from({ length: 500 }, () => random.below(50));
  const ran: (readonly [number, number])[] = [];
  times.forEach((time, order) => {
    const cancel = clock.after(time, () => ran.push([clock.now(), order]));
    if (order % 7 === 0) cancel();
  });
  while (clock.next() < Infinity) clock.runNext();
  const wanted = times.map((time, order) => [time, order] as const).filter(([, order]) => order % 7 !== 0);
  expect(ran).toEqual(wanted.sort(([one, first], [two, second]) => one - two || first - second));
});

test("random numbers repeat, and are spread", () => {
  const draw = (seed: number): number[] => {
    const random = new Random(seed);
    return Array.from({ length: 10_000 }, () => random.fraction());
  };
  expect(draw(1)).toEqual(draw(1));
  const [one, two] = [draw(1), draw(2)];
  expect(one.slice(0, 5)).not.toEqual(two.slice(0, 5));
  for (const drawn of [one, two]) {
    const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
  }
});
