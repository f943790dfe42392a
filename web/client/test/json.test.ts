/** What JSON carries, and that everything else is refused instead of arriving as another value. */

import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encode } from "../src/codec.js";
import { GroupwireError, transaction, type Channel, type Payload, type Room } from "../src/index.js";
import { checkJson, toJson } from "../src/json.js";
import { defineRoom } from "../src/schema.js";
import { counter, list, map, reducer, shared } from "../src/shared.js";
import { simulate } from "../src/testing.js";
import { any, Mine } from "./fuzz/values.js";

class Point {
  constructor(
    readonly x: number,
    readonly y: number,
  ) {}
  get length(): number {
    return Math.hypot(this.x, this.y);
  }
}
class Secret {
  readonly #word = "x";
  get word(): string {
    return this.#word;
  }
}

const around: Record<string, unknown> = { a: [] };
(around["a"] as unknown[]).push({ b: around });
const deep = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as unknown;

/** Values, and where and why they are refused. */
const REFUSED: readonly (readonly [what: string, value: unknown, message: string])[] = [
  ["NaN", Number.NaN, "it: $ is NaN, which JSON cannot carry"],
  ["a NaN in a list", { a: [1, 2, 3, Number.NaN] }, "it: $.a[3] is NaN, which JSON cannot carry"],
  ["an infinite number", [{ x: -Infinity }], "it: $[0].x is -Infinity, which JSON cannot carry"],
  ["undefined", undefined, "it: $ is undefined, which JSON cannot carry"],
  ["undefined in a list", [undefined], "it: $[0] is undefined, which JSON cannot carry"],
  ["a hole in a list", { list: [1, , 3] }, "it: $.list[1] is undefined, which JSON cannot carry"],
  ["a function", { a: { run: () => 1 } }, "it: $.a.run is a function, which JSON cannot carry"],
  ["a symbol", [Symbol("x")], "it: $[0] is a symbol, which JSON cannot carry"],
  ["a bigint", { id: 12n }, "it: $.id is 12n, which JSON cannot carry"],
  ["a Map", { tags: new Map([[1, 2]]) }, "it: $.tags is of the class Map, which JSON cannot carry"],
  ["a Set", new Set([1]), "it: $ is of the class Set, which JSON cannot carry"],
  ["a promise", Promise.resolve(1), "it: $ is of the class Promise, which JSON cannot carry"],
  ["an error", { error: new Error("no") }, "it: $.error is of the class Error, which JSON cannot carry"],
  ["a regular expression", [/x/], "it: $[0] is of the class RegExp, which JSON cannot carry"],
  ["bytes within", { data: Uint8Array.of(1) }, "it: $.data is of the class Uint8Array, which JSON cannot carry"],
  ["a buffer within", [new ArrayBuffer(1)], "it: $[0] is of the class ArrayBuffer, which JSON cannot carry"],
  ["a boxed text", [new String("x")], "it: $[0] is of the class String, which JSON cannot carry"],
  ["an invalid date", { at: new Date(Number.NaN) }, "it: $.at is of the class Date, which JSON cannot carry"],
  ["a class without members", new Secret(), "it: $ is of the class Object, which JSON cannot carry"],
  ["NaN from toJSON", { a: { toJSON: () => [Number.NaN] } }, "it: $.a[0] is NaN, which JSON cannot carry"],
  ["half of a pair", ["ok", { a: "\ud800" }], "it: $[1].a is ill-formed: it has half of a surrogate pair"],
  ["half of a pair in a name", { a: { "\udfff": 1 } }, "is ill-formed: it has half of a surrogate pair"],
];

test.each(REFUSED)("%s is refused, with its place", (_, value, message) => {
  const expected = expect.objectContaining({
    name: "GroupwireError",
    code: message.includes("ill-formed") ? "ill-formed" : "not-json",
    fault: "own",
    message: expect.stringContaining(message) as string,
  }) as Error;
  expect(() => toJson(value, "it")).toThrow(expected);
  expect(() => checkJson(value, "it")).toThrow(expected);
});

test("what contains itself, or is nested too deep, is refused, and its place is cut", () => {
  const message = /^it: \$….{0,10}(\.b\.a\[0\]){10}\S* contains itself, or has too many levels$/;
  expect(() => toJson(around, "it")).toThrow(message);
  expect(() => toJson(deep(100_000), "it")).toThrow(/too many levels/);
  expect(toJson(deep(1000), "it")).toBe(JSON.stringify(deep(1000)));
});

