/** What the public interface says to wrong arguments. `fuzz.test.ts` tries any others. */

import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { Core } from "../src/core.js";
import { HERE } from "../src/environment.js";
import { awareness, connect, GroupwireError, transaction, type Channel, type Room } from "../src/index.js";
import { connect as connectInNode } from "../src/node.js";
import { ClientRoom } from "../src/room.js";
import { dialled, join, SocketDouble } from "./double.js";

const error = (code: string, message: string | RegExp): GroupwireError =>
  expect.objectContaining({ name: "GroupwireError", code, message: expect.stringMatching(message) }) as GroupwireError;

const wrong = (message: string | RegExp): GroupwireError => error("invalid-argument", message);

/** A call with wrong arguments, and what the error says. */
type Case = readonly [call: (room: Room, channel: Channel) => unknown, message: string | RegExp];

test.each<[args: readonly unknown[], message: string | RegExp]>([
  [["wss://host", 42], "`room` of `connect` must be a text, not 42"],
  [["wss://host", undefined], "`room` of `connect` must be a text, not undefined"],
  [["wss://host", ""], '`room` of `connect` must be a text that is not empty, not ""'],
  [["wss://host", "a", null], "the options of `connect` must be of type object, not null"],
  [["wss://host", "a", { presense: 1 }], '"presense" is not an option of `connect`: did you mean "presence"\\?'],
  [["wss://host", "a", { Token: "a" }], 'did you mean "token"\\?'],
  [["wss://host", "a", { xyz: 1 }], '"xyz" is not an option of `connect`\\. There are token, presence, channels'],
  [["wss://host", "a", { token: 5 }], "`token` of `connect` must be a text, not 5"],
  [["wss://host", "a", { transports: ["websockets"] }], '"websockets" is not `transports` of `connect`: did you'],
  [["wss://host", "a", { transports: ["websockets"] }], 'did you mean "websocket"\\?'],
  [["wss://host", "a", { memory: "tiny" }], '"tiny" is not `memory` of `connect`'],
  [["wss://host", "a", { WebSocket: {} }], "`WebSocket` of `connect` must be of type function, not an object"],
  [["wss://host", "a", { channels: { draw: { maxrate: 1 } } }], /"maxrate" .* the channel "draw": .* "maxRate"\?/],
  [
    ["wss://host", "a", { channels: { draw: null } }],
    'the options of the channel "draw" must be of type object, not null',
  ],
])("connect refuses %o", (args, message) => {
  const WebSocket = vi.fn();
  vi.stubGlobal("WebSocket", WebSocket);
  try {
    for (const wanted of [connect, connectInNode]) {
      expect(() => wanted(...(args as Parameters<typeof connect>))).toThrow(wrong(message));
    }
    expect(WebSocket).not.toHaveBeenCalled();
  } finally {
    vi.unstubAllGlobals();
  }
});

test.each([42, null, undefined, Symbol("x"), {}, { href: 5 }])("%o is no address of a server", (url) => {
  expect(() => connect(url as never, "a")).toThrow(wrong("`url` of `connect` must be a text"));
});

test("what is too long says how long it may be", () => {
  expect(() => connect("wss://host", "ä".repeat(129))).toThrow(
    error("too-large", "`room` of `connect` has 258 bytes, and at most 256 are allowed"),
  );
  expect(() => join({ presence: "x".repeat(4095) })).toThrow(error("too-large", "the presence has 4097 bytes"));
  const { room } = join({}, "ä".repeat(128));
  expect(() => room.setPresence("x".repeat(4095))).toThrow(error("too-large", "the presence has 4097 bytes"));
  expect(() => room.setToken("x".repeat(4097))).toThrow(error("too-large", "`token` of `setToken` has 4097 bytes"));
  expect(() => room.channel("x".repeat(129), transaction())).toThrow(error("too-large", "the name of a channel has"));
  expect(() => room.channel("a", transaction()).send("", { key: "x".repeat(257) })).toThrow(
    error("too-large", "`key` of `send` has 257 bytes"),
  );
  room.leave();
});

