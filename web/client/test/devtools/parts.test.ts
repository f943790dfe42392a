/** The parts of the devtools that need no page. */

import { expect, test } from "vitest";
import type { CoreStats } from "../../src/core.js";
import { Counts } from "../../src/devtools/counts.js";
import { plain } from "../../src/devtools/packets.js";
import { Pending } from "../../src/devtools/pending.js";
import { Rates } from "../../src/devtools/rates.js";
import { Ring } from "../../src/devtools/ring.js";
import { bytes, clock, kept, many, percent, promise, rate, short, span } from "../../src/devtools/words.js";
import { wrap } from "../../src/devtools/wrap.js";

test("a ring keeps the newest items", () => {
  const ring = new Ring<number>(3);
  for (let at = 1; at <= 100; at += 1) {
    ring.add(at);
    expect(ring.length).toBe(Math.min(at, 3));
    expect(ring.newestFirst()).toEqual([at, at - 1, at - 2].filter((item) => item > 0));
  }
  ring.clear();
  expect(ring.newestFirst()).toEqual([]);
});

test("a wrapped method is the old one again afterwards", () => {
  class Counter {
    count = 0;
    add(by: number): number {
      return (this.count += by);
    }
  }
  const counter = new Counter();
  const stop = wrap(counter, "add", (add) => (by) => add(by * 10));
  expect(counter.add(2)).toBe(20);
  const stopOuter = wrap(counter, "add", (add) => (by) => add(by + 1));
  expect(counter.add(2)).toBe(50);
  stopOuter();
  expect(counter.add(1)).toBe(60);
  stop();
  expect(counter.add(1)).toBe(61);
  expect(Object.hasOwn(counter, "add")).toBe(false);
});

test("pending transactions are confirmed in order, over all channels", () => {
  const pending = new Pending(1);
  pending.add(0, plain("a", "1"), 0);
  pending.add(1, plain("b", "2"), 0);
  pending.add(0, plain("a", "3"), 0, 7, 1);
  pending.add(0, plain("a", "4"), 0);
  expect(pending.left(0, 2).map(({ text }) => text)).toEqual(["1", "3"]);
  expect(pending.list.map(({ isSent }) => isSent)).toEqual([true, false, true, false]);
  // The first transaction was sent before the devtools looked.
  expect(pending.confirmed()).toBeUndefined();
  expect(pending.earlier).toBe(0);
  expect(pending.confirmed()?.text).toBe("1");
  pending.received(1);
  expect(pending.list.map(({ text }) => text)).toEqual(["2", "4"]);
  expect(pending.confirmed()?.text).toBe("2");
  expect(pending.confirmed()?.text).toBe("4");
  expect(pending.confirmed()).toBeUndefined();
  pending.add(0, plain("a", "5"), 0);
  pending.add(0, plain("a", "6"), 0, 7, 2);
  // A message to one participant may wait until that one is back.
  pending.settle();
  expect(pending.list.map(({ text }) => text)).toEqual(["6"]);
  pending.clear();
  expect(pending.list).toEqual([]);
});

const NONE = { messages: 0, packets: 0, bytesBefore: 0, bytesAfter: 0, bytesPayload: 0 };
const EMPTY = { messages: 0, bytesBefore: 0, bytesAfter: 0, codedMessages: 0, codedBytes: 0, codec: undefined };

function stats(payload: number, ...channels: (readonly [messages: number, bytes: number])[]): CoreStats {
  return {
    sent: { ...NONE, bytesPayload: payload },
    received: NONE,
    roundTrip: undefined,
    reconnects: 0,
    channels: channels.map(([codedMessages, codedBytes]) => ({
      sent: { ...EMPTY, codedMessages, codedBytes, filter: undefined },
      received: { ...EMPTY, filter: undefined },
    })),
  };
}

