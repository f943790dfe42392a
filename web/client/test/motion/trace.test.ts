import { describe, expect, test } from "vitest";
import { Followers } from "../../src/motion.js";

const TRACE = 600;

/** Pointers that are followed with traces. */
class Pointers extends Followers {
  constructor() {
    super({ trace: TRACE });
  }

  take(sender: number, place: readonly [number, number], now: number, age: number, index: number, isGone = false) {
    this.receive({ sender, key: undefined, age, index }, place, now, isGone);
  }
}

/**
 * Receives some of the positions of a pointer that moves 10 units to the right every 40 ms, from 0
 * at `start`.
 */
function receive(pointers: Pointers, start: number, steps: readonly number[]): void {
  for (const step of steps) pointers.take(1, [10 * step, 0], start + 40 * step + 50, 50, step);
}

const steps = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const lines = (pointers: Pointers, now: number) =>
  pointers.traces(now).map(({ points }) => points.map(({ place: [x = NaN] }) => x));
const rising = (values: readonly number[]) => values.every((value, i) => i === 0 || value > (values[i - 1] ?? value));

describe("traces of pointers", () => {
  test("lead from the position 600 ms ago to the pointer, and fade towards the old end", () => {
    const pointers = new Pointers();
    receive(pointers, 1000, steps(0, 50));
    const now = 3050;
    const [head] = pointers.views(now);
    const [trace, ...others] = pointers.traces(now);
    if (!head || !trace) throw new Error("nothing is seen");
    expect(others).toEqual([]);
    expect(trace.sender).toBe(1);
    expect(trace.points.at(-1)).toEqual({ place: [head.place[0], 0], age: 0 });
    // The pointer moves a quarter of a unit per millisecond.
    expect(trace.points[0]?.place[0]).toBeCloseTo((head.place[0] ?? NaN) - TRACE / 4, 5);
    expect(trace.points[0]?.age).toBe(1);
    expect(rising(trace.points.map(({ place: [x = NaN] }) => x))).toBe(true);
    expect(rising(trace.points.map(({ age }) => -age))).toBe(true);
  });

  test("shrink smoothly", () => {
    const pointers = new Pointers();
    receive(pointers, 1000, steps(0, 50));
    const ends = steps(0, 30).map((i) => lines(pointers, 3050 + 5 * i)[0]?.[0] ?? NaN);
    const shrunk = ends.slice(1).map((end, i) => end - (ends[i] ?? 0));
    for (const by of shrunk) expect(by).toBeCloseTo(5 / 4, 5);
  });

  test("a late position is inserted at its place in the trace and does not make the pointer jump", () => {
    const [lossy, repaired] = [new Pointers(), new Pointers()];
    // On a circle a missing position would change the trace.
    const message = (step: number) => {
      const [x, y] = [Math.cos(step / 3), Math.sin(step / 3)];
      return [Math.round(100 * x), Math.round(100 * y)] as const;
    };
    const lost = new Set([40, 43, 44, 46]);
    for (const step of steps(0, 48)) {
      if (lost.has(step)) continue;
      for (const pointers of [lossy, repaired]) pointers.take(1, message(step), 50 + 40 * step, 50, step);
    }
    const now = 50 + 40 * 48 + 20;
    // Recovered positions arrive in any order, each with its age.
    for (const step of [44, 40, 46, 43]) repaired.take(1, message(step), now, now - 40 * step, step);
    const points = (pointers: Pointers) => pointers.traces(now)[0]?.points ?? [];
    const places = (pointers: Pointers) => points(pointers).map(({ place: [x, y] }) => `${x} ${y}`);
    // The positions without the ends, which lie between two positions.
    const all = steps(0, 48).map((step) => message(step).join(" "));
    const made = (pointers: Pointers) =>
      places(pointers)
        .slice(1, -1)
        .map((place) => all.lastIndexOf(place));
    expect(made(lossy).filter((step) => lost.has(step))).toEqual([]);
    expect(made(repaired)).toEqual(steps(made(repaired)[0] ?? 0, made(repaired).at(-1) ?? 0));
    expect(made(repaired)).toEqual(expect.arrayContaining([...lost]));
    expect(points(repaired).every(({ age }, i, all) => i === 0 || age < (all[i - 1]?.age ?? 1))).toBe(true);
    // The pointer goes on from where it is, through the recovered positions that it has not passed,
    // to the same end.
    const place = (pointers: Pointers, time: number) => pointers.views(time).flatMap(({ place }) => place);
    place(repaired, now).forEach((value, i) => expect(value).toBeCloseTo(place(lossy, now)[i] ?? NaN, 5));
    expect(place(repaired, now + 1000)).toEqual(place(lossy, now + 1000));
  });

  test("a late message about leaving the board, or one after it, does not hide or show the pointer", () => {
    const pointers = new Pointers();
    receive(pointers, 1000, [0, 1, 3]);
    pointers.take(1, [20, 0], 1200, 120, 2, true);
    expect(pointers.views(1250)[0]?.isGone).toBe(false);
    pointers.take(1, [40, 0], 1260, 50, 5, true);
    pointers.take(1, [35, 0], 1270, 100, 4);
    expect(pointers.views(1300)[0]?.isGone).toBe(true);
  });

  test("no line is drawn between the places where the pointer left and came back", () => {
    const pointers = new Pointers();
    receive(pointers, 1000, steps(0, 4));
    pointers.take(1, [50, 0], 1250, 50, 5, true);
    for (const step of steps(6, 12)) pointers.take(1, [1000 + step, 0], 1050 + 40 * step, 50, step);
    const seen = lines(pointers, 1540);
    expect(seen).toHaveLength(2);
    expect(Math.max(...(seen[0] ?? []))).toBe(50);
    expect(Math.min(...(seen[1] ?? []))).toBe(1006);
  });

  test("a rest before a movement is not part of the trace, which has faded 600 ms after the movement", () => {
    const pointers = new Pointers();
    receive(pointers, 1000, [0]);
    receive(pointers, 5000, steps(1, 10));
    const [line] = lines(pointers, 5500);
    expect(line?.[0]).toBe(0);
    expect(line?.length).toBeLessThanOrEqual(13);
    expect(pointers.isSettled(5450 + TRACE - 50)).toBe(false);
    // The longest delay of a playout is 300 ms.
    expect(lines(pointers, 5450 + 300 + TRACE)).toEqual([]);
    expect(pointers.isSettled(5450 + 300 + TRACE)).toBe(true);
  });

  test("the index orders positions whose ages are wrong, also when it wraps around to 0", () => {
    const pointers = new Pointers();
    const last = 2 ** 32 - 1;
    pointers.take(1, [1, 0], 1000, 0, last - 1);
    pointers.take(1, [2, 0], 1040, 100, last);
    pointers.take(1, [3, 0], 1041, 300, 0);
    expect(pointers.views(1500)[0]?.place[0]).toBe(3);
    pointers.take(1, [2, 0], 1500, 0, last);
    expect(pointers.views(2500)[0]?.place[0]).toBe(3);
  });
});