const CALLS: Readonly<Record<string, Case>> = {
  channel: [(room) => room.channel(7 as never), "the name of a channel must be a text, not 7"],
  "channel null": [(room) => room.channel("x", null as never), 'the options of the channel "x" must be of type object'],
  "no kind": [(room) => room.channel("x", {} as never), 'undefined is not `kind` of the channel "x"\\. There are tran'],
  kind: [
    (room) => room.channel("x", { kind: "ordered" } as never),
    '"ordered" is not `kind` of the channel "x"\\. There are transaction, awareness',
  ],
  loss: [(room) => room.channel("x", awareness({ loss: 2 })), '`loss` of the channel "x" must be a number from 0 to 1'],
  "loss NaN": [(room) => room.channel("x", awareness({ loss: Number.NaN })), "must be a number from 0 to 1, not NaN"],
  deadline: [(room) => room.channel("x", awareness({ deadline: 0 })), "must be a number from 1 to 86400000, not 0"],
  rate: [
    (room) => room.channel("x", awareness({ maxRate: Infinity })),
    "must be a number from 0.001 to 4294967, not Infinity",
  ],
  "rate too low": [(room) => room.channel("x", awareness({ maxRate: 0.0001 })), "must be a number from 0.001 to"],
  priority: [(room) => room.channel("x", awareness({ priority: 1.5 })), "must be a whole number from 0 to 255"],
  overflow: [
    (room) => room.channel("x", awareness({ overflow: "drop" as never })),
    '"drop" is not `overflow` of the channel "x"\\. There are conflate, aggregate',
  ],
  private: [(room) => room.channel("x", transaction({ private: 1 as never })), "must be of type boolean, not 1"],
  unknown: [(room) => room.channel("x", transaction({ prioirty: 1 } as never)), 'did you mean "priority"\\?'],
  compress: [(_, channel) => (channel.compress = 5 as never), "`compress` must be a text, not 5"],
  setQos: [(_, channel) => channel.setQos({ lose: 0 } as never), '"lose" is not .* `setQos`: did you mean "loss"\\?'],
  "setQos kind": [
    (_, channel) => channel.setQos({ kind: "awareness" } as never),
    '"kind" is not an option of `setQos`',
  ],
  limitRate: [(_, channel) => channel.limitRate(0), "the rate of `limitRate` must be a number from 0.001 to 4294967"],
  "send options": [(_, channel) => channel.send("", "key" as never), "the options of `send` must be of type object"],
  key: [(_, channel) => channel.send("", { key: 1 as never }), "`key` of `send` must be a text, not 1"],
  "send priority": [(_, channel) => channel.send("", { priority: 256 }), "`priority` of `send` must be a whole"],
  sendTo: [(_, channel) => channel.sendTo(0, ""), "`participant` of `sendTo` must be a whole number from 1"],
  setToken: [(room) => room.setToken(undefined as never), "`token` of `setToken` must be a text, not undefined"],
  askForPage: [(room) => room.askForPage(-1), "`after` of `askForPage` must be a whole number from 0"],
  setTransports: [(room) => room.setTransports("poll" as never), "`names` of `setTransports` must be a list"],
  provideSnapshot: [
    (room) => room.provideSnapshot("" as never),
    "`make` of `provideSnapshot` must be of type function",
  ],
  channels: [(room) => room.provideSnapshot(() => "", { channels: ["a"] as never }), "must be a list of channels"],
  "event of a room": [(room) => room.on("mesage" as never, () => {}), '"mesage" is not an event\\. There are status'],
  "event of a channel": [(_, channel) => channel.on("mesage" as never, () => {}), 'did you mean "message"\\?'],
  "listener of a room": [
    (room) => room.on("error", undefined as never),
    'the listener for "error" must be of type function',
  ],
  "listener of a channel": [
    (_, channel) => channel.on("message", {} as never),
    "must be of type function, not an object",
  ],
  subscribe: [(room) => room.subscribe(undefined as never), 'the listener for "state" must be of type function'],
  once: [(room) => room.once("error", undefined as never), 'the listener for "error" must be of type function'],
  off: [(room) => room.off("errors" as never, () => {}), 'did you mean "error"\\?'],
};

test.each(Object.entries(CALLS))(
  "%s: a wrong argument is named, before the core is loaded and after",
  async (_, it) => {
    const [call, message] = it;
    const joined = join();
    const channel = joined.room.channel("known", awareness());
    expect(() => call(joined.room, channel)).toThrow(wrong(message));
    await dialled(joined);
    expect(() => call(joined.room, channel)).toThrow(wrong(message));
    expect(joined.room.status).toBe("connecting");
    joined.room.leave();
  },
);

