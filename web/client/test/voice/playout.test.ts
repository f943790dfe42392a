/** The playout of voice: networks in simulated time, and hostile frames. */

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { FRAME, RATE } from "../../src/voice/frame.js";
import { VoicePlayout } from "../../src/voice/playout.js";
import { BLOCK, heard, largestStep, loudness, numbers, sent, tone } from "./world.js";

vi.setConfig({ testTimeout: 120_000 });

/** A tone at 200 Hz with the amplitude 0.3 does not change faster from sample to sample. */
const STEEPEST = (0.3 * 2 * Math.PI * 200) / RATE;
const LOUDNESS = 0.3 / Math.SQRT2;
const at = (ms: number): number => (ms * RATE) / 1000;

test("over a steady path everything is played once, in order, and without a change", () => {
  const playout = new VoicePlayout({ minDelay: 60 });
  const out = heard(
    playout,
    sent(100, () => 30),
    2300,
  );
  expect(playout.stats).toMatchObject({ played: 100, concealed: 0, late: 0, duplicates: 0, skipped: 0, shortened: 0 });
  // The tone is continuous from the first fade to the last frame.
  expect(largestStep(out.subarray(0, at(2000)))).toBeLessThan(STEEPEST * 1.3);
  expect(loudness(out.subarray(at(500), at(1500)))).toBeCloseTo(LOUDNESS, 2);
  expect(loudness(out.subarray(at(2200)))).toBe(0);
});

test.each([
  ["10 ms", 10, 45],
  ["60 ms", 60, 75],
  ["120 ms", 120, 135],
])("with jitter of %s few frames are late, and the delay is not longer than needed", (_, jitter, most) => {
  for (let seed = 1; seed <= 4; seed++) {
    const random = numbers(seed);
    const playout = new VoicePlayout();
    heard(
      playout,
      sent(1000, () => 30 + random() * jitter),
      21_000,
    );
    const { played, concealed, late, delay } = playout.stats;
    expect(late / 1000).toBeLessThan(0.05);
    expect(played).toBeGreaterThan(940);
    expect(concealed).toBeLessThan(90);
    expect(delay).toBeLessThan(Math.max(most, 20));
    expect(delay).toBeGreaterThan(jitter * 0.9);
  }
});

test("repeats of lost frames are waited for, though they are few", () => {
  const playout = new VoicePlayout();
  // One frame in 50 comes a round trip later.
  heard(
    playout,
    sent(2000, (frame) => (frame % 50 === 7 ? 100 : 30)),
    41_000,
  );
  const { concealed, late, delay } = playout.stats;
  expect(delay).toBeGreaterThan(70);
  expect(delay).toBeLessThan(80);
  // The first one teaches it.
  expect(concealed).toBeLessThan(4);
  expect(late).toBeLessThan(4);
});

test("lost frames are concealed without clicks, and nothing else is late for it", () => {
  const random = numbers(3);
  const playout = new VoicePlayout();
  const lost = new Set<number>();
  const out = heard(
    playout,
    sent(500, (frame) => (frame > 5 && random() < 0.05 && lost.add(frame) ? undefined : 30)),
    10_500,
  );
  expect(lost.size).toBeGreaterThan(10);
  expect(playout.stats).toMatchObject({ played: 500 - lost.size, late: 0, skipped: 0 });
  expect(playout.stats.concealed).toBeLessThanOrEqual(lost.size);
  expect(largestStep(out.subarray(0, at(9900)))).toBeLessThan(STEEPEST * 2);
});

test("when nothing comes any more the sound fades within 60 ms, and does not whistle", () => {
  const playout = new VoicePlayout();
  const arrivals = sent(50, () => 0).filter(({ sequence }) => sequence < 49);
  const out = heard(playout, arrivals, 60_000);
  const end = out.findLastIndex((sample) => sample !== 0);
  expect(playout.stats.concealed).toBe(3);
  // The frames, the delay before there was a measurement, and the fade.
  expect(end).toBeLessThan(at(49 * 20 + 60 + 60 + 5));
});

