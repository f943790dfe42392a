import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "./clock.mjs";
import { Judge } from "./judge.mjs";
import { conflate, lossOf, randomOf, travel } from "./network.mjs";
import { parse, Recording } from "./recording.mjs";

const FRAME = 1000 / 60;
const line = new Recording(
  Array.from({ length: 400 }, (_, i) => ({ time: 10 * i, x: 5 * i, y: 0 })),
  4,
);
/** What a method shows that is `lag` ms behind. */
const shown = (lag, change = (frame) => frame) =>
  Array.from({ length: 200 }, (_, i) => {
    const now = 500 + i * FRAME;
    const [x, y] = line.at(now - lag);
    return change({ now, x, y }, i);
  });
const judged = (frames) => {
  const judge = new Judge();
  judge.add(line, frames);
  return judge.result();
};

test("a method that is late by 100 ms has no error at its lag, and 50 px now", () => {
  const result = judged(shown(100));
  assert.equal(result.lag_ms, 100);
  assert.ok(result.error_mean < 2);
  assert.ok(Math.abs(result.now_mean - 50) < 2);
  assert.deepEqual([result.jumps_per_min, result.stops_per_min], [0, 0]);
});

test("jumps and stops are counted", () => {
  const jumping = judged(shown(0, (frame, i) => (i === 100 ? { ...frame, y: 90 } : frame)));
  // The pointer jumps there and back.
  assert.equal(Math.round((jumping.jumps_per_min * 200 * FRAME) / 60_000), 2);
  let held;
  const stopping = judged(shown(0, (frame, i) => (i % 20 === 0 ? { ...frame, x: held } : ((held = frame.x), frame))));
  assert.ok(stopping.stops_per_min > 100);
});

test("losses have the shares of their names, and bursts their lengths", () => {
  const fates = (name) => Array.from({ length: 50_000 }, lossOf(name, randomOf(1)));
  const share = (lost) => lost.filter(Boolean).length / lost.length;
  assert.equal(share(fates("rand0")), 0);
  assert.ok(Math.abs(share(fates("rand20")) - 0.2) < 0.01);
  // m / (m + (1 - p) / p), as in lab/sim: mean length 5.5, start 6 %.
  assert.ok(Math.abs(share(fates("pb10@6")) - 5.5 / (5.5 + 0.94 / 0.06)) < 0.01);
  assert.throws(() => lossOf("none", randomOf(1)), /no such loss/);
});

test("a channel sends the newest at its rate, and the last one always", () => {
  const sent = conflate(Array.from({ length: 101 }, (_, i) => ({ made: 10 * i })));
  assert.ok(sent.length >= 25 && sent.length <= 27);
  assert.equal(sent.at(-1).made, 1000);
  assert.ok(sent.every((message, i) => i === 0 || message.sent - sent[i - 1].sent >= 40));
});

test("datagrams are lost, and streams keep all in order, late", () => {
  const messages = Array.from({ length: 500 }, (_, index) => ({ index, sent: 40 * index }));
  const options = { loss: "rand20", seed: 3 };
  const datagrams = travel(messages, { ...options, transport: "datagram" });
  assert.ok(datagrams.length > 350 && datagrams.length < 450);
  const stream = travel(messages, { ...options, transport: "stream" });
  assert.deepEqual(
    stream.map(({ index }) => index),
    messages.map(({ index }) => index),
  );
  assert.ok(stream.some(({ at, sent }) => at - sent > 150));
});

test("tables are read, and rests are rests", () => {
  const events = parse(
    "client timestamp,button,state,x,y\n100,NoButton,Move,1,2\nnonsense\n110,NoButton,Move,3,4\n1110,NoButton,Move,9,9\n",
  );
  assert.deepEqual(events[1], { time: 110, x: 3, y: 4 });
  const recording = new Recording(events, 2);
  assert.deepEqual(recording.at(900), [3, 4]);
  assert.deepEqual(recording.at(1500), [9, 9]);
});

test("the clock runs timers and frames in order, and gives the real one back", () => {
  const real = performance.now;
  const clock = new VirtualClock();
  const seen = [];
  clock.run(() => {
    setTimeout(() => seen.push(performance.now()), 30);
    setTimeout(() => seen.push(performance.now()), 10);
    requestAnimationFrame((now) => seen.push(`frame ${now}`));
    clock.advance(40);
    clock.frame();
  });
  assert.deepEqual(seen, [10, 30, "frame 40"]);
  assert.equal(performance.now, real);
});
