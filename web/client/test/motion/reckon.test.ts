import { describe, expect, test } from "vitest";
import { reckoned, ReckonedPlace, Reckoning, type Reckoned } from "../../src/motion.js";
import { randomOf } from "../random.js";
import { HOSTILE } from "./hostile.js";

/** A hand's movement: it turns, stops and starts. */
function hand(seed: number): (time: number) => number[] {
  const random = randomOf(seed);
  let [x, y, vx, vy] = [0, 0, 0, 0];
  return () => {
    if (random(20) === 0) [vx, vy] = random(3) === 0 ? [0, 0] : [random(40) - 20, random(40) - 20];
    [x, y] = [x + vx, y + vy];
    return [x, y];
  };
}

describe("dead reckoning", () => {
  test.each(HOSTILE)("keeps its error bound for whoever gets all messages, and sends less (%#)", (seed) => {
    const error = 4;
    const sender = new Reckoning({ error, digits: 1 });
    const move = hand(seed);
    let told: { state: Reckoned; now: number } | undefined;
    let [sent, worst] = [0, 0];
    for (let now = 0; now < 20_000; now += 16) {
      const place = move(now);
      const state = sender.update(place, now);
      if (state) [told, sent] = [{ state, now }, sent + 1];
      if (!told) throw new Error("the first place was not told");
      const at = reckoned(told.state, now - told.now);
      worst = Math.max(worst, Math.hypot(...at.map((value, i) => value - (place[i] ?? 0))), sender.errorAt(place, now));
    }
    // Rounding to one decimal place comes on top.
    expect(worst).toBeLessThanOrEqual(error + 0.1);
    expect(sent).toBeLessThan(20_000 / 16 / 2);
  });

  test("tells a steady movement a few times, and that it ended", () => {
    const sender = new Reckoning({ error: 2, heartbeat: 5000, horizon: 5000 });
    const states: Reckoned[] = [];
    for (let now = 0; now <= 3000; now += 16) {
      const state = sender.update([Math.min(now, 2000) / 2, 0], now);
      if (state) states.push(state);
    }
    expect(states.length).toBeLessThan(8);
    expect(states.at(-1)).toMatchObject({ v: [0, 0] });
    expect(states.at(-1)?.p[0]).toBeGreaterThan(997);
    expect(sender.isMoving(3000)).toBe(false);
  });

  test("frames between two places say nothing, and those after the last one that it stopped", () => {
    const sender = new Reckoning({ error: 2, horizon: 5000, heartbeat: 5000 });
    const states: (Reckoned & { now: number })[] = [];
    for (let now = 0; now < 1000; now += 8) {
      const state = now % 16 === 0 && now <= 480 ? sender.update([now], now) : sender.rest(now);
      if (state) states.push({ ...state, now });
    }
    expect(states.filter(({ now }) => now > 100 && now < 480)).toEqual([]);
    expect(states.at(-1)).toMatchObject({ p: [480], v: [0] });
  });

  test("repeats the state for those who have lost it", () => {
    const sender = new Reckoning({ error: 2, heartbeat: 1000 });
    const times = [];
    for (let now = 0; now < 3500; now += 16) if (sender.update([7, 7], now)) times.push(now);
    expect(times).toEqual([0, 1008, 2016, 3024]);
  });

  test("a new state is worked in without a jump", () => {
    const place = new ReckonedPlace({ blend: 100 });
    place.push({ p: [0, 0], v: [500, 0] }, 0, 0, 1);
    let last = place.at(0) ?? [];
    let longest = 0;
    for (let now = 1; now < 600; now += 1) {
      if (now === 200) place.push({ p: [130, 40], v: [0, 300] }, now, 0, 2);
      // This update comes in the middle of the first correction.
      if (now === 240) place.push({ p: [100, 90], v: [-200, 0] }, now, 0, 3);
      const at = place.at(now) ?? [];
      longest = Math.max(longest, Math.hypot(...at.map((value, i) => value - (last[i] ?? 0))));
      last = at;
    }
    expect(longest).toBeLessThan(2.5);
    expect(last).toEqual(reckoned({ p: [100, 90], v: [-200, 0] }, 359));
  });

  test("stops at the horizon, leaves out overtaken states, and settles", () => {
    const place = new ReckonedPlace({ horizon: 300 });
    expect(place.push({ p: [0], v: [100] }, 0, 50, 5)).toBe(true);
    expect(place.push({ p: [500], v: [0] }, 10, 0, 4)).toBe(false);
    expect(place.at(0)).toEqual([5]);
    expect(place.at(10_000)).toEqual([30]);
    expect(place.isSettled(100)).toBe(false);
    expect(place.isSettled(10_000)).toBe(true);
  });

  test.each(HOSTILE)("whatever comes, places are finite and near what was told (%#)", (seed) => {
    const random = randomOf(seed);
    const place = new ReckonedPlace();
    let isRight = true;
    const weird: unknown[] = [NaN, Infinity, -1e300, "7", null, undefined, {}, []];
    const pick = (): unknown => (random(6) === 0 ? weird[random(weird.length)] : random(1000) - 500);
    for (let i = 0, now = 0; i < 400; i++) {
      now += random(200);
      const state = random(10) === 0 ? weird[random(weird.length)] : { p: [pick(), pick()], v: [pick(), pick()] };
      place.push(
        state,
        random(20) === 0 ? NaN : now,
        random(9) === 0 ? NaN : random(500),
        random(2) === 0 ? undefined : random(9999),
      );
      // 500 units a second, for the horizon and a correction.
      isRight &&= (place.at(now + random(50)) ?? []).every((value) => Math.abs(value) < 2000);
    }
    const sender = new Reckoning({ error: 1 });
    for (let i = 0; i < 200; i++) {
      const far = random(4) === 0 ? [2 ** 44, -(2 ** 44)] : [pick(), pick()];
      const state = sender.update(far as number[], random(9) === 0 ? NaN : random(10_000) / 1000);
      // The receiver accepts every state that the sender sends.
      isRight &&= !state || place.push(state, 1e6 + i, 0);
    }
    expect(isRight).toBe(true);
  });
});