test("what the decoder made up for a lost frame is played in its place, and counts as concealed", () => {
  const playout = new VoicePlayout({ minDelay: 60 });
  const arrivals = sent(50, () => 0).filter(({ sequence }) => sequence !== 20 && sequence !== 21);
  heard(playout, arrivals.slice(0, 20), 440);
  for (const sequence of [20, 21]) playout.made(sequence, tone(sequence));
  const out = heard(playout, arrivals.slice(20), 900, 440);
  // The tone goes on as if nothing had been lost.
  expect(largestStep(out)).toBeLessThan(STEEPEST * 1.01);
  expect(loudness(out)).toBeCloseTo(LOUDNESS, 2);
  expect(playout.stats).toMatchObject({ concealed: 2, late: 0, duplicates: 0 });
});

test("what is made up for a frame whose turn has begun is left out", () => {
  const playout = new VoicePlayout({ minDelay: 20 });
  heard(playout, sent(11, () => 0).slice(0, 10), 310);
  const { played, concealed } = playout.stats;
  expect({ played, concealed }).toEqual({ played: 10, concealed: 3 });
  for (const sequence of [10, 11, 12, 13, 5, 9]) playout.made(sequence, tone(0));
  heard(playout, [], 600, 310);
  expect(playout.stats).toMatchObject({ played: 10, concealed: 3 });
  expect(playout.isActive).toBe(false);
});

test("after the last frame before a pause nothing is concealed", () => {
  const playout = new VoicePlayout();
  const arrivals = [...sent(50, () => 10), ...sent(50, () => 10, 500).map((one) => ({ ...one, at: one.at + 10_000 }))];
  heard(playout, arrivals, 12_000);
  expect(playout.stats).toMatchObject({ played: 100, concealed: 0, late: 0 });
});

test("a pause whose first frame was lost ends the sound at once", () => {
  const playout = new VoicePlayout();
  for (const { sequence, samples } of sent(10, () => 0)) playout.push(sequence, samples, false, sequence * 20);
  playout.pause(11, 127, 220);
  const out = new Float32Array(BLOCK);
  for (let now = 220; now < 1000; now += (BLOCK * 1000) / RATE) playout.pull(out, now);
  expect(playout.stats.concealed).toBe(0);
});

test("in a pause there is noise as soft as the sender says, for a second, and never a loud one", () => {
  for (const [level, least, most] of [
    [70, 0.0002, 0.0005],
    [0, 0.002, 0.005],
    [127, 0, 0],
  ] as const) {
    const playout = new VoicePlayout();
    playout.pause(7, level, 0);
    const out = new Float32Array(at(900));
    playout.pull(out, 0);
    expect(loudness(out)).toBeGreaterThanOrEqual(least);
    expect(loudness(out)).toBeLessThanOrEqual(most);
    const later = new Float32Array(at(500));
    playout.pull(later, 1100);
    expect(loudness(later.subarray(100))).toBeLessThan(1e-6);
  }
});

test("the numbers of frames wrap", () => {
  const playout = new VoicePlayout();
  const random = numbers(4);
  heard(
    playout,
    sent(300, () => random() * 50, 65_400),
    6300,
  );
  expect(playout.stats).toMatchObject({ duplicates: 0, skipped: 0 });
  expect(playout.stats.played).toBeGreaterThan(280);
});

test("a frame that comes twice is played once, and one that comes after its turn is not", () => {
  const playout = new VoicePlayout();
  const arrivals = sent(100, () => 0);
  const again = arrivals.flatMap((one) => [one, { ...one, at: one.at + 20 }, { ...one, at: one.at + 700 }]);
  heard(
    playout,
    again.sort((a, b) => a.at - b.at),
    3000,
  );
  expect(playout.stats).toMatchObject({ played: 100, late: 100, duplicates: 100 });
});

test("frames of a path that becomes slower for good are played after half a second, and then catch up", () => {
  const playout = new VoicePlayout();
  heard(
    playout,
    sent(600, (frame) => (frame < 300 ? 20 : 900)),
    14_000,
  );
  expect(playout.stats.played).toBeGreaterThan(550);
  expect(playout.stats.delay).toBeLessThan(100);
});

test("after a burst that was held up the playout catches up by playing faster", () => {
  const playout = new VoicePlayout();
  // A second in which frames come 150 ms late, then a path without jitter.
  heard(
    playout,
    sent(1500, (frame) => (frame < 100 || frame > 150 ? 20 : 170)),
    31_000,
  );
  const { played, shortened, lengthened, delay } = playout.stats;
  expect(played).toBeGreaterThan(1480);
  expect(shortened).toBeGreaterThan(5);
  expect(lengthened + playout.stats.concealed).toBeGreaterThan(2);
  expect(delay).toBeLessThan(40);
});

