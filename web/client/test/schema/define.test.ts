import { type } from "arktype";
import * as v from "valibot";
import { afterEach, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { defineRoom, type Invalid, type StandardSchema } from "../../src/schema.js";
import { awareness, simulate, transaction, type Room, type Simulation } from "../../src/testing.js";

vi.setConfig({ testTimeout: 300_000 });

const made: Simulation[] = [];
afterEach(() => made.splice(0).forEach((net) => net.end()));

function start(): Simulation {
  const net = simulate();
  made.push(net);
  return net;
}

const SERVER = "http://server.example";

const Chat = z.object({ text: z.string().max(100), at: z.string().transform(Number) });
const board = defineRoom({
  presence: z.object({ name: z.string() }),
  channels: { chat: { ...transaction(), schema: Chat }, cursor: awareness({ maxRate: 25 }) },
});

/** A participant without schemas, who may send anything. */
function stranger(net: Simulation, presence?: unknown): Room {
  return net.connect(SERVER, "room", { presence, channels: { chat: transaction(), cursor: awareness() } });
}

test("types come from the schemas, of what is sent and of what is received", async () => {
  const net = start();
  const a = board.join(net.connect, SERVER, "room", { presence: { name: "Ada" } });
  const b = board.join(net.connect, SERVER, "room", { presence: { name: "Bo" } });
  const got: unknown[] = [];
  b.channels.chat.on("message", ({ value, sender }) => {
    expectTypeOf(value).toEqualTypeOf<{ text: string; at: number }>();
    got.push([value, sender]);
  });
  expectTypeOf(a.channels.chat.send).parameter(0).toEqualTypeOf<{ text: string; at: string }>();
  expectTypeOf(a.setPresence).parameter(0).toEqualTypeOf<{ name: string }>();
  expectTypeOf(a.shared).toEqualTypeOf<undefined>();
  a.channels.chat.send({ text: "hello", at: "12" });
  await net.settle();
  expect(got).toEqual([[{ text: "hello", at: 12 }, a.room.self?.id]]);
  const [other] = b.participants.values();
  expectTypeOf(other?.presence).toEqualTypeOf<{ name: string } | undefined>();
  expect(other?.presence).toEqual({ name: "Ada" });
  expect([a.invalid, b.invalid]).toEqual([0, 0]);
  // @ts-expect-error -- the room has no such channel
  expect(a.channels.draw).toBeUndefined();
});

const three: [string, StandardSchema<{ text: string }>][] = [
  ["zod", z.object({ text: z.string() })],
  ["valibot", v.object({ text: v.string() })],
  ["arktype", type({ text: "string" })],
];

test.each(three)("%s checks what others send: what does not fit is dropped, counted and told", async (_, schema) => {
  const net = start();
  const room = defineRoom({ presence: schema, channels: { chat: { ...transaction(), schema } } });
  const a = room.join(net.connect, SERVER, "room");
  const told: Invalid[] = [];
  a.onInvalid((invalid) => told.push(invalid));
  const got: unknown[] = [];
  a.channels.chat.on("message", ({ value }) => got.push(value));
  const b = stranger(net, { text: 5 });
  for (const wrong of [{ text: 1 }, "no JSON", { text: "right" }, new Uint8Array([255])]) b.channel("chat").send(wrong);
  await net.settle();
  expect(got).toEqual([{ text: "right" }]);
  const sender = b.self?.id;
  expect(told).toMatchObject([
    { where: "presence", sender, reason: "schema", data: { text: 5 } },
    { where: "chat", sender, reason: "schema", data: { text: 1 } },
    { where: "chat", sender, reason: "json" },
    { where: "chat", sender, reason: "json" },
  ]);
  expect(told[1]?.message).toMatch(/text/);
  expect(a.invalid).toBe(4);
  expect([...a.participants.values()]).toMatchObject([{ id: sender, presence: undefined }]);
});

test("what this program sends is checked, too", () => {
  const a = board.join(start().connect, SERVER, "room");
  // @ts-expect-error -- the wrong type, as programs without types may send it
  expect(() => a.channels.chat.send({ text: 5, at: "1" })).toThrow(/"chat" does not fit its schema: text: /);
  // @ts-expect-error -- the same
  expect(() => a.setPresence({})).toThrow(/"presence" does not fit its schema: name: /);
});

test("the participants are the same map until something changes", async () => {
  const net = start();
  const a = board.join(net.connect, SERVER, "room");
  stranger(net, { name: "Bo" });
  await net.settle();
  const before = a.participants;
  expect(a.participants).toBe(before);
  expect(before.size).toBe(1);
  stranger(net, { name: "Cy" });
  await net.settle();
  expect([before.size, a.participants.size]).toEqual([1, 2]);
});

const asynchronous: [string, StandardSchema<string>][] = [
  ["zod", z.string().refine(() => Promise.resolve(true))],
  [
    "valibot",
    v.pipeAsync(
      v.string(),
      v.checkAsync(() => Promise.resolve(true)),
    ),
  ],
];

test.each(asynchronous)("asynchronous schemas of %s are refused by a clear error", async (_, schema) => {
  const error = /the schema of "chat" is asynchronous: messages are checked as they arrive/;
  const net = start();
  const a = defineRoom({ channels: { chat: { ...transaction(), schema } } }).join(net.connect, SERVER, "room");
  expect(() => a.channels.chat.send("x")).toThrow(error);
  const told: Invalid[] = [];
  a.onInvalid((invalid) => told.push(invalid));
  a.channels.chat.on("message", () => expect.fail("it was not checked"));
  stranger(net).channel("chat").send('"x"');
  await net.settle();
  expect(told).toMatchObject([{ reason: "own", message: error }]);
});

test("a schema that throws is told, never thrown at the room", async () => {
  const schema = z.any().transform(({ text }: { text: { length: number } }) => text.length);
  const net = start();
  const a = defineRoom({ channels: { chat: { ...transaction(), schema } } }).join(net.connect, SERVER, "room");
  const told: Invalid[] = [];
  a.onInvalid((invalid) => told.push(invalid));
  a.channels.chat.on("message", () => {});
  stranger(net).channel("chat").send({});
  await net.settle();
  expect(told).toMatchObject([{ reason: "own", where: "chat" }]);
});

test("an old tab beside a new one: the new one upgrades, the old one takes what fits and tells of the rest", async () => {
  const net = start();
  const first = defineRoom({
    presence: z.object({ name: z.string() }),
    channels: { chat: { ...transaction(), schema: z.object({ text: z.string() }) } },
  });
  const upgrade = (data: unknown, from: number) => ({ body: (data as { text: string }).text, from });
  const second = defineRoom({
    presence: { schema: z.object({ name: z.string(), color: z.string().optional() }), version: 2 },
    channels: {
      chat: {
        ...transaction(),
        schema: z.object({ body: z.string(), text: z.string().optional(), from: z.number().optional() }),
        version: 2,
        upgrade,
      },
    },
  });
  const old = first.join(net.connect, SERVER, "room", { presence: { name: "Old" } });
  const fresh = second.join(net.connect, SERVER, "room", { presence: { name: "New", color: "red" } });
  const [seen, got]: [unknown[], unknown[]] = [[], []];
  old.channels.chat.on("message", ({ value }) => seen.push(value));
  fresh.channels.chat.on("message", ({ value }) => got.push(value));
  const told: Invalid[] = [];
  old.onInvalid((invalid) => told.push(invalid));
  old.channels.chat.send({ text: "from the old" });
  await net.settle();
  fresh.channels.chat.send({ body: "only for new ones" });
  await net.settle();
  fresh.channels.chat.send({ body: "for both", text: "for both" });
  await net.settle();
  expect(got).toEqual([
    { body: "from the old", from: 1 },
    { body: "only for new ones" },
    { body: "for both", text: "for both" },
  ]);
  expect(seen).toEqual([{ text: "from the old" }, { text: "for both" }]);
  expect(told).toMatchObject([{ where: "chat", reason: "newer", data: { body: "only for new ones" } }]);
  expect(told[0]?.message).toBe("version 2 of the application sent it, and this is 1: load it anew");
  expect([...old.participants.values()].map(({ presence }) => presence)).toEqual([{ name: "New" }]);
  expect([...fresh.participants.values()].map(({ presence }) => presence)).toEqual([{ name: "Old" }]);
  expect(fresh.invalid).toBe(0);
});

test("versions are whole numbers from 1", () => {
  const wrong = { ...transaction(), schema: z.string(), version: 0 };
  expect(() => defineRoom({ channels: { chat: wrong } })).toThrow(
    /the version of "chat" must be a whole number from 1, not 0/,
  );
});
