import { beforeEach, expect, test, vi } from "vitest";
import type { Core, CoreEvent, Output } from "../src/core.js";
import { HERE } from "../src/environment.js";
import { connect, transaction, type Room } from "../src/index.js";
import { until } from "./until.js";

/** A core that records calls and whose events the test emits. */
class FakeCore implements Partial<Core> {
  readonly calls: string[] = [];
  readonly outputs: Output[] = [];
  readonly #channels: string[] = [];

  constructor() {
    cores.push(this);
  }

  channel(name: string): number {
    this.calls.push(`channel ${name}`);
    if (!this.#channels.includes(name)) this.#channels.push(name);
    return this.#channels.indexOf(name);
  }
  send(_: number, channel: number, bytes: Uint8Array): "accepted" {
    this.calls.push(`send ${channel} ${new TextDecoder().decode(bytes)}`);
    return "accepted";
  }
  close(channel: number): void {
    this.calls.push(`close ${channel}`);
  }
  poll(): Output {
    return this.outputs.shift() ?? { type: "timeout", at: undefined };
  }
  leave(): void {
    this.outputs.push({ type: "status", status: "closed" });
  }
  timeout(): void {}
  hurry(): void {}
  opened(): void {}
  sent(): void {}
  closed(): void {}
  setCodecs(): void {}
  setReason(): void {}
  compress(): void {}
  durability(): undefined {}
  free(): void {}
  stats() {
    const none = { messages: 0, packets: 0, bytesBefore: 0, bytesAfter: 0, bytesPayload: 0 };
    return { sent: none, received: none, roundTrip: undefined, reconnects: 0, channels: [] };
  }
}

const cores: FakeCore[] = [];

vi.mock("../src/core.js", () => ({
  loadCore: () => Promise.resolve({ Core: FakeCore, isComplete: true, complete: () => Promise.resolve() }),
}));

class Socket {
  binaryType = "";
  bufferedAmount = 0;
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;
  send(): void {}
  close(): void {}
}

/** What waits for its time. */
let timers: { readonly ms: number; readonly run: () => void }[] = [];

beforeEach(() => {
  cores.length = 0;
  timers = [];
  vi.spyOn(HERE.clock, "after").mockImplementation((ms, run) => {
    const timer = { ms, run };
    timers.push(timer);
    return () => (timers = timers.filter((other) => other !== timer));
  });
});

/** The second passes after which a channel is closed. */
function passSecond(): void {
  const due = timers.filter(({ ms }) => ms === 1000);
  timers = timers.filter((timer) => !due.includes(timer));
  for (const { run } of due) run();
}

function join(): Room {
  return connect("http://server.example/", "room", { WebSocket: Socket });
}

async function coreOf(): Promise<FakeCore> {
  return until(() => cores[0]);
}

/** Lets the driver poll the core, which then emits `event`. */
async function emit(room: Room, core: FakeCore, event: CoreEvent): Promise<void> {
  core.outputs.push(event);
  room.setTransports(["websocket"]);
  await Promise.resolve();
}

/** True once the promise has resolved. */
async function isResolved(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<false>((resolve) => setTimeout(() => resolve(false)))]);
}

test("close resolves when the core reports that the subscription has ended", async () => {
  const room = join();
  const draw = room.channel("draw", transaction());
  const core = await coreOf();
  draw.send("last");
  const closed = draw.close();
  expect(core.calls).toEqual(["channel draw", "send 0 last"]);
  passSecond();
  expect(core.calls).toEqual(["channel draw", "send 0 last", "close 0"]);
  expect(await isResolved(closed)).toBe(false);
  expect(draw.close()).toBe(closed);
  await emit(room, core, { type: "closed", channel: 0 });
  await closed;
  expect(core.calls.filter((call) => call.startsWith("close"))).toHaveLength(1);
});

test("messages still arrive until the channel is closed", async () => {
  const room = join();
  const draw = room.channel("draw", transaction());
  const got: unknown[] = [];
  draw.on("message", ({ data }) => got.push(data));
  const core = await coreOf();
  void draw.close();
  passSecond();
  const fields = {
    sender: 2,
    own: false,
    key: undefined,
    age: 0,
    position: 1,
    index: 1,
    stale: false,
    state: false,
    departed: undefined,
  };
  await emit(room, core, { type: "message", channel: 0, data: "late", ...fields });
  await emit(room, core, { type: "closed", channel: 0 });
  await emit(room, core, { type: "message", channel: 0, data: "later", ...fields });
  expect(got).toEqual(["late"]);
});

test("a closed channel takes no more calls", async () => {
  const draw = join().channel("draw", transaction());
  await coreOf();
  void draw.close();
  const error = expect.objectContaining({ code: "closed", fault: "own" }) as unknown;
  expect(() => draw.send("x")).toThrow(error);
  expect(() => draw.setQos({ priority: 1 })).toThrow(error);
  expect(() => draw.limitRate(1)).toThrow(error);
  expect(() => (draw.compress = "off")).toThrow(error);
});

test("opening a channel before it is closed calls the closing off", async () => {
  const room = join();
  const draw = room.channel("draw", transaction());
  const core = await coreOf();
  const closed = draw.close();
  passSecond();
  expect(room.channel("draw", transaction())).toBe(draw);
  await closed;
  draw.send("still here");
  expect(core.calls.slice(-2)).toEqual(["channel draw", "send 0 still here"]);
});

test("opening a channel within a second after it was closed costs nothing", async () => {
  const room = join();
  const draw = room.channel("draw", transaction());
  const core = await coreOf();
  const closed = draw.close();
  expect(room.channel("draw")).toBe(draw);
  await closed;
  passSecond();
  draw.send("still here");
  expect(core.calls).toEqual(["channel draw", "send 0 still here"]);
});

test("a closed channel can be opened again", async () => {
  const room = join();
  const old = room.channel("draw", transaction());
  const core = await coreOf();
  const closed = old.close();
  passSecond();
  await emit(room, core, { type: "closed", channel: 0 });
  await closed;
  const draw = room.channel("draw", transaction());
  expect(draw).not.toBe(old);
  draw.send("new");
  expect(core.calls.slice(-2)).toEqual(["channel draw", "send 0 new"]);
});

test("a channel that is closed before the core is loaded sends its messages first", async () => {
  const room = join();
  const draw = room.channel("draw", transaction());
  draw.send("early");
  const closed = draw.close();
  passSecond();
  const core = await coreOf();
  expect(core.calls).toEqual(["channel draw", "send 0 early", "close 0"]);
  await emit(room, core, { type: "closed", channel: 0 });
  await closed;
});

test("close resolves when the room is closed, before or after the call", async () => {
  const room = join();
  const [draw, chat] = [room.channel("draw", transaction()), room.channel("chat", transaction())];
  await coreOf();
  const closed = draw.close();
  room.leave();
  await closed;
  expect(room.status).toBe("closed");
  await chat.close();
});