test("a device that slept plays what comes now, not what waited", () => {
  const playout = new VoicePlayout();
  heard(
    playout,
    sent(50, () => 0),
    900,
  );
  const out = new Float32Array(BLOCK);
  for (const { sequence, samples } of sent(50, () => 0, 50)) playout.push(sequence, samples, false, 30_000);
  let now = 30_000;
  for (; now < 30_500; now += (BLOCK * 1000) / RATE) playout.pull(out, now);
  // All came at one moment, so only the newest could be in time.
  expect(playout.stats.played).toBeLessThan(80);
  expect(playout.isActive).toBe(false);
});

test("a sender that begins anew is heard at once", () => {
  const playout = new VoicePlayout();
  const second = sent(50, () => 10, 40_000).map((one) => ({ ...one, at: one.at + 1000 }));
  const third = sent(50, () => 10, 3).map((one) => ({ ...one, at: one.at + 2000 }));
  heard(playout, [...sent(50, () => 10, 100), ...second, ...third], 3500);
  expect(playout.stats.played).toBeGreaterThanOrEqual(140);
});

test("short, long and empty frames are one frame each", () => {
  const playout = new VoicePlayout();
  for (const [sequence, length] of [1, 648, 960, 5760, 0].entries())
    playout.push(sequence, new Float32Array(length).fill(0.1), false, sequence * 20);
  const out = new Float32Array(FRAME * 10);
  playout.pull(out, 100);
  expect(playout.stats.played).toBe(5);
  expect(out.every(Number.isFinite)).toBe(true);
});

const CALL = fc.oneof(
  fc.record({ kind: fc.constant("push" as const), sequence: fc.nat(65_535), isLast: fc.boolean(), wait: fc.nat(40) }),
  fc.record({ kind: fc.constant("near" as const), sequence: fc.integer({ min: -60, max: 60 }), wait: fc.nat(40) }),
  fc.record({ kind: fc.constant("pause" as const), sequence: fc.nat(65_535), level: fc.nat(255), wait: fc.nat(40) }),
  fc.record({ kind: fc.constant("made" as const), sequence: fc.nat(65_535), wait: fc.nat(60) }),
  fc.record({ kind: fc.constant("flood" as const), sequence: fc.nat(65_535), count: fc.nat(300), wait: fc.nat(2000) }),
);

test("whatever comes, the sound is finite and bounded, and ends when nothing comes any more", () => {
  const loud = new Float32Array(FRAME).map((_, i) => (i % 7 === 0 ? NaN : i % 5 === 0 ? Infinity : 5));
  fc.assert(
    fc.property(fc.array(CALL, { maxLength: 80 }), (calls) => {
      const playout = new VoicePlayout();
      const out = new Float32Array(BLOCK);
      let [now, last] = [0, 0];
      for (const call of calls) {
        const sequence = (call.kind === "near" ? last + call.sequence : call.sequence) & 0xffff;
        last = sequence;
        if (call.kind === "pause") playout.pause(sequence, call.level, now);
        else if (call.kind === "flood")
          for (let i = 0; i < call.count; i++) playout.push((sequence + i) & 0xffff, loud, false, now);
        else if (call.kind === "made") playout.made(sequence, loud);
        else playout.push(sequence, call.kind === "near" ? loud : tone(1), call.kind === "push" && call.isLast, now);
        for (const end = now + call.wait; now < end; now += (BLOCK * 1000) / RATE) {
          playout.pull(out, now);
          expect(out.every((sample) => sample >= -1 && sample <= 1)).toBe(true);
        }
      }
      // The largest number of waiting frames, the largest delay, the fade and the noise.
      for (const end = now + 64 * 20 + 200 + 60 + 1000; now < end; now += (BLOCK * 1000) / RATE) playout.pull(out, now);
      playout.pull(out, now);
      expect(playout.isActive).toBe(false);
      expect(Math.max(...out.map(Math.abs))).toBeLessThan(1e-6);
    }),
    { numRuns: 60 },
  );
});
