import { describe, expect, test, vi } from "vitest";
import { readCompareAddress } from "../src/compare/address";
import { said } from "../src/compare/network";
import { pathObstacle } from "../src/compare/obstacle";
import { describe as describeRecording } from "../src/compare/recorder";
import { write } from "../src/compare/recording";
import { Source } from "../src/compare/source";
import { topFor } from "../src/compare/spark";
import { Made, quantile, STALL, Timeline, WINDOW } from "../src/compare/timeline";
import { verdict } from "../src/compare/verdict";

/**
 * Receives a position every 20 ms; every second one arrives `late` milliseconds later unless it is
 * lost.
 */
function receive(count: number, late: number, isLost: (i: number) => boolean = () => false): [Timeline, Made, number] {
  const made = new Made();
  const timeline = new Timeline(made);
  for (let i = 0; i < count; i += 1) {
    const now = 1000 + 40 * i;
    // The arrivals, in order of time.
    made.add(now);
    if (late < 20 && !isLost(i)) timeline.arrive(now + late, now);
    made.add(now + 20);
    if (late >= 20 && !isLost(i)) timeline.arrive(now + late, now);
  }
  return [timeline, made, 1000 + 40 * count];
}

describe("the error in time of a board", () => {
  test("is 0 until a newer position is made, and grows from then on", () => {
    const made = new Made();
    const timeline = new Timeline(made);
    made.add(1000);
    timeline.arrive(1010, 1000);
    expect(timeline.behind(1500)).toBe(0);
    made.add(1500);
    made.add(1520);
    expect([timeline.behind(1400), timeline.behind(1530)]).toEqual([0, 30]);
    timeline.arrive(1540, 1500);
    expect(timeline.behind(1540)).toBe(20);
  });

  test("has the expected statistics for a steady pointer", () => {
    const [timeline, , end] = receive(400, 30);
    const { median, p99, arrivalsPerSecond, stalls } = timeline.numbers(end);
    // The next position is made 20 ms later, so errors grow from 10 ms to 50 ms.
    expect(median).toBeGreaterThan(25);
    expect(median).toBeLessThan(35);
    expect(p99).toBeGreaterThanOrEqual(45);
    expect(p99).toBeLessThanOrEqual(50);
    expect(arrivalsPerSecond).toBeCloseTo(25, 0);
    expect(stalls).toBe(0);
  });

  test("grows after a lost position until the next one", () => {
    const [timeline, , end] = receive(400, 30, (i) => i % 20 === 10);
    const { p99, stalls } = timeline.numbers(end);
    expect(p99).toBeGreaterThan(70);
    expect(p99).toBeLessThanOrEqual(90);
    expect(stalls).toBe(0);
  });

  test("counts a stop once, while it lasts and afterwards", () => {
    const [timeline, made, end] = receive(100, 30);
    const last = end - 10;
    expect(timeline.numbers(last + STALL - 10).stalls).toBe(0);
    expect(timeline.numbers(last + STALL + 50).stalls).toBe(1);
    made.add(last + 190);
    timeline.arrive(last + 200, last + 190);
    expect(timeline.numbers(last + 210).stalls).toBe(1);
  });

  test("is not changed by a position older than the newest", () => {
    const made = new Made();
    const timeline = new Timeline(made);
    for (const time of [80, 90, 100]) made.add(time);
    expect(timeline.arrive(100, 90)).toBe(true);
    expect(timeline.arrive(110, 80)).toBe(false);
    expect(timeline.arrive(120, 90)).toBe(false);
    expect(timeline.numbers(130).median).toBe(20);
  });

  test("does not count while the page itself is stopped", () => {
    const [timeline, made, end] = receive(400, 30);
    const last = end - 10;
    // One position is on its way when the page stops.
    made.add(last + 5);
    timeline.skip(last + 10, last + 3000);
    made.pause(2990);
    expect(timeline.behind(last + 3002)).toBeLessThan(40);
    made.add(last + 3010);
    timeline.arrive(last + 3020, last + 3010);
    const { p99, stalls } = timeline.numbers(last + 3020);
    expect(p99).toBeLessThan(100);
    expect(stalls).toBe(0);
  });

  test("covers the last 20 s, or the time since a reset", () => {
    const [timeline, made, end] = receive(100, 39);
    for (let at = end; at < end + WINDOW + 100; at += 20) {
      made.add(at);
      timeline.arrive(at + 5, at);
    }
    const now = end + WINDOW + 100;
    expect(timeline.numbers(now).p99).toBeLessThan(20);
    timeline.reset(now);
    expect(timeline.numbers(now)).toMatchObject({ median: undefined, p99: undefined, stalls: 0 });
    made.add(now + 50);
    made.add(now + 300);
    timeline.arrive(now + 350, now + 300);
    expect(timeline.numbers(now + 350).p99).toBeGreaterThan(250);
  });

  test("is unknown before the first position", () => {
    const timeline = new Timeline(new Made());
    expect(timeline.numbers(1e6)).toEqual({
      seconds: 0,
      median: undefined,
      p99: undefined,
      arrivalsPerSecond: 0,
      stalls: 0,
    });
    expect(timeline.peaks(10)).toEqual(Array(10).fill(undefined));
    timeline.arrive(1e6, 1e6 - 10);
    expect(timeline.numbers(1e9).median).toBe(0);
    expect(timeline.peaks(200)).toHaveLength(200);
  });

  test("has its peaks in order, the newest last", () => {
    const made = new Made();
    const timeline = new Timeline(made);
    for (let at = 0; at < 5000; at += 20) {
      made.add(at);
      timeline.arrive(at + 5, at);
    }
    made.add(5000);
    timeline.advance(5300);
    const peaks = timeline.peaks(200);
    expect(peaks.slice(0, 147).every((peak) => peak === undefined)).toBe(true);
    expect(peaks[160]).toBeLessThanOrEqual(20);
    expect(peaks.at(-1)).toBe(300);
    expect(topFor(peaks)).toBe(300);
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
    expect(source.at(30_000)).toEqual({ x: 0, y: 500 });
  });
});