test("what a packet carried is the difference of the counts", () => {
  const counts = new Counts("sent", stats(0));
  expect(counts.step(stats(12, [0, 0], [2, 30]))).toEqual({ payload: 12, channels: [{ id: 1, count: 2, bytes: 30 }] });
  expect(counts.step(stats(20, [1, 5], [2, 30]))).toEqual({ payload: 8, channels: [{ id: 0, count: 1, bytes: 5 }] });
  expect(counts.step(stats(20, [1, 5], [2, 30]))).toEqual({ payload: 0, channels: [] });
});

test("rates are those of the last two seconds", () => {
  const rates = new Rates();
  const look = (now: number, count: number): void =>
    rates.look(now, {
      ...stats(0),
      transport: "websocket",
      channels: new Map([["a", { sent: { ...EMPTY, messages: count, bytesBefore: count * 10 }, received: EMPTY }]]),
    });
  look(0, 0);
  expect(rates.of("a", "sent")).toBeUndefined();
  look(500, 10);
  expect(rates.of("a", "sent")).toEqual({ messages: 20, bytes: 200 });
  expect(rates.of("a", "received")).toEqual({ messages: 0, bytes: 0 });
  for (let at = 2; at <= 10; at += 1) look(at * 500, 10);
  expect(rates.of("a", "sent")).toEqual({ messages: 0, bytes: 0 });
  expect(rates.of("unknown", "sent")).toEqual({ messages: 0, bytes: 0 });
});

test("messages are kept by their beginning and their size", () => {
  expect(plain("a", "é")).toEqual({ channel: "a", bytes: 2, text: "é" });
  expect(plain("a", "x".repeat(1000))).toMatchObject({ bytes: 1000, text: "x".repeat(200) });
  expect(plain("a", new TextEncoder().encode("text"), true)).toEqual({ channel: "a", bytes: 4, text: "text" });
  expect(plain("a", Uint8Array.of(0, 255))).toEqual({ channel: "a", bytes: 2, text: "00 ff" });
  expect(plain("a", new Uint8Array(40)).text).toMatch(/^(00 ){32}…$/);
});

test("figures in words", () => {
  expect([0, 999, 1234, 56_789, 3_400_000].map(bytes)).toEqual(["0 B", "999 B", "1.2 kB", "57 kB", "3.4 MB"]);
  expect([0, 0.5, 24.4].map(rate)).toEqual(["0", "0.5", "24"]);
  expect([0, 0.012, 0.5].map(percent)).toEqual(["0 %", "1.2 %", "50 %"]);
  expect([4000, 200_000, 8_000_000].map(span)).toEqual(["4 s", "3 min", "2 h"]);
  expect([1, 2].map((count) => many(count, "message"))).toEqual(["1 message", "2 messages"]);
  expect(clock(new Date(2026, 0, 2, 3, 4, 5, 6).getTime(), true)).toBe("03:04:05.006");
  expect(short({ a: [1] })).toBe('{"a":[1]}');
  expect(short(1n)).toBe("1");
  expect(short("x".repeat(300))).toHaveLength(201);
});

test("what a channel promises, and how it is kept", () => {
  expect(promise({ kind: "transaction" })).toBe("every message, in one order");
  expect(promise({ kind: "transaction", priority: 200, private: true })).toBe(
    "every message, in one order, priority 200, compressed alone",
  );
  expect(promise({ kind: "awareness", minRate: 5, maxRate: 20, overflow: "aggregate" })).toBe(
    "at most 5.0 % may miss, at least 5 a second, at most 20 a second, fewer packets above the rate",
  );
  const contract = {
    state: "missed" as const,
    breach: undefined,
    text: "",
    measures: [],
    recent: { judged: 100, missed: 20, late: 5 },
    total: { judged: 100, missed: 20, late: 5 },
    rate: undefined,
    latency: { median: 30, p99: undefined, buckets: [] },
    upstream: 0,
  };
  expect(kept(contract)).toBe("20 % of 100 missed in 10 s, 5 of them late, median 30 ms");
  expect(kept({ ...contract, recent: { judged: 0, missed: 0, late: 0 }, rate: 3 })).toBe(
    "nothing to judge in the last 10 s, 3.0 a second, median 30 ms",
  );
});
