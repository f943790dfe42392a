import { describe, expect, test } from "vitest";
import { Playout, type Place } from "../../src/motion.js";
import { randomOf } from "../random.js";
import { HOSTILE } from "./hostile.js";

/**
 * What a playout shows at each frame, of places that `made` says, one every 40 ms, which arrive
 * `delay` later unless lost.
 */
function play(
  made: (time: number) => number[],
  {
    delay = () => 50,
    lost = () => false,
    end = 4000,
  }: { delay?: () => number; lost?: () => boolean; end?: number } = {},
): { time: number; place: Place; played: number }[] {
  const playout = new Playout();
  const packets = Array.from({ length: end / 40 }, (_, index) => ({
    index,
    time: 40 * index,
    at: 40 * index + delay(),
  }))
    .filter(() => !lost())
    .sort((a, b) => a.at - b.at);
  const frames = [];
  for (let now = 0; now < end; now += 16) {
    while (packets[0] && packets[0].at <= now) {
      const { index, time, at } = packets.shift() ?? { index: 0, time: 0, at: 0 };
      playout.push(made(time), at, at - time, index);
    }
    const place = playout.at(now);
    if (place) frames.push({ time: now, place, played: playout.played(now) });
  }
  return frames;
}

const line = (time: number): number[] => [time / 4, -time];
const circle = (time: number): number[] => [300 * Math.cos(time / 300), 300 * Math.sin(time / 300)];
const steps = (frames: { place: Place }[]): number[] =>
  frames.slice(1).map(({ place }, i) => Math.hypot(...place.map((value, d) => value - (frames[i]?.place[d] ?? 0))));

describe("a playout", () => {
  test("shows a steady movement steadily in spite of jitter", () => {
    const random = randomOf(1);
    const frames = play(line, { delay: () => 20 + random(60) }).slice(60);
    const lengths = steps(frames);
    const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    expect(Math.min(...lengths)).toBeGreaterThan(mean / 2);
    expect(Math.max(...lengths)).toBeLessThan(mean * 2);
  });

  test("is as late as jitter and loss require, within its limits", () => {
    const calm = new Playout();
    const lossy = new Playout();
    const far = new Playout({ maxDelay: 200 });
    for (let index = 0; index < 300; index++) {
      calm.push([index], 40 * index + 20, 20, index);
      if (index % 4 !== 1 && index % 4 !== 2) lossy.push([index], 40 * index + 20, 20, index);
      far.push([index], 40 * index + 2000, 2000, index);
    }
    expect(calm.delay).toBeLessThan(75);
    expect(lossy.delay).toBeGreaterThan(130);
    expect(lossy.delay).toBeLessThan(160);
    expect(far.delay).toBe(200);
  });

  test("follows a circle within some units at 20 % loss, where others would cut corners", () => {
    const random = randomOf(7);
    const frames = play(circle, { lost: () => random(5) === 0 }).slice(20);
    const errors = frames.map(({ place, played }) => {
      const [x = 0, y = 0] = circle(played);
      return Math.hypot((place[0] ?? 0) - x, (place[1] ?? 0) - y);
    });
    // Once five in a row were lost, 200 units long.
    expect(Math.max(...errors)).toBeLessThan(100);
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(6);
  });

  test("leads through a late place that it has not reached", () => {
    const [with1, without] = [new Playout({ minDelay: 200 }), new Playout({ minDelay: 200 })];
    for (const playout of [with1, without]) {
      playout.push([0, 0], 1000, 0, 0);
      playout.push([80, 0], 1080, 0, 2);
    }
    expect(with1.push([40, 30], 1090, 50, 1)).toBe(false);
    const highest = (playout: Playout): number => {
      let most = 0;
      for (let now = 1100; now < 1600; now += 5) most = Math.max(most, playout.at(now)?.[1] ?? 0);
      return most;
    };
    expect(highest(with1)).toBeGreaterThan(25);
    expect(highest(without)).toBe(0);
  });

  test("begins a movement after a rest at its speed, and does not take a loss for a rest", () => {
    const rested = new Playout();
    rested.push([0], 0, 0, 1);
    rested.push([0], 40, 0, 2);
    rested.push([100], 5000, 0, 3);
    expect(rested.at(4990)).toEqual([0]);
    expect(rested.at(5040)?.[0]).toBeLessThan(100);
    expect(rested.at(5400)).toEqual([100]);
    const lossy = new Playout({ minDelay: 300 });
    lossy.push([0], 0, 0, 1);
    lossy.push([0], 40, 0, 2);
    // Five places before this one were lost.
    lossy.push([240], 280, 0, 8);
    const half = [...Array(100).keys()].map((i) => 300 + 5 * i).find((now) => (lossy.at(now)?.[0] ?? 0) > 60) ?? 0;
    expect(lossy.played(half)).toBeLessThan(160);
  });

  test("is at the end of the movement when the page is shown again", () => {
    const playout = new Playout();
    for (let index = 0; index < 500; index++) playout.push([index], 40 * index, 0, index);
    expect(playout.at(40 * 499 + 5000)).toEqual([499]);
    expect(playout.isSettled(40 * 499 + 5000)).toBe(true);
  });

  test("takes indices modulo 2^32, and other dimensions as another thing", () => {
    const playout = new Playout();
    expect(playout.push([1], 0, 0, 2 ** 32 - 1)).toBe(true);
    expect(playout.push([2], 40, 0, 0)).toBe(true);
    expect(playout.push([9], 50, 0, 2 ** 32 - 2)).toBe(false);
    expect(playout.at(5000)).toEqual([2]);
    expect(playout.push([5, 6], 5100, 0, 1)).toBe(true);
    expect(playout.at(5100)).toEqual([5, 6]);
  });

  test.each(HOSTILE)(
    "whatever comes, it shows places between those that came, and its time does not go back (%#)",
    (seed) => {
      const random = randomOf(seed);
      const playout = new Playout({ maxDelay: random(600) });
      const weird = [NaN, Infinity, -Infinity, -5, 1e300, 2 ** 60, 2 ** 44, -(2 ** 44), Number.MIN_VALUE, 0];
      let [now, index, played] = [1000, random(2 ** 31) * 2, -Infinity];
      const seen: number[] = [];
      let isRight = true;
      for (let i = 0; i < 400; i++) {
        now += random(10) === 0 ? random(4000) : random(60);
        index += random(20) === 0 ? random(1000) - 500 : random(3);
        const place = [random(8) === 0 ? (weird[random(weird.length)] ?? 0) : random(1000) - 500];
        const age = random(8) === 0 ? (weird[random(weird.length)] ?? 0) : random(300);
        if (Math.abs(place[0] ?? NaN) <= 2 ** 44) seen.push(place[0] ?? 0);
        playout.push(place, random(30) === 0 ? NaN : now, age, random(3) === 0 ? undefined : index >>> 0);
        const shown = playout.at(now - random(20));
        if (!shown) continue;
        const value = shown[0] ?? NaN;
        isRight &&= value >= Math.min(...seen) && value <= Math.max(...seen) && playout.played(now) >= played;
        played = playout.played(now);
      }
      expect(isRight).toBe(true);
      expect(playout.isSettled(now + 1e7)).toBe(true);
    },
  );
});
