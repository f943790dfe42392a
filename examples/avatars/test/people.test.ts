/** Twenty people in a simulated room, over networks that lose 5 % of the packets. */

import { simulate, type Simulation } from "groupwire/testing";
import { afterEach, expect, test } from "vitest";
import { startCrowd, type Crowd, type Member } from "../src/crowd";
import { COLORS, People, type Way } from "../src/people";
import { apart, SPEED, type Point } from "../src/walker";

const PEOPLE = 20;
const FRAME = 16;

/**
 * In units: 95 % of the shown places are off by at most the distance walked in 250 ms, and none by
 * more than the distance of a second.
 */
const ERROR = { usual: 0.25 * SPEED, largest: SPEED };
/** A step of a frame that is longer by this than what one walks in a frame looks like a jump. */
const JUMP = 25;

let net: Simulation;
let crowd: Crowd | undefined;

afterEach(() => {
  crowd?.leave();
  crowd = undefined;
  net.end();
});

/**
 * Measures what one person sees: the errors of the others' places, and the lengths of their steps
 * between frames.
 */
class Watch {
  readonly #errors: number[] = [];
  readonly #steps: number[] = [];
  readonly #before = new Map<number, Point>();

  constructor(
    readonly watcher: People,
    readonly way: Way,
  ) {}

  /** Looks at one frame. */
  look(members: readonly Member[]): void {
    const shown = new Map(this.watcher.shown(this.way).map(({ id, place }) => [id, place]));
    for (const member of members) {
      const id = member.people.room.room.self?.id ?? 0;
      const place = shown.get(id);
      if (!place) throw new Error(`somebody is not shown with "${this.way}"`);
      this.#errors.push(apart(place, member.wanderer.walker.place));
      const before = this.#before.get(id);
      if (before) this.#steps.push(apart(before, place) - (SPEED * FRAME) / 1000);
      this.#before.set(id, place);
    }
  }

  result() {
    const mean = this.#errors.reduce((sum, error) => sum + error) / this.#errors.length;
    const ordered = this.#errors.toSorted((a, b) => a - b);
    const usual = ordered[Math.floor(ordered.length * 0.95)];
    return { mean, usual, largest: ordered.at(-1), jump: Math.max(...this.#steps) };
  }
}

test("others are shown near where they are, and do not jump", { timeout: 120_000 }, async () => {
  net = simulate({ seed: 28, loss: 0.05, delay: 40, jitter: 20, fakeTimers: true });
  crowd = startCrowd(net.connect, "http://test", "meadow", PEOPLE, { random: net.random });
  const [watcher, ...others] = crowd.members;
  await net.until(() => watcher!.people.shown("predicted").length === PEOPLE - 1);
  const [predicted, raw] = [new Watch(watcher!.people, "predicted"), new Watch(watcher!.people, "raw")];
  for (let passed = 0; passed < 3000; passed += FRAME) {
    await net.run(FRAME);
    predicted.look(others);
    raw.look(others);
  }
  const results = { predicted: predicted.result(), raw: raw.result() };
  console.log(JSON.stringify(results));
  expect(results.predicted.usual).toBeLessThan(ERROR.usual);
  expect(results.predicted.largest).toBeLessThan(ERROR.largest);
  expect(results.predicted.jump).toBeLessThan(JUMP);
  // The advantage of prediction: messages alone come seldom, so `raw` lags and jumps.
  expect(results.raw.jump).toBeGreaterThan(2 * JUMP);
  expect(results.raw.mean).toBeGreaterThan(2 * results.predicted.mean);
});

test("who comes later sees those who rest, and hears what is being said", async () => {
  net = simulate({ seed: 29, loss: 0.05, fakeTimers: true });
  const join = (name: string): People => new People(net.connect, "http://test", "meadow", { name, color: COLORS[0]! });
  const bo = join("Bo");
  bo.move([300, 200]);
  bo.change({ says: "hello" });
  await net.run(5000);
  const ada = join("Ada");
  ada.move([100, 100]);
  await net.settle();
  const bosId = bo.room.room.self?.id;
  expect(ada.shown("predicted")).toEqual([
    { id: bosId, name: "Bo", color: COLORS[0], says: "hello", place: [300, 200] },
  ]);
  bo.change({ says: undefined });
  await net.settle();
  expect(ada.shown("eased")[0]?.says).toBeUndefined();
  bo.leave();
  await net.settle();
  expect(ada.shown("predicted")).toEqual([]);
  ada.leave();
});

test("what is no place, and a person without a name, has no effect", async () => {
  net = simulate({ seed: 30, fakeTimers: true });
  const ada = new People(net.connect, "http://test", "meadow", { name: "Ada", color: COLORS[0]! });
  ada.move([100, 100]);
  const stranger = net.join({ room: "meadow", presence: { name: 7 } });
  const walk = stranger.channel("walk", ada.room.channels.walk.channel.qos);
  for (const wrong of ["{", "null", '{"p":[1],"v":[1]}', '{"p":"x"}', '{"p":[1,2],"v":[0,0]}']) {
    walk.send(wrong);
    await net.settle();
    for (const way of ["predicted", "eased", "raw"] as const) expect(ada.shown(way)).toEqual([]);
  }
  ada.leave();
});

test("walking on in a room that is closed does no harm", async () => {
  net = simulate({ seed: 31, fakeTimers: true });
  const ada = new People(net.connect, "http://test", "meadow", { name: "Ada", color: COLORS[0]! });
  ada.move([100, 100]);
  await net.settle();
  ada.move([150, 100]);
  ada.room.room.leave();
  for (let x = 200; x < 400; x += 40) {
    ada.move([x, 100]);
    await net.run(100);
  }
  expect(ada.room.room.status).toBe("closed");
});