test.each([
  [transaction({ loss: 0.5 }), "`loss` is not for transaction"],
  [transaction({ overflow: "conflate" }), "`overflow` is not for transaction"],
  [awareness({ departures: true }), "`departures` is not for awareness"],
  [transaction({ speakers: 2 }), "`speakers` is for awareness that aggregates"],
  [awareness({ speakers: 2 }), "`speakers` is for awareness that aggregates"],
  [awareness({ minRate: 5, maxRate: 4 }), "`minRate` is above `maxRate`"],
])("a QoS that contradicts itself is refused: %o", (qos, message) => {
  const { room } = join();
  expect(() => room.channel("x", qos)).toThrow(
    error("invalid-qos", `the QoS of the channel "x" cannot be: ${message}`),
  );
  room.leave();
});

test("a change of the QoS is checked together with what stays", () => {
  const { room } = join();
  const pointer = room.channel("pointer", awareness({ maxRate: 10 }));
  expect(() => pointer.setQos({ minRate: 20 })).toThrow(error("invalid-qos", "`minRate` is above `maxRate`"));
  pointer.setQos({ minRate: 20, maxRate: 0 });
  room.leave();
});

test("errors that the core throws are of the same class, and blame the caller", async () => {
  const it = join();
  const draw = it.room.channel("draw", transaction());
  await dialled(it);
  expect(() => draw.send("x".repeat(70_000_000))).toThrow(error("too-large", "over the limit"));
  expect(() => draw.limitRate(1)).toThrow(expect.objectContaining({ name: "GroupwireError", fault: "own" }));
  it.room.leave();
  expect(() => draw.send("x")).toThrow(error("closed", "connect again"));
});

test("a core that traps closes the room, and the error says so", async () => {
  class Broken implements Partial<Core> {
    setCodecs(): void {}
    channel = (): number => 0;
    poll = () => ({ type: "timeout", at: undefined }) as const;
    send(): never {
      throw new WebAssembly.RuntimeError("memory access out of bounds");
    }
    stats(): never {
      throw new Error("recursive use of an object detected");
    }
  }
  const core = { Core: Broken as never, isComplete: true, complete: () => Promise.resolve() };
  const environment = { ...HERE, loadCore: () => Promise.resolve(core) };
  const options = { WebSocket: SocketDouble };
  const room = new ClientRoom(new URL("http://server.example"), "room", options, environment);
  const errors = vi.fn();
  room.on("error", errors);
  const draw = room.channel("draw", transaction());
  await new Promise((resolve) => setTimeout(resolve));
  expect(() => draw.send("x")).toThrow(error("internal", "the core has failed: connect again"));
  expect(errors).toHaveBeenCalledWith(expect.objectContaining({ code: "internal", fatal: true }));
  expect(room.status).toBe("closed");
});

test("a function for the token that returns no text is told", async () => {
  const { room } = join({ token: () => undefined as never });
  const errors = vi.fn();
  room.on("error", errors);
  await vi.waitUntil(() => room.status === "closed");
  expect(errors.mock.calls).toMatchObject([
    [{ code: "invalid-argument", message: "the result of the function `token` must be a text, not undefined" }],
  ]);
});

test("a channel that is open is opened again with the same options only", () => {
  const { room } = join({ channels: { chat: transaction() } });
  const pointer = room.channel("pointer", awareness({ maxRate: 25 }));
  const same = [awareness({ maxRate: 25 }), awareness({ maxRate: 25, loss: 0.05, overflow: "conflate", minRate: 0 })];
  for (const options of [undefined, ...same]) expect(room.channel("pointer", options)).toBe(pointer);
  const differs = (name: string, options: Parameters<Room["channel"]>[1], message: string): void =>
    expect(() => room.channel(name, options)).toThrow(error("qos-differs", message));
  differs(
    "pointer",
    awareness({ maxRate: 10 }),
    '"pointer" is open with other options: `maxRate` is 25, not 10; use these, none, or',
  );
  differs("pointer", awareness({ maxRate: 25, deadline: 9, compress: "off" }), "`deadline` is 0, not 9, `compress`");
  differs("chat", awareness(), "`kind` is transaction, not awareness");
  // A part of a page that is shown again, with the options that it was written with.
  pointer.setQos({ maxRate: 30 });
  expect(room.channel("pointer", awareness({ maxRate: 25 }))).toBe(pointer);
  expect(room.channel("pointer", awareness({ maxRate: 30 }))).toBe(pointer);
  void pointer.close();
  differs("pointer", awareness(), "`maxRate` is 25, not 0");
  expect(room.channel("pointer", awareness({ maxRate: 25 }))).toBe(pointer);
  room.leave();
});

