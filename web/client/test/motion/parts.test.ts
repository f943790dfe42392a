import { describe, expect, test } from "vitest";
import { Damped, Followers, Line, LocalLag, Prediction, Trace } from "../../src/motion.js";
import { randomOf } from "../random.js";
import { HOSTILE } from "./hostile.js";

describe("a line", () => {
  test.each(HOSTILE)("is whole once all pieces have come, in any order and repeatedly (%#)", (seed) => {
    const random = randomOf(seed);
    const values = Array.from({ length: 60 }, (_, i) => [i, i * i]).flat();
    const line = new Line();
    let isRight = true;
    const pieces = Array.from({ length: 12 }, (_, i) => 5 * i).flatMap((from) => [from, from]);
    for (let now = 0; pieces.length > 0; now += random(40)) {
      const [from = 0] = pieces.splice(random(pieces.length), 1);
      line.push(values.slice(2 * from, 2 * from + 10), from);
      const shown = line.at(now);
      isRight &&= shown.length <= 2 * line.length && shown.every(Number.isFinite);
      isRight &&= (line.end(now) ?? []).join() === shown.slice(-2).join();
    }
    expect(isRight).toBe(true);
    expect(line.at()).toEqual(values);
    expect(line.at(1e6)).toEqual(values);
    expect(line.isSettled(1e6)).toBe(true);
  });

  test("bridges what is missing, and fills it in at once where it is drawn already", () => {
    const line = new Line({ dimensions: 1 });
    line.push([0, 1], 0);
    line.push([4, 5], 4);
    line.at(0);
    expect(line.at(1000)).toEqual([0, 1, 4, 5]);
    line.push([2, 3], 2);
    expect(line.at(1000)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("grows steadily at its end, and leaves out nonsense", () => {
    const line = new Line({ dimensions: 1, limit: 12 });
    line.at(0);
    line.push([0, 100, NaN, "x" as unknown as number, 200], 0);
    line.push([7], -1);
    line.push([7], 1.5);
    line.push([7], NaN);
    const ends = [10, 20, 30, 60, 90, 300].map((now) => line.at(now).at(-1) ?? -1);
    expect([...ends].sort((a, b) => a - b)).toEqual(ends);
    expect(ends.at(-1)).toBe(200);
    line.push(Array<number>(50).fill(1), 10);
    expect(line.length).toBe(12);
  });
});

describe("local lag", () => {
  test("lets actions of all take effect in the order in which they were made", () => {
    const lag = new LocalLag<string>({ lag: 100 });
    lag.add("own", 1000);
    lag.add("earlier", 1060, 70);
    lag.add("late", 1090, 300);
    expect(lag.due(1089)).toEqual([{ action: "late", made: 790, late: 200 }]);
    expect(lag.nextIn(1089)).toBe(1);
    expect(lag.due(1099).map(({ action }) => action)).toEqual(["earlier"]);
    expect(lag.due(1100)).toEqual([{ action: "own", made: 1000, late: 0 }]);
    expect(lag.nextIn(1100)).toBe(Infinity);
  });

  test("says which lag the ages of others need", () => {
    const lag = new LocalLag<number>();
    expect(lag.needed()).toBeUndefined();
    for (let i = 1; i <= 100; i++) lag.add(i, 1000, i);
    expect(lag.needed()).toBe(95);
    expect(lag.needed(50)).toBe(50);
  });

  test("holds at most so many, and takes bad ages as none", () => {
    const lag = new LocalLag<number>({ limit: 10 });
    for (let i = 0; i < 30; i++) lag.add(i, 1000, [NaN, -3, Infinity][i % 3]);
    lag.add(99, NaN);
    expect(lag.due(1000).map(({ action }) => action)).toEqual([...Array(20).keys()]);
    expect(lag.due(1100)).toHaveLength(10);
  });
});

describe("prediction", () => {
  const options = {
    init: [] as readonly string[],
    step: (state: readonly string[], action: string) => [...state, action],
  };

  test("replays own actions on top of those that the room ordered first", () => {
    const prediction = new Prediction(options);
    prediction.act("a");
    prediction.act("b");
    prediction.ordered("x", false);
    expect(prediction.state).toEqual(["x", "a", "b"]);
    prediction.ordered("a", true);
    prediction.ordered("y", false);
    expect([prediction.confirmed, prediction.state]).toEqual([
      ["x", "a", "y"],
      ["x", "a", "y", "b"],
    ]);
    expect(prediction.pending).toBe(1);
  });

  test("takes a host's state with the number of the last action that it has", () => {
    const prediction = new Prediction(options);
    const [one, two] = ["a", "b", "c"].map((action) => prediction.act(action));
    prediction.confirm(["A", "B"], two ?? 0);
    expect(prediction.state).toEqual(["A", "B", "c"]);
    // Confirmations that were overtaken, or that are about actions that were never done.
    prediction.confirm(["A"], one ?? 0);
    prediction.confirm(["?"], 9);
    prediction.confirm(["?"], NaN);
    expect(prediction.state).toEqual(["A", "B", "c"]);
    prediction.reset(["z"], { keep: true });
    expect(prediction.state).toEqual(["z", "c"]);
    prediction.reset(["z"]);
    expect(prediction.state).toEqual(["z"]);
  });

  test("actions that cannot be applied have no effect, and those of others after them count", () => {
    const prediction = new Prediction({
      init: 0,
      step: (sum: number, by: number) => {
        if (!Number.isSafeInteger(sum + by)) throw new RangeError("the sum is too large");
        return sum + by;
      },
    });
    expect(() => prediction.act(1e308)).toThrow("too large");
    prediction.act(2 ** 53 - 2);
    prediction.act(1);
    prediction.ordered(1e308, false);
    // The room ordered an own action that no longer fits.
    prediction.ordered(5, false);
    expect([prediction.state, prediction.pending]).toEqual([6, 2]);
    prediction.ordered(2 ** 53 - 2, true);
    prediction.ordered(1, true);
    prediction.ordered(NaN, false);
    expect([prediction.confirmed, prediction.state, prediction.pending]).toEqual([6, 6, 0]);
  });

  test("takes no more than its limit", () => {
    const prediction = new Prediction({ ...options, limit: 2 });
    prediction.act("a");
    prediction.act("b");
    expect(prediction.isFull).toBe(true);
    expect(() => prediction.act("c")).toThrow("not confirmed");
    expect(prediction.state).toEqual(["a", "b"]);
  });

  test.each(HOSTILE)("all programs end with the same state, whatever the order (%#)", (seed) => {
    const random = randomOf(seed);
    const step = (state: number, action: number): number => (state * 31 + action) % 1_000_003;
    const programs = [0, 1, 2].map(() => new Prediction({ init: 1, step }));
    const waiting: number[][] = [[], [], []];
    let all = 1;
    let isRight = true;
    for (let i = 0; i < 300; i++) {
      const who = random(3);
      if (random(2) === 0) {
        const action = random(1000);
        programs[who]?.act(action);
        waiting[who]?.push(action);
        continue;
      }
      const action = waiting[who]?.shift();
      if (action === undefined) continue;
      all = step(all, action);
      programs.forEach((program, id) => program.ordered(action, id === who));
      isRight &&= programs.every((program, id) => program.state === (waiting[id] ?? []).reduce(step, all));
    }
    expect(isRight).toBe(true);
    programs.forEach((program) => expect(program.confirmed).toBe(all));
  });
});

describe("easing, traces and followers", () => {
  test("easing approaches, arrives, and ignores nonsense", () => {
    const damped = new Damped(50);
    damped.push([0], 0);
    damped.push([100], 0);
    damped.push([NaN], 10);
    damped.push([7], NaN);
    expect(damped.at(50)?.[0]).toBeCloseTo(100 * (1 - Math.exp(-1)), 5);
    expect(damped.isSettled(50)).toBe(false);
    expect(damped.at(2000)).toEqual([100]);
    expect(damped.isSettled(2000)).toBe(true);
  });

  test("easing arrives at the furthest places, and those beyond are none", () => {
    const damped = new Damped();
    expect([damped.push([0], 0), damped.push([2 ** 44], 0), damped.push([2 ** 50], 0)]).toEqual([true, true, false]);
    for (let now = 0; now < 10_000 && !damped.isSettled(now); now += 16);
    expect([damped.isSettled(10_000), damped.at(10_000)]).toEqual([true, [2 ** 44]]);
  });

  test.each(HOSTILE)("a trace has ages from 1 to 0, oldest first, whatever comes (%#)", (seed) => {
    const random = randomOf(seed);
    const trace = new Trace();
    let isRight = true;
    for (let i = 0, now = 0; i < 300; i++) {
      now += random(60);
      const age = random(9) === 0 ? NaN : random(200);
      trace.add([random(9) === 0 ? NaN : random(100)], now, age, { isLate: random(4) === 0, isEnd: random(10) === 0 });
      for (const line of trace.at(now - random(100), [5])) {
        const ages = line.map((point) => point.age);
        isRight &&= ages.every((age, at) => age >= 0 && age <= (ages[at - 1] ?? 1));
        isRight &&= line.every(({ place }) => place.every(Number.isFinite));
      }
    }
    expect(isRight).toBe(true);
    expect(trace.at(1e9)).toEqual([]);
  });

  test("a trace of many places, or of places with any age, stays short", () => {
    const trace = new Trace();
    for (let i = 0; i < 10_000; i++) trace.add([i], i, [0, Infinity, -1, 1e9][i % 4] ?? 0, { isLate: i % 3 === 0 });
    expect(trace.at(9990, [0]).flat().length).toBeLessThan(130);
  });

  test("followers keep participants and keys apart, and forget who left", () => {
    const followers = new Followers({ trace: 500 });
    const from = (sender: number, index: number, key?: string) => ({ sender, index, key, age: 0 });
    followers.receive(from(1, 1), [1, 1], 0);
    followers.receive(from(1, 1, "k"), [2, 2], 0);
    followers.receive(from(2, 1), [3, 3], 0);
    expect(followers.receive(from(2, 0), [9, 9], 10)).toBe(false);
    expect(followers.views(50).map(({ place }) => place)).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(followers.receive(from(2, 2), null, 60)).toBe(true);
    expect(followers.views(100).map(({ isGone }) => isGone)).toEqual([false, false, true]);
    followers.drop(1, "k");
    followers.keep((sender) => sender === 1);
    expect(followers.views(100)).toMatchObject([{ sender: 1, key: undefined, rested: 100 }]);
    expect(followers.receive(from(3, 1), null, 100)).toBe(false);
  });

  test("followers keep at most so many keys of a participant, those that moved last", () => {
    const followers = new Followers();
    for (let i = 0; i < 1000; i++) followers.receive({ sender: 1, key: `${i}`, index: i, age: 0 }, [i], i);
    for (let i = 1; i < 10; i++) followers.receive({ sender: 1, key: "800", index: 1000 + i, age: 0 }, [i], 1000 + i);
    for (let i = 0; i < 199; i++) followers.receive({ sender: 1, key: `new ${i}`, index: i, age: 0 }, [i], 2000 + i);
    const keys = followers.views(3000).map(({ key }) => key);
    expect([keys.length, keys.includes("800"), keys.includes("new 198")]).toEqual([200, true, true]);
  });

  test.each(["curve", "reckon", "damped", "raw"] as const)(
    "with the mode %s a pointer is seen as ever after any numbers, and nothing is drawn once it rests",
    (mode) => {
      const value = (x: number, y = x) => (mode === "reckon" ? { p: [x], v: [y] } : [x]);
      const wild = [
        0,
        1e300,
        NaN,
        Infinity,
        -Infinity,
        2 ** 44,
        -(2 ** 44),
        2 ** 44 + 1,
        Number.MIN_VALUE,
        -0,
        2 ** 31,
        -1,
      ];
      for (const seed of HOSTILE) {
        const random = randomOf(seed);
        const pick = (): number => wild[random(wild.length)] ?? 0;
        const followers = new Followers({ mode, trace: 600 });
        let [now, index] = [1000, 0];
        for (let i = 0; i < 100; i++) {
          now += random(60);
          index = (index + (random(10) === 0 ? random(2 ** 24) : 1)) >>> 0;
          const key = random(9) === 0 ? "other" : undefined;
          followers.receive(
            { sender: 1, key, index, age: random(3) === 0 ? pick() : random(200) },
            value(pick(), pick()),
            now,
          );
          const shown = [...followers.views(now), ...followers.traces(now).flatMap(({ points }) => points)];
          for (const { place } of shown)
            if (!place.every((x) => Math.abs(x) <= 2 ** 46)) expect(place, `seed ${seed}`).toBe("near");
        }
        for (let x = 0; x <= 50; x++) {
          index = (index + 1) >>> 0;
          now += 40;
          followers.receive({ sender: 1, key: undefined, index, age: 30 }, value(x, 0), now);
          followers.views(now);
        }
        const view = followers.views(now + 1500).find(({ key }) => key === undefined);
        expect(view?.place[0], `seed ${seed}`).toBe(50);
        expect(followers.isSettled(now + 3000), `seed ${seed}`).toBe(true);
      }
    },
  );

  test.each(["reckon", "damped", "raw"] as const)("followers show the newest with the mode %s", (mode) => {
    const followers = new Followers({ mode });
    const value = (p: number) => (mode === "reckon" ? { p: [p], v: [0] } : [p]);
    for (const [index, p] of [
      [1, 10],
      [3, 30],
      [2, 20],
    ] as const)
      followers.receive({ sender: 1, key: undefined, index, age: 0 }, value(p), 0);
    expect(
      followers.receive(
        { sender: 1, key: undefined, index: 4, age: 0 },
        mode === "reckon" ? [4] : { p: [4], v: [0] },
        0,
      ),
    ).toBe(false);
    expect(followers.views(2000)).toMatchObject([{ place: [30] }]);
    expect(followers.isSettled(2000)).toBe(true);
  });
});
