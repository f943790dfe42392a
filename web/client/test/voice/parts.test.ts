/** The smaller parts of voice: bytes, order, loudness, rates. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Activity, levelOf } from "../../src/voice/activity.js";
import { Bitrate } from "../../src/voice/bitrate.js";
import { FRAME, isOpus, MAX_OPUS, readFrame, SEALED, writeFrame } from "../../src/voice/frame.js";
import { LostFrames, lostPacket } from "../../src/voice/lost.js";
import { DecodeOrder, holdFor } from "../../src/voice/order.js";
import { Resampler } from "../../src/voice/resample.js";
import { largestStep, loudness, numbers, tone } from "./world.js";

const HEADER = { level: 20, isVoice: true, sequence: 0x1234, isLast: false, isEncrypted: false };

test("a frame is a header of four bytes and its payload", () => {
  expect(writeFrame(HEADER, Uint8Array.of(9))).toEqual(Uint8Array.of(128 + 20, 0x12, 0x34, 0, 9));
  expect(writeFrame({ ...HEADER, isLast: true, isVoice: false }, Uint8Array.of())).toEqual(
    Uint8Array.of(20, 0x12, 0x34, 1),
  );
  const header = fc.record({
    level: fc.nat(127),
    isVoice: fc.boolean(),
    sequence: fc.nat(65_535),
    isLast: fc.boolean(),
    isEncrypted: fc.boolean(),
  });
  fc.assert(
    fc.property(header, fc.uint8Array({ maxLength: 100 }), (header, payload) => {
      expect(readFrame(writeFrame(header, payload))).toEqual({ ...header, payload });
    }),
  );
});

test("what is no frame is none", () => {
  for (const data of ["", "text", Uint8Array.of(), Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 3, 4)])
    expect(readFrame(data)).toBeUndefined();
  expect(readFrame(new Uint8Array(4 + MAX_OPUS + SEALED))).toBeDefined();
  expect(readFrame(new Uint8Array(4 + MAX_OPUS + SEALED + 1))).toBeUndefined();
});

test("only a single frame of 20 ms is decoded", () => {
  const isDecoded = (config: number, count: number): boolean => isOpus(Uint8Array.of((config << 3) | count, 0));
  const configs = Array.from({ length: 32 }, (_, config) => config).filter((config) => isDecoded(config, 0));
  // RFC 6716, table 2.
  expect(configs).toEqual([1, 5, 9, 13, 15, 19, 23, 27, 31]);
  expect([1, 2, 3].some((count) => isDecoded(1, count))).toBe(false);
  expect(isOpus(Uint8Array.of())).toBe(false);
  expect(isOpus(new Uint8Array(MAX_OPUS + 1).fill(8))).toBe(false);
});

const frame = (sequence: number, isLast = false) => ({ sequence: sequence & 0xffff, isLast });
const numbersOf = (frames: readonly { readonly sequence: number }[] | undefined) =>
  frames?.map(({ sequence }) => sequence);

test("a missing frame is waited for, but not longer than the delay permits", () => {
  const order = new DecodeOrder();
  expect(numbersOf(order.push(frame(65_534), 3))).toEqual([65_534]);
  expect(numbersOf(order.push(frame(0), 3))).toEqual([]);
  expect(numbersOf(order.push(frame(0), 3))).toEqual([]);
  expect(numbersOf(order.push(frame(65_535), 3))).toEqual([65_535, 0]);
  expect(numbersOf(order.push(frame(2), 3))).toEqual([]);
  expect(numbersOf(order.push(frame(3), 3))).toEqual([]);
  expect(numbersOf(order.push(frame(5), 3))).toEqual([2, 3]);
  expect(order.push(frame(1), 3)).toBeUndefined();
  expect(numbersOf(order.push(frame(4, true), 3))).toEqual([4, 5]);
});

test("a missing frame is waited for until a frame before its successor's turn", () => {
  expect([20, 39, 40, 106, 200].map(holdFor)).toEqual([0, 0, 1, 4, 9]);
  expect(holdFor(0)).toBe(0);
  const order = new DecodeOrder();
  for (const sequence of [1, 3, 4, 5, 6]) order.push(frame(sequence), holdFor(106));
  expect(numbersOf(order.push(frame(2), holdFor(106)))).toEqual([2, 3, 4, 5, 6]);
});

test("after a pause nothing is waited for, and a jump begins anew", () => {
  const order = new DecodeOrder();
  order.push(frame(10, true), 3);
  expect(numbersOf(order.push(frame(40), 3))).toEqual([40]);
  expect(numbersOf(order.push(frame(42), 3))).toEqual([]);
  expect(numbersOf(order.push(frame(5000), 3))).toEqual([42, 5000]);
  expect(numbersOf(order.push(frame(100), 3))).toEqual([100]);
});

test("whatever comes, frames are handed on in order, and few wait", () => {
  const steps = fc.array(fc.record({ sequence: fc.integer({ min: -70, max: 70 }), isLast: fc.boolean() }));
  fc.assert(
    fc.property(steps, fc.nat(100), (steps, hold) => {
      const order = new DecodeOrder();
      let [at, before, given, taken] = [0, undefined as number | undefined, 0, 0];
      for (const step of steps) {
        at = (at + step.sequence) & 0xffff;
        const ready = order.push({ sequence: at, isLast: step.isLast }, hold);
        if (ready) given += 1;
        taken += ready?.length ?? 0;
        for (const { sequence } of ready ?? []) {
          const ahead = before === undefined ? 1 : ((sequence - before) << 16) >> 16;
          expect(ahead > 0 || ahead < -50).toBe(true);
          before = sequence;
        }
        // Frames that come twice while they wait are not handed on twice.
        expect(given - taken).toBeGreaterThanOrEqual(0);
      }
      expect(order.flush().length).toBeLessThanOrEqual(26);
    }),
  );
});

test("up to three frames that are missing before one are lost, and in a pause none", () => {
  const lost = new LostFrames();
  expect(lost.before(frame(65_534))).toEqual([]);
  expect(lost.before(frame(65_535))).toEqual([]);
  expect(lost.before(frame(2))).toEqual([0, 1]);
  expect(lost.before(frame(6))).toEqual([3, 4, 5]);
  expect(lost.before(frame(11))).toEqual([]);
  expect(lost.before(frame(13, true))).toEqual([12]);
  expect(lost.before(frame(15))).toEqual([]);
  // A sender that begins anew with smaller numbers has lost nothing.
  expect(lost.before(frame(3))).toEqual([]);
  expect(lost.before(frame(5))).toEqual([4]);
});

test("the packet of a lost frame is Opus of the same kind without a frame", () => {
  const packet = Uint8Array.of(0x78, 1, 2, 3);
  expect([...lostPacket(packet)]).toEqual([0x78]);
  expect(isOpus(lostPacket(packet))).toBe(true);
});

test("levels are decibels below the loudest sound", () => {
  expect(levelOf(new Float32Array(FRAME).fill(1))).toBeCloseTo(0);
  expect(levelOf(new Float32Array(FRAME).fill(0.1))).toBeCloseTo(20);
  expect(levelOf(new Float32Array(FRAME))).toBe(127);
  expect(levelOf(new Float32Array(FRAME).fill(NaN))).toBe(127);
  expect(levelOf(new Float32Array(FRAME).fill(9))).toBe(0);
});

test("speech is told from the noise of a fan that begins in between", () => {
  const random = numbers(1);
  const noise = (loudness: number) => Float32Array.from({ length: FRAME }, () => (random() - 0.5) * loudness);
  const activity = new Activity();
  const noted = (count: number, make: (i: number) => Float32Array): number =>
    Array.from({ length: count }, (_, i) => {
      activity.note(make(i));
      return activity.isVoice;
    }).filter(Boolean).length;
  expect(noted(100, () => noise(0.001))).toBe(0);
  expect(noted(50, (i) => tone(i, 0.1))).toBe(50);
  // The pause after a word still counts as speech.
  expect(noted(100, () => noise(0.001))).toBe(14);
  // The fan is 20 dB louder than the room: it counts as speech until the estimate has risen.
  expect(noted(2000, () => noise(0.01))).toBeLessThan(1200);
  expect(noted(100, () => noise(0.01))).toBe(0);
  expect(activity.noise).toBeGreaterThan(45);
  expect(noted(50, (i) => tone(i, 0.1))).toBe(50);
});

test.each([
  [44_100, 48_000],
  [48_000, 44_100],
  [16_000, 48_000],
  [48_000, 192_000],
])("from %d to %d Hz a tone keeps its pitch and its loudness", (from, to) => {
  const input = Float32Array.from({ length: from }, (_, i) => 0.5 * Math.sin((2 * Math.PI * 440 * i) / from));
  const written: number[] = [];
  new Resampler(from, to).write(input, (sample) => written.push(sample));
  expect(Math.abs(written.length - to)).toBeLessThan(to / from + 2);
  const read = new Float32Array(to);
  let next = 0;
  new Resampler(from, to).read(read, () => input[next++] ?? 0);
  for (const samples of [Float32Array.from(written), read]) {
    const kept = samples.subarray(100, samples.length - 100);
    const crossings = kept.filter((sample, i) => sample >= 0 && (kept[i - 1] ?? 0) < 0).length;
    expect(Math.abs(crossings - 440)).toBeLessThan(3);
    expect(loudness(kept)).toBeCloseTo(0.5 / Math.SQRT2, 1);
    expect(largestStep(kept)).toBeLessThan((0.5 * 2 * Math.PI * 440 * 1.3) / Math.min(to, from));
  }
});

test("frames share packets from when the rate is low until it has recovered", () => {
  const good = { lost: 0, roundTrip: 40, isFull: false };
  const bitrate = new Bitrate(8000, 32_000);
  const rates: number[] = [];
  for (let i = 0; i < 60; i++) {
    bitrate.note(i < 4 ? { ...good, lost: 0.2 } : good);
    if (bitrate.together === 2) rates.push(bitrate.current);
  }
  expect(rates[0]).toBeLessThan(12_000);
  expect(rates.at(-1)).toBeLessThan(24_000);
  expect(rates.at(-1)).toBeGreaterThan(23_000);
  expect(bitrate.together).toBe(1);
  // An application that wants a low rate gets no delay with it.
  const low = new Bitrate(8000, 10_000);
  low.note(good);
  expect(low.together).toBe(1);
});

test("the bitrate falls at once where frames are lost or held up, and rises slowly", () => {
  const good = { lost: 0, roundTrip: 40, isFull: false };
  for (const bad of [{ lost: 0.2 }, { roundTrip: 400 }, { isFull: true }]) {
    const bitrate = new Bitrate(8000, 32_000);
    expect(bitrate.current).toBe(24_000);
    bitrate.note(good);
    for (let i = 0; i < 10; i++) bitrate.note({ ...good, ...bad });
    expect(bitrate.current).toBe(8000);
    expect(bitrate.note({ ...good, ...bad })).toBe(false);
    for (let i = 0; i < 100; i++) bitrate.note(good);
    expect(bitrate.current).toBe(32_000);
  }
});