test("the address sets the network and the recording; invalid values are ignored", () => {
  const read = (query: string) => readCompareAddress(new URL(`https://example.com/?compare&${query}`));
  expect(read("")).toMatchObject({ server: "wss://example.com/", settings: { loss: 5, delay: 40 }, record: 0 });
  expect(read("").room).not.toBe(read("").room);
  expect(read("room=mine&loss=3&delay=40&record=20")).toMatchObject({
    room: "mine",
    settings: { loss: 3, delay: 40 },
    record: 20,
  });
  expect(read("loss=99&delay=-1&record=x")).toMatchObject({ settings: { loss: 20, delay: 0 }, record: 0 });
});

describe("the sentence about the comparison", () => {
  const numbers = (p99: number | undefined) => ({ seconds: 20, median: 1, p99, arrivalsPerSecond: 25, stalls: 0 });
  const lossy = { loss: 5, delay: 20 };
  const lossless = { loss: 0, delay: 20 };

  test("over an emulated network", () => {
    expect(verdict(lossless, numbers(80), numbers(80))).toMatch(/both are about the same/);
    expect(verdict(lossless, numbers(180), numbers(60))).toMatch(/Nothing is lost, and yet the stream falls 180 ms/);
    expect(verdict(lossy, numbers(300), numbers(100))).toMatch(/300 ms behind, datagrams 100 ms: 3.0 times less/);
    expect(verdict(lossy, numbers(100), numbers(90))).toMatch(/about the same/);
    expect(verdict(lossy, numbers(600), numbers(590))).toMatch(/busy/);
    expect(verdict(lossy, numbers(90), numbers(180))).toMatch(/datagrams 180 ms: 2.0 times more/);
    expect(verdict(lossy, { ...numbers(300), seconds: 1 }, numbers(100))).toMatch(/A stream stops until/);
    expect(verdict(lossy, numbers(100), undefined)).toMatch(/Only WebSocket is shown/);
  });

  test("over the user's own network tells of no emulated loss", () => {
    const all = [
      verdict("own", numbers(80), numbers(80)),
      verdict("own", numbers(400), numbers(80)),
      verdict("own", numbers(80), numbers(400)),
      verdict("own", numbers(0), numbers(40)),
    ];
    expect(all[0]).toBe("On your own network both are about the same. They differ where packets get lost.");
    expect(all[1]).toBe("On your own network the stream falls 400 ms behind, datagrams 80 ms: 5.0 times less.");
    expect(all[3]).toBe("On your own network the stream falls 0 ms behind, datagrams 40 ms: more.");
    for (const text of all) expect(text).not.toMatch(/%|give them some seconds|Infinity/);
    expect(said("own").foot).not.toMatch(/emulate|dropped/);
    expect(said("own").note).toMatch(/--emulate/);
  });

  test("claims nothing before the server has answered", () => {
    expect(verdict(undefined, numbers(400), numbers(80))).not.toMatch(/\d/);
    expect(said(undefined)).toEqual({ note: "", foot: "Numbers are of the last 20 seconds." });
    expect(said(lossy).foot).toMatch(/really dropped/);
  });
});

test("why WebTransport does not connect depends on what the server answers", async () => {
  const asked = async (fetch: () => Promise<Response>): Promise<string> => {
    vi.stubGlobal("fetch", fetch);
    return (await pathObstacle("ws://127.0.0.1:8080/")).what;
  };
  const answers = (body: string) => () => Promise.resolve(new Response(body));
  expect(await asked(answers('{"webtransport":{"port":4433}}'))).toBe("WebTransport does not get through.");
  expect(await asked(answers("{}"))).toBe("This server offers no WebTransport.");
  expect(await asked(answers("<!doctype html>"))).toBe("This server offers no WebTransport.");
  expect(await asked(() => Promise.reject(new TypeError("Failed to fetch")))).toBe("The server does not answer.");
  vi.unstubAllGlobals();
});

test("a recording has a line for each moment and a summary", () => {
  const shown = (behind: number) => ({ x: 1, y: 2, time: 3.14159, behind });
  const moments = Array.from({ length: 200 }, (_, i) => ({
    time: i * 10,
    true: { x: 1, y: 2 },
    websocket: shown(i < 196 ? 40 : 400),
    webtransport: i < 10 ? undefined : shown(i < 100 ? 20.04 : 30),
  }));
  const { lines, summary } = write(moments, { loss: 5, delay: 20 });
  expect(summary.websocket).toEqual({ p50: 40, p99: 400 });
  expect(summary.webtransport).toEqual({ p50: 30, p99: 30 });
  const read = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(read).toHaveLength(201);
  expect(read[0]).toEqual({ time: 0, true: { x: 1, y: 2 }, websocket: { x: 1, y: 2, time: 3.1, behind: 40 } });
  expect(read.at(-1)).toEqual({ summary });
  expect(describeRecording(summary)).toBe(
    "Recorded at 5 % loss and 20 ms each way. How far behind, half and 99 % of the time: WebSocket up to 40 and 400 ms, datagrams up to 30 and 30 ms.",
  );
  const { summary: own } = write(moments, "own");
  expect(own.network).toBe("own");
  expect(describeRecording(own)).toMatch(/^Recorded over your own network\./);
  const { summary: empty } = write([], { loss: 0, delay: 0 });
  expect(empty.webtransport).toEqual({ p50: undefined, p99: undefined });
  expect(describeRecording(empty)).toMatch(/WebSocket nothing came/);
});