test("what the server makes of a QoS does not matter to who opens the channel again", async () => {
  const { simulate } = await import("../src/testing.js");
  const net = simulate();
  const [a, b] = net.join(2);
  const [pointer] = [a, b].map((room) => room.channel("pointer", awareness({ maxRate: 25 })));
  await net.settle();
  b.channel("pointer").setQos({ maxRate: 5 });
  await net.settle();
  expect(pointer?.qos.maxRate).toBe(5);
  expect(a.channel("pointer", awareness({ maxRate: 25 }))).toBe(pointer);
  net.end();
});

test("`once` is told once, and `off` removes a listener", async () => {
  const { simulate } = await import("../src/testing.js");
  const net = simulate();
  const [a, b] = net.join(2);
  const [to, from] = [a, b].map((room) => room.channel("chat", transaction())) as [Channel, Channel];
  const [once, never, always, joined, left] = [vi.fn(), vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  to.once("message", once);
  to.once("message", never)();
  to.on("message", always);
  to.on("message", never);
  to.on("message", never);
  to.off("message", never);
  a.once("status", joined);
  a.on("status", left);
  a.off("status", left);
  await net.settle();
  from.send("1");
  from.send("2");
  await net.settle();
  const texts = (listener: typeof once) => listener.mock.calls.map(([message]) => (message as { data: string }).data);
  expect([texts(once), texts(never), texts(always)]).toEqual([["1"], [], ["1", "2"]]);
  a.leave();
  await net.run(10);
  expect([joined.mock.calls, left.mock.calls]).toEqual([[["connected"]], []]);
  net.end();
});

test("transactions that came before are kept for `once`, too", async () => {
  const { simulate } = await import("../src/testing.js");
  const net = simulate();
  const [a, b] = net.join(2);
  const [to, from] = [a, b].map((room) => room.channel("chat", transaction())) as [Channel, Channel];
  from.send("early");
  await net.settle();
  const got = vi.fn();
  to.once("message", ({ data }) => got(data));
  await net.settle();
  expect(got.mock.calls).toEqual([["early"]]);
  net.end();
});

test.each(["close", "disconnect", "destroy"] as const)("`%s` of a room is another name of `leave`", (name) => {
  const { room } = join();
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  room[name]();
  expect(room.status).toBe("closed");
});

test("the core itself refuses a QoS with values of other types, instead of reading them as what they are not", async () => {
  const { load, Core } = await import("../wasm/groupwire_wasm.js");
  await load(readFileSync(new URL("../wasm/groupwire_wasm_bg.wasm", import.meta.url)));
  const core = new Core(0, "room", new Uint8Array(), new Uint8Array(), 0.5, false, false);
  const odd = [42, {}, [], null, Symbol("x"), 5n, Number.NaN, () => 0, { length: 1e9 }];
  for (const value of odd) {
    expect(() => core.channel("x", { kind: value }, {})).toThrow(expect.objectContaining({ code: "invalid-qos" }));
    const fields = [
      "overflow",
      "loss",
      "deadline",
      "minRate",
      "maxRate",
      "priority",
      "private",
      "departures",
      "speakers",
    ];
    for (const field of fields) {
      try {
        core.channel(`${field} ${odd.indexOf(value)}`, { kind: "awareness", [field]: value }, { kind: value });
      } catch (error) {
        expect((error as { readonly code?: string }).code).toMatch(/^(invalid-qos|too-many)$/);
      }
    }
  }
  expect(core.pending()).toBe(0);
  core.free();
});

test("what is wrong with a call is the caller's fault, not the server's", async () => {
  const it = join();
  const draw = it.room.channel("draw", transaction());
  await dialled(it);
  expect(() => it.room.provideSnapshot(() => "", { part: "\0", channels: [draw] })).toThrow(
    expect.objectContaining({ name: "GroupwireError", code: "malformed", fault: "own" }),
  );
  const pointer = it.room.channel("pointer", awareness());
  expect(() => pointer.sendTo(1, "x")).toThrow(expect.objectContaining({ code: "not-allowed", fault: "own" }));
  it.room.leave();
});
