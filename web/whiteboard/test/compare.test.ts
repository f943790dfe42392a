import { describe, expect, test } from "vitest";
import { readCompareAddress } from "../src/compare/address";
import { Source } from "../src/compare/source";
import { topFor } from "../src/compare/spark";
import { quantile, STALL, Timeline, WINDOW } from "../src/compare/timeline";
import { verdict } from "../src/compare/verdict";

/** A position each 40 ms, `late` milliseconds on its way, without those that are lost. */
function receive(
  timeline: Timeline,
  count: number,
  late: number,
  isLost: (i: number) => boolean = () => false,
): number {
  for (let i = 0; i < count; i += 1) if (!isLost(i)) timeline.arrive(1000 + 40 * i + late, 1000 + 40 * i);
  return 1000 + 40 * count + late;
}

describe("how old what is shown is", () => {
  test("grows from arrival to arrival", () => {
    const timeline = new Timeline();
    const end = receive(timeline, 400, 30);
    const { mean, p99, arrivalsPerSecond, stalls } = timeline.numbers(end - 1);
    // From 30 ms to 70 ms, evenly.
    expect(mean).toBeCloseTo(50, -1);
    expect(p99).toBeGreaterThan(60);
    expect(p99).toBeLessThanOrEqual(70);
    expect(arrivalsPerSecond).toBeCloseTo(25, 0);
    expect(stalls).toBe(0);
  });

  test("a lost position makes it older until the next one", () => {
    const timeline = new Timeline();
    const end = receive(timeline, 400, 30, (i) => i % 20 === 10);
    const { p99, stalls } = timeline.numbers(end - 1);
    expect(p99).toBeGreaterThan(90);
    expect(p99).toBeLessThanOrEqual(110);
    expect(stalls).toBe(0);
  });

  test("a stop is counted while it lasts and afterwards, once", () => {
    const timeline = new Timeline();
    const end = receive(timeline, 100, 30);
    expect(timeline.numbers(end + STALL - 50).stalls).toBe(0);
    expect(timeline.numbers(end + STALL + 50).stalls).toBe(1);
    timeline.arrive(end + 200, end + 190);
    expect(timeline.numbers(end + 210).stalls).toBe(1);
  });

  test("what was made before the newest changes nothing", () => {
    const timeline = new Timeline();
    expect(timeline.arrive(100, 90)).toBe(true);
    expect(timeline.arrive(110, 80)).toBe(false);
    expect(timeline.arrive(120, 90)).toBe(false);
    expect(timeline.numbers(130).mean).toBe(30);
  });

  test("only the last 20 s count, and after a start over only what came since", () => {
    const timeline = new Timeline();
    const end = receive(timeline, 100, 500);
    for (let at = end; at < end + WINDOW + 100; at += 20) timeline.arrive(at, at - 5);
    expect(timeline.numbers(end + WINDOW + 100).p99).toBeLessThan(40);
    timeline.reset(end + WINDOW + 100);
    expect(timeline.numbers(end + WINDOW + 100)).toMatchObject({ mean: undefined, p99: undefined, stalls: 0 });
    timeline.arrive(end + WINDOW + 400, end + WINDOW + 399);
    expect(timeline.numbers(end + WINDOW + 400).p99).toBeGreaterThan(250);
  });

  test("nothing is known before the first arrival, nor is a page that slept charged for more than the window", () => {
    const timeline = new Timeline();
    expect(timeline.numbers(1e6)).toEqual({ mean: undefined, p99: undefined, arrivalsPerSecond: 0, stalls: 0 });
    expect(timeline.peaks(10)).toEqual(Array(10).fill(undefined));
    timeline.arrive(1e6, 1e6 - 10);
    expect(timeline.numbers(1e9).mean).toBeGreaterThan(1e8);
    expect(timeline.peaks(200)).toHaveLength(200);
  });

  test("its course has the peaks at their places, the newest last", () => {
    const timeline = new Timeline();
    for (let at = 0; at < 5000; at += 20) timeline.arrive(at, at - 30);
    timeline.advance(5300);
    const peaks = timeline.peaks(200);
    expect(peaks.slice(0, 147).every((peak) => peak === undefined)).toBe(true);
    expect(peaks[160]).toBeLessThanOrEqual(60);
    expect(peaks.at(-1)).toBeGreaterThan(300);
    expect(topFor(peaks)).toBe(600);
  });

  test("quantiles", () => {
    const values = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(quantile(values, 0.99)).toBe(99);
    expect(quantile(values, 1)).toBe(100);
    expect(quantile([7], 0.99)).toBe(7);
    expect(quantile([], 0.5)).toBeUndefined();
  });
});

describe("the true pointer", () => {
  test("moves by itself, follows the hand, and glides back", () => {
    const source = new Source();
    expect(source.at(0)).not.toEqual(source.at(300));
    source.move(10, 20, 1000);
    expect(source.at(1100)).toEqual({ x: 10, y: 20 });
    expect(source.isByHand(1100)).toBe(true);
    expect(source.at(20_000)).toEqual(new Source().at(20_000));
    source.move(-50, 1e9, 30_000);
    expect(source.at(30_000)).toEqual({ x: 0, y: 620 });
  });
});

test("the address says the network and how long to record; nonsense is left out", () => {
  const read = (query: string) => readCompareAddress(new URL(`https://example.com/?compare&${query}`));
  expect(read("")).toMatchObject({ server: "wss://example.com/", settings: { loss: 5, delay: 20 }, record: 0 });
  expect(read("").room).not.toBe(read("").room);
  expect(read("room=mine&loss=3&delay=40&record=20")).toMatchObject({
    room: "mine",
    settings: { loss: 3, delay: 40 },
    record: 20,
  });
  expect(read("loss=99&delay=-1&record=x")).toMatchObject({ settings: { loss: 20, delay: 0 }, record: 0 });
});

test("the sentence says what is seen", () => {
  const numbers = (p99: number | undefined) => ({ mean: 1, p99, arrivalsPerSecond: 25, stalls: 0 });
  const lossy = { loss: 5, delay: 20 };
  expect(verdict({ loss: 0, delay: 20 }, numbers(80), numbers(80))).toMatch(/both are the same/);
  expect(verdict(lossy, numbers(300), numbers(100))).toMatch(/300 ms behind, datagrams 100 ms: 3.0 times less/);
  expect(verdict(lossy, numbers(100), numbers(90))).toMatch(/about the same/);
  expect(verdict(lossy, numbers(100), undefined)).toMatch(/Once in a while/);
});