/** Values that arrive, and what arrives if it is not the same. */
const CARRIED: readonly (readonly [what: string, value: unknown, arrives?: unknown])[] = [
  ["an empty object", {}],
  ["an empty list", []],
  ["null", null],
  ["numbers", [0, 1.5, -2e-9, Number.MAX_VALUE]],
  ["text of several languages", ["ä", "\u{1F600}", "\\ud800 in words", '"', "\u2028"]],
  ["a member that is undefined", { a: 1, b: undefined }, { a: 1 }],
  ["a negative zero", [-0], [0]],
  ["a date", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
  ["an address", new URL("http://a/"), "http://a/"],
  ["an object of a class", new Point(3, 4), { x: 3, y: 4 }],
  ["an object without a class", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ["an object of another window", runInNewContext("({ a: [{}] })"), { a: [{}] }],
  ["a member __proto__", JSON.parse('{"__proto__":{"a":1}}')],
  ["a member toJSON that is no function", { toJSON: 5 }],
];

test.each(CARRIED)("%s arrives", (_, value, arrives = value) => {
  checkJson(value, "it");
  expect(JSON.parse(toJson(value, "it"))).toEqual(arrives);
});

/** True if what arrived is what was sent, but for what is named at `Payload`. */
function arrivedAs(sent: unknown, arrived: unknown): boolean {
  if (typeof sent !== "object" || sent === null) return sent === arrived;
  const { toJSON } = sent as { toJSON?: () => unknown };
  if (typeof toJSON === "function") return arrivedAs(toJSON.call(sent), arrived);
  if (Array.isArray(sent) !== Array.isArray(arrived)) return false;
  const stated = Object.entries(sent).filter(([, value]) => value !== undefined);
  const got = new Map(Object.entries(arrived as object));
  return got.size === stated.length && stated.every(([key, value]) => arrivedAs(value, got.get(key)));
}

test("any value arrives as it was sent, or is refused", () => {
  let carried = 0;
  const property = fc.property(any, (value) => {
    let json: string;
    try {
      json = toJson(value, "it");
    } catch (error) {
      return error instanceof GroupwireError || error instanceof Mine;
    }
    carried += 1;
    checkJson(value, "it");
    return arrivedAs(value, JSON.parse(json));
  });
  fc.assert(property, { numRuns: 3000, seed: 1 });
  expect(carried).toBeGreaterThan(300);
});

test("any text arrives as it was sent, or is refused", () => {
  const property = fc.property(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.nat(20),
    (a, b, at) => {
      const text = a + b.slice(at);
      try {
        return new TextDecoder("utf-8", { ignoreBOM: true }).decode(encode(text).bytes) === text;
      } catch (error) {
        return error instanceof GroupwireError && error.code === "ill-formed";
      }
    },
  );
  fc.assert(property, { numRuns: 2000, seed: 1 });
});

test("a bigint is carried where the application has said how", () => {
  Object.defineProperty(BigInt.prototype, "toJSON", {
    value(this: bigint) {
      return this.toString();
    },
    configurable: true,
  });
  try {
    expect(toJson({ id: 12n }, "it")).toBe('{"id":"12"}');
  } finally {
    delete (BigInt.prototype as { toJSON?: unknown }).toJSON;
  }
});

test("an exception of the application's own toJSON stays what it is", () => {
  const mine = new TypeError("mine");
  const value = {
    toJSON() {
      throw mine;
    },
  };
  expect(() => toJson([value], "it")).toThrow(mine);
});

test("a text and bytes travel as they are, but no text that is cut within a character", () => {
  const halves = ["\ud800", "x\udc00", "\udc00\ud800"];
  for (const text of halves) {
    expect(() => encode(text)).toThrow(expect.objectContaining({ code: "ill-formed" }));
    expect(encode(JSON.stringify(text)).text).toBe(true);
  }
  expect(new TextDecoder().decode(encode("\u{1F600}").bytes)).toBe("\u{1F600}");
});

test("where there is no isWellFormed, a regular expression finds the same", async () => {
  const { isWellFormed } = await import("../src/arguments.js");
  const own = Object.getOwnPropertyDescriptor(String.prototype, "isWellFormed") as PropertyDescriptor;
  const texts = ["", "a", "\ud800", "\udc00", "\ud800\udc00", "\udc00\ud800", "a\ud83dx", "\u{1F600}", "\ufffd"];
  const found = texts.map((text) => isWellFormed(text));
  delete (String.prototype as { isWellFormed?: unknown }).isWellFormed;
  try {
    expect(texts.map((text) => isWellFormed(text))).toEqual(found);
  } finally {
    Object.defineProperty(String.prototype, "isWellFormed", own);
  }
  expect(found).toEqual([true, true, false, false, true, false, false, true, true]);
});

const HALF = "a\ud800";

/** Everything that takes text or values which travel. */
const PLACES: Readonly<Record<string, (room: Room, channel: Channel, half: string) => unknown>> = {
  "the name of a channel": (room, _, half) => room.channel(half, transaction()),
  message: (_, channel, half) => channel.send(half),
  "value in a message": (_, channel, half) => channel.send({ a: half } satisfies Payload),
  key: (_, channel, half) => channel.send("", { key: half }),
  "message to one": (_, channel, half) => channel.sendTo(1, [half]),
  presence: (room, _, half) => room.setPresence({ name: half }),
  token: (room, _, half) => room.setToken(half),
  "name of a part": (room, _, half) => room.provideSnapshot(() => "", { part: half }),
  "value in shared data": (room, _, half) => shared({ a: map() }).open(room).a.set("k", { x: half }),
  "patch in shared data": (room, _, half) => {
    const { a } = shared({ a: map() }).open(room);
    a.set("k", {});
    a.patch("k", { x: half });
  },
  "preview in shared data": (room, _, half) => shared({ a: map() }).open(room).a.preview("k", { x: half }),
  "key in shared data": (room, _, half) => shared({ a: map() }).open(room).a.set(half, 1),
  "item of a list": (room, _, half) => shared({ a: list() }).open(room).a.push(half),
  "action of a reducer": (room, _, half) =>
    shared({ a: reducer(0, (n) => n) })
      .open(room)
      .a.dispatch({ half }),
  "author of shared data": (room, _, half) => shared({ a: counter() }).open(room, { author: half }),
  "message with a schema": (_room, _channel, half) => {
    const net = simulate();
    const schema = { "~standard": { version: 1, vendor: "x", validate: (value: unknown) => ({ value }) } } as const;
    const room = defineRoom({ channels: { a: { ...transaction(), schema } } }).join(net.connect, "wss://host", "a");
    room.channels.a.send({ half });
  },
  "name of a room": (_room, _channel, half) => simulate().connect("wss://host", half),
  "address of a server": (_room, _channel, half) => simulate().connect(`wss://host/${half}`, "room"),
};

test.each(Object.keys(PLACES))("ill-formed text is refused everywhere: %s", (name) => {
  const net = simulate();
  const room = net.join();
  const channel = room.channel("chat", transaction());
  expect(() => PLACES[name]?.(room, channel, HALF)).toThrow(
    expect.objectContaining({ name: "GroupwireError", code: "ill-formed", fault: "own" }),
  );
  PLACES[name]?.(room, channel, "\u{1F600}");
  net.end();
});

test("a patch of a value that another program has sent with ill-formed text is taken", async () => {
  const net = simulate();
  const [room, hostile] = net.join(2);
  const { a } = shared({ a: map() }).open(room);
  const channel = hostile.channel("shared", transaction({ departures: true }));
  channel.send(`["hostile",1,"a","s","k",{"name":"\\ud800"}]`);
  await net.settle();
  expect(a.get("k")).toEqual({ name: "\ud800" });
  a.patch("k", { x: 1 });
  await net.settle();
  expect(a.get("k")).toEqual({ name: "\ud800", x: 1 });
  net.end();
});

test("a part of the snapshot that is no text or ill-formed is told, and the room goes on", async () => {
  for (const [made, code] of [
    [HALF, "ill-formed"],
    [Promise.resolve("x"), "not-json"],
    [() => "x", "not-json"],
  ] as const) {
    const net = simulate({ snapshotAfter: 2 });
    const room = net.join();
    const told: string[] = [];
    room.on("error", (error) => told.push(error.code));
    const chat = room.channel("chat", transaction());
    chat.on("message", () => {});
    room.provideSnapshot(() => made as never);
    for (let at = 0; at < 5; at += 1) chat.send("x");
    await net.settle();
    expect([...new Set(told)]).toEqual([code]);
    expect(room.status).toBe("connected");
    net.end();
  }
});
