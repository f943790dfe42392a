// What the testing kit has for pages, with the modules as they are packed for them.

import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { unpack } from "../../src/testing/lzma.js";
import { play } from "../../src/testing/play.js";
import { transaction, type Packet } from "../../src/testing.js";
import { start } from "./started.js";

vi.setConfig({ testTimeout: 300_000 });
afterEach(() => vi.unstubAllGlobals());

const read = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../wasm/groupwire_wasm_${name}`, import.meta.url)));

test("the packed modules are the room and the first part of the core", () => {
  const unpacked = unpack(read("page.lzma"));
  const expected = [read("room_page_bg.wasm"), read("first.wasm")].flatMap((part) => [...part]);
  expect(unpacked.length).toBe(expected.length);
  expect(expected.every((byte, at) => unpacked[at] === byte)).toBe(true);
});

test("a file that is cut off, damaged or no LZMA at all is an error", () => {
  const packed = read("page.lzma");
  expect(() => unpack(packed.slice(0, 50_000))).toThrow("cut off");
  const damaged = packed.slice();
  damaged.fill(0xff, 30, 3000);
  expect(() => unpack(damaged)).toThrow(/damaged|cut off/);
  expect(() => unpack(read("first.wasm"))).toThrow("not a file in the format LZMA");
  expect(() => unpack(new Uint8Array())).toThrow("not a file in the format LZMA");
});

test("each packet is told with its size, its way and whether it is lost", async () => {
  const packets: Packet[] = [];
  const net = start({ seed: 3, onPacket: (packet) => packets.push(packet) });
  const rooms = net.join(2);
  const chats = rooms.map((room) => room.channel("chat", transaction({ compress: "off" })));
  await net.settle();
  const before = packets.length;
  chats[0]?.send("x".repeat(500));
  await net.settle();
  const since = packets.slice(before);
  const large = since.filter(({ bytes }) => bytes > 500 && bytes < 600);
  expect(large.map(({ who, way }) => `${way} ${who}`).sort()).toEqual(["down b", "up a"]);
  expect(since.some(({ isLost }) => isLost)).toBe(false);
  const counted = (way: Packet["way"]): number =>
    packets.filter((one) => one.who === "a" && one.way === way).reduce((sum, { bytes }) => sum + bytes, 0);
  expect(counted("up")).toBe(rooms[0]?.stats.sent.bytesAfter);
  expect(counted("down")).toBe(rooms[0]?.stats.received.bytesAfter);

  net.change("a", { loss: 1 });
  packets.length = 0;
  chats[0]?.send("late");
  await net.run(50);
  const sent = packets.filter(({ way, who }) => way === "up" && who === "a");
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.every(({ isLost }) => isLost)).toBe(true);
});

/** Frames that come when the test says so. */
class Frames {
  #waiting: ((now: number) => void)[] = [];

  constructor() {
    vi.stubGlobal("requestAnimationFrame", (run: (now: number) => void) => this.#waiting.push(run));
  }

  get areWanted(): boolean {
    return this.#waiting.length > 0;
  }

  run(now: number): void {
    this.#waiting.splice(0).forEach((run) => run(now));
  }

  /** Runs a frame and waits until the next one is wanted. */
  async next(now: number): Promise<void> {
    this.run(now);
    await vi.waitFor(() => expect(this.areWanted).toBe(true), { timeout: 60_000, interval: 1 });
  }
}

test("simulated time follows frames, and does not catch up after a pause", async () => {
  const frames = new Frames();
  const net = start();
  net.join();
  const stop = play(net, { speed: 2 });
  await frames.next(1000);
  expect(net.now).toBe(0);
  await frames.next(1016);
  expect(net.now).toBe(32);
  await frames.next(61_016);
  expect(net.now).toBe(232);
  stop();
  expect(() => play(net, { speed: -1 })).toThrow("speed");
});

test("an exception does not stop the frames, and the end of the simulation does", async () => {
  const reported: unknown[] = [];
  const frames = new Frames();
  const net = start();
  const [room] = net.join(1);
  vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
  room.on("status", () => {
    throw new Error("in a listener");
  });
  play(net);
  for (let now = 0; now < 1500; now += 100) await frames.next(now);
  expect(room.status).toBe("connected");
  expect(String(reported[0])).toContain("in a listener");
  net.end();
  frames.run(1600);
  await new Promise((resolve) => setTimeout(resolve));
  expect(frames.areWanted).toBe(false);
});
