/**
 * Numbers, sizes and ids of hostile programs: they break nothing for the others, least of all for
 * ever.
 */

import { expect, test, vi } from "vitest";
import { counter, list, lock, map, reducer, shared, turns, type Shared } from "../../src/shared.js";
import { between, orderOf } from "../../src/shared/between.js";
import { Replica } from "../../src/shared/replica.js";
import { transaction, type Channel, type Room, type Simulation } from "../../src/testing.js";
import { randomOf } from "../random.js";
import { start } from "../testing/started.js";

vi.setConfig({ testTimeout: 300_000 });

const definitions = {
  shapes: map(),
  texts: list(),
  score: counter(),
  pen: lock(),
  game: turns(),
  total: reducer({ sum: 0, last: 0 }, ({ sum }, by: number) => ({ sum: sum + by, last: by })),
};
type Data = Shared<typeof definitions>;

function open(net: Simulation, author?: string): Data {
  const room = net.join();
  room.on("error", () => {});
  return shared(definitions, { random: net.random }).open(room, author === undefined ? {} : { author });
}

/** A program that is no copy of the data, and sends any text. */
function stranger(net: Simulation): Channel {
  return net.join().channel("shared", transaction({ departures: true }));
}

const MOST = Number.MAX_SAFE_INTEGER;

test("a counter is a whole number that is exact, whatever others add", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  const hostile = stranger(net);
  a.score.add(42);
  await net.settle();
  for (const [at, number] of ["1e308", "1e308", "-1e308", "1e400", "0.5", '"1"', "null", "9007199254740992"].entries())
    hostile.send(`["hostile",${at + 1},"score","+",${number}]`);
  await net.settle();
  expect([a.score.value, b.score.value]).toEqual([42, 42]);
  // An addition that exceeds the range adds as much as possible, and later additions count as
  // before.
  hostile.send(`["hostile",9,"score","+",${MOST - 42}]`);
  await net.settle();
  a.score.add(1);
  b.score.add(-1);
  await net.settle();
  expect([a.score.value, b.score.value]).toEqual([MOST - 1, MOST - 1]);
  expect([b.undo(), b.score.value]).toEqual([true, MOST]);
  b.score.add(-MOST);
  a.score.add(-MOST);
  await net.settle();
  a.score.add(-1);
  await net.settle();
  expect([a.score.value, b.score.value]).toEqual([-MOST, -MOST]);
  for (const wrong of [0.5, 2 ** 53, Infinity, NaN, "3", undefined])
    expect(() => a.score.add(wrong as number)).toThrow(/`difference` of `add` must be a whole number/);
});

test("an addition that fits no more where the room orders it counts for nobody", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.score.add(MOST - 1);
  await net.settle();
  net.change(a.room, { up: { delay: 100 } });
  a.score.add(1);
  b.score.add(1);
  expect([a.score.value, b.score.value]).toEqual([MOST, MOST]);
  await net.settle();
  expect([a.score.value, b.score.value]).toEqual([MOST, MOST]);
  // The other program's addition was ordered first, so the first addition is all that can be
  // undone.
  expect([a.undo(), a.score.value]).toEqual([true, 1]);
  await net.settle();
  expect(b.score.value).toBe(1);
});

test("states of earlier versions, and of programs that make up states, have whole counters and holders that are ids", () => {
  const loaded = (table: string): Data => {
    const listeners = new Map<string, (value: never) => void>();
    const room = {
      channel: (name: string) => ({ name, on: () => {}, send: () => "accepted" }),
      on: (event: string, listener: (value: never) => void) => listeners.set(event, listener),
      provideSnapshot: () => {},
      participants: new Map(),
    };
    const data = shared(definitions).open(room as unknown as Room);
    const state = new TextEncoder().encode(`[1,[[[${table}],[]],[]]]`);
    listeners.get("snapshot")?.({ part: "shared", data: state, asOf: 1 } as never);
    expect(data.isComplete).toBe(true);
    return data;
  };
  for (const [json, value] of [
    ["5", 5], ["-0.5", 0], ["2.7", 2], ["null", 0], ["1e308", 0], ["1e400", 0], ['"5"', 0], ['{"valueOf":1,"toString":1}', 0],
  ] as const) {
    const { score } = loaded(`["cscore",[["",${json}]]]`);
    score.add(1);
    expect(score.value, json).toBe(value + 1);
  }
  expect(loaded('["lpen",[["","5"]]],["tgame",[["",5]]]')).toMatchObject({ pen: { holder: undefined }, game: { value: [] } });
  expect(loaded('["lpen",[["",5]]],["tgame",[["",[7,8]]]]')).toMatchObject({ pen: { holder: 5 }, game: { value: [7, 8] } });
  expect(loaded('["lpen",[["",1e400]]],["tgame",[["",[7,"8"]]]]').game.value).toEqual([]);
}); // prettier-ignore

test("a program whose id and numbers somebody else uses is heard, and sees what all others see", async () => {
  const net = start();
  const [a, b] = [open(net, "me"), open(net)];
  const hostile = stranger(net);
  a.score.add(1);
  await net.settle();
  // The greatest possible number, the greatest plausible ones, and the number that is next.
  for (const number of [MOST, 1 + 2 ** 32, 1 + 2 ** 32 + 1, 1 + 2 ** 33]) {
    hostile.send(`["me",${number},"shapes","s","hostile",${number}]`);
    await net.settle();
    a.score.add(10);
    await net.settle();
    expect(b.score.value).toBe(a.score.value);
  }
  expect([a.score.value, b.shapes.get("hostile"), a.pending]).toEqual([41, 1 + 2 ** 33, 0]);
});

test("an operation is not lost if somebody else's with its number is ordered first", async () => {
  const net = start();
  const [a, b] = [open(net, "me"), open(net)];
  const hostile = stranger(net);
  await net.settle();
  net.change(a.room, { up: { delay: 200 } });
  a.score.add(1);
  const id = a.batch(() => (a.shapes.set("mine", 1), a.texts.push("text")));
  expect(a.texts.ids).toEqual([id]);
  hostile.send('["me",1,"shapes","s","hostile",1]');
  hostile.send('["me",2,"shapes","s","hostile",2]');
  await net.settle();
  for (const data of [a, b]) {
    expect(data.score.value).toBe(1);
    expect(data.shapes.value).toEqual(new Map([["mine", 1], ["hostile", 2]])); // prettier-ignore
    expect(data.texts.value).toEqual(["text"]);
  }
  expect(a.pending).toBe(0);
  expect([a.undo(), a.shapes.get("mine"), a.texts.value]).toEqual([true, undefined, []]);
  await net.settle();
  expect(b.texts.value).toEqual([]);
});

test("two programs with the same id lose nothing", async () => {
  const net = start();
  const [a, b] = [open(net, "me"), open(net, "me")];
  for (let at = 0; at < 5; at += 1) {
    a.score.add(1);
    b.score.add(10);
    await net.run(30);
  }
  await net.settle();
  expect([a.score.value, b.score.value, a.pending, b.pending]).toEqual([55, 55, 0, 0]);
});

test("values that are nested too deeply, or that JSON lacks, have no effect, and stop no snapshot", async () => {
  const net = start({ snapshotAfter: 5, durability: "memory" });
  const a = open(net);
  const hostile = stranger(net);
  a.shapes.set("one", { x: 1 });
  const id = a.texts.push("text");
  await net.settle();
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const wrong = [
    `"shapes","s","two",${deep}`, `"shapes","p","one",{"y":${deep}}`, `"shapes","r","one",${deep},0`,
    `"shapes","q","one",{"y":[0,"s",${deep}]}`, `"texts","i","V",${deep}`, `"texts","p","${id}",{"v":${deep}}`, '"shapes","s","two",1e400',
    '"shapes","p","one",{"y":-1e400}', '"shapes","s","two",{"x":[1e400]}', '"total","a",1e400', '"total","a","text"',
  ]; // prettier-ignore
  for (const [at, one] of wrong.entries()) hostile.send(`["hostile",${at + 1},${one}]`);
  for (let at = 0; at < 10; at += 1) {
    a.score.add(1);
    await net.run(100);
  }
  const late = open(net);
  const snapshot = vi.fn();
  late.room.on("snapshot", snapshot);
  await net.settle();
  expect(snapshot).toHaveBeenCalled();
  for (const { shapes, texts, score } of [a, late])
    expect([shapes.value, texts.value, score.value]).toEqual([new Map([["one", { x: 1 }]]), ["text"], 10]);
  expect(late.total.value).toEqual(a.total.value);
  const levels = (count: number): unknown => (count > 0 ? [levels(count - 1)] : 1);
  expect(() => a.shapes.set("deep", levels(2000))).toThrow(/too many levels|at most 1000 levels/);
  expect([a.shapes.get("deep"), a.pending]).toEqual([undefined, 0]);
  // Any value that can be stored can also be overwritten, deleted, and brought back.
  a.shapes.set("deep", levels(990));
  a.texts.push(levels(990));
  a.batch(() => (a.shapes.delete("deep"), a.texts.delete(a.texts.ids.at(-1) ?? "")));
  expect([a.undo(), a.shapes.get("deep"), a.texts.value.at(-1)]).toEqual([true, levels(990), levels(990)]);
  await net.settle();
  expect([late.shapes.get("deep"), late.texts.value.at(-1)]).toEqual([levels(990), levels(990)]);
});

test("an action has no effect if the reducer makes a number of it that JSON lacks", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.total.dispatch(1e308);
  b.total.dispatch(1e308);
  a.total.dispatch(5);
  await net.settle();
  for (const { total } of [a, b]) expect(total.value).toEqual({ sum: 1e308, last: 5 });
});

test("names that somebody makes up take no place from those of the application", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  const hostile = stranger(net);
  for (let at = 0; at < 1500; at += 100)
    hostile.send(JSON.stringify(["hostile", at + 1, Array.from({ length: 100 }, (_, n) => [`n${at + n}`, "+", 1])]));
  await net.settle();
  a.score.add(1);
  a.shapes.set("one", 1);
  a.pen.acquire();
  await net.settle();
  expect([b.score.value, b.shapes.get("one"), b.pen.holder]).toEqual([1, 1, a.room.self?.id]);
});

test("states that are never completed keep no more than four, and no snapshot from being made", () => {
  const replica = new Replica("me", new Map(), () => {}, () => {}); // prettier-ignore
  const state = '[[[["mshapes",[["one",["h.1",1]]]]],[]],[]]';
  const piece = (author: string, index: number): string =>
    JSON.stringify([author, 1, 1, 100, index, 2, index === 0 ? state.slice(0, 9) : state.slice(9)]);
  for (const author of ["a", "b", "c", "d", "e"]) replica.deliver(1, piece(author, 0));
  replica.deliver(1, piece("a", 1));
  expect(replica.tables.cell("shapes", "one")).toBeUndefined();
  replica.deliver(1, piece("b", 1));
  expect(replica.tables.cell("shapes", "one")).toEqual(["h.1", 1]);
  // A piece is not longer than those that programs make.
  expect(replica.deliver(1, JSON.stringify(["f", 1, 1, 200, 0, 1, " ".repeat(18_001)]))).toBeUndefined();
  for (const length of ["1e400", "1e300", "-1", '"5"'])
    expect(replica.deliver(1, `["f",1,0,${length}]`)).toBeUndefined();
});

test("items can be inserted everywhere in a list, although others have made up places", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  const hostile = stranger(net);
  a.texts.push("first");
  await net.settle();
  const places = [
    "",
    "0",
    "!",
    "V0",
    "V00",
    "0".repeat(900) + "1",
    "0".repeat(50_000) + "1",
    "z".repeat(1200),
    "zzzzz",
  ];
  for (const [at, place] of places.entries())
    hostile.send(JSON.stringify(["hostile", at + 1, "texts", "i", place, place.slice(0, 9)]));
  await net.settle();
  expect(b.texts.value).toHaveLength(places.length + 1);
  const sent = vi.spyOn(a.room.channel("shared"), "send");
  const texts = (): readonly unknown[] => a.texts.value;
  for (let round = 0; round < 20; round += 1) {
    const before = [...texts()];
    for (const index of [0, before.length, 1 + (round % (before.length - 1))]) {
      const expected = texts().toSpliced(index, 0, `${round} at ${index}`);
      a.texts.insert(index, `${round} at ${index}`);
      // No place fits between two items with the same place, so the new item comes after both.
      if (round > 1) expect(texts()).toEqual(expected);
    }
    await net.settle();
    expect(b.texts.value).toEqual(texts());
  }
  expect(texts()).toHaveLength(places.length + 61);
  expect(Math.max(...sent.mock.calls.slice(-40).map(([text]) => String(text).length))).toBeLessThan(100);
  // The places of others that left no room have moved with the first insertion beside them, and
  // come back with its undo.
  while (a.undo());
  expect(texts()).toHaveLength(places.length);
});

/**
 * The keys of a list in which `count` items are inserted, each before the one at the index that
 * `at` returns.
 */
function grown(count: number, at: (index: number, keys: readonly string[]) => number): string[] {
  const first = between(undefined, undefined);
  const keys = [first, between(first, undefined)];
  for (let index = 0; index < count; index += 1) {
    const place = at(index, keys);
    keys.splice(place, 0, between(keys[place - 1], keys[place]));
  }
  return keys;
}

test.each([
  ["at the end", 3, (_: number, keys: readonly string[]) => keys.length],
  ["at the beginning", 3, () => 0],
  ["each after the one before, within a list", 11, (index: number) => index + 1],
  ["each before the one before, within a list", 11, () => 1],
])("keys stay short if items are inserted %s", (_, most, at) => {
  const keys = grown(10_000, at);
  expect(keys).toEqual([...keys].sort((a, b) => (a < b ? -1 : 1)));
  expect(new Set(keys).size).toBe(keys.length);
  expect(Math.max(...keys.map(({ length }) => length))).toBe(most);
});

test("a key is at most 1,000 characters, which 3,800 items that are inserted between the last two do not reach", () => {
  const halved = (index: number): number => 1 + Math.ceil(index / 2);
  const keys = grown(3800, halved);
  expect(new Set(keys).size).toBe(keys.length);
  const [low, high] = [`${"0".repeat(998)}1`, `${"0".repeat(998)}2`];
  expect(between(low, high).length).toBe(1000);
  expect(between(`${low}z`, high)).toBe(`${low}z`);
  expect(orderOf("z".repeat(5000))).toBe("z".repeat(1000));
});

test("a list in which items are inserted between the last two has short places, and everything stays where it is", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  const sent = vi.spyOn(a.room.channel("shared"), "send");
  const expected: number[] = [];
  for (let at = 0; at < 1000; at += 1) {
    const index = Math.ceil(at / 2);
    a.texts.insert(index, at);
    expected.splice(index, 0, at);
    if (at % 100 === 0) await net.run(100);
  }
  await net.settle();
  expect(b.texts.value).toEqual(expected);
  const sizes = sent.mock.calls.map(([text]) => String(text).length);
  expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThan(250);
});

test("between any two keys there is another one, until it would be too long", () => {
  const random = randomOf(1);
  const digits = ["0", "1", "9", "A", "V", "z", "zzzz", "0000"];
  const made = (): string => orderOf(Array.from({ length: random(8) }, () => digits[random(digits.length)]).join(""));
  for (let round = 0; round < 5000; round += 1) {
    const [low = "", high = ""] = [made(), made()].sort((a, b) => (a < b ? -1 : 1));
    for (const [one, other] of [[low, high], [undefined, high], [low, undefined]]) {
      if (one === other) continue;
      const key = between(one, other);
      expect(one === undefined || one < key, `${one} before ${key}`).toBe(true);
      expect(other === undefined || key < other, `${key} before ${other}`).toBe(true);
      expect(orderOf(key)).toBe(key);
    }
  }
}); // prettier-ignore

test("objects in place of numbers and stamps throw nothing", () => {
  const replica = new Replica("me", new Map(), () => {}, () => {}); // prettier-ignore
  const odd = '{"toString":1,"valueOf":1}';
  for (const [at, action] of [
    `"score","+",${odd}`,
    '"shapes","s","one",{"x":1}',
    `"shapes","r","one","h.2",["h.2",{"x":1},1,{"x":${odd},"y":${odd}}]`,
    `"shapes","r","one","h.2",["h.2",{"x":1},${odd}]`,
  ].entries())
    expect(replica.deliver(1, `["h",${at + 1},${action}]`), action).toBeDefined();
  expect(replica.tables.cell("shapes", "one")).toEqual(["h.2", { x: 1 }]);
  // A late joiner counts the same operations.
  const late = new Replica("late", new Map(), () => {}, () => {}); // prettier-ignore
  expect(late.load(replica.snapshot() ?? "")).toBe(true);
  expect([late.has("h", 4), late.snapshot()]).toEqual([true, replica.snapshot()]);
});

test("every state can come back", () => {
  // Somebody brings back a state in which the numbers of an author are as great as they may be, and
  // goes on from there.
  const make = (name: string): Replica => new Replica(name, new Map(), () => {}, () => {}); // prettier-ignore
  const [replica, other] = [make("me"), make("other")];
  const state = `[[[["cscore",[["",5]]]],[]],[["h",${2 ** 52}]]]`;
  replica.deliver(1, JSON.stringify(["x", 1, 1, 9, 0, 1, state]));
  replica.deliver(1, `["h",${2 ** 52 + 1},"score","+",1]`);
  replica.restart();
  for (const text of replica.restore()) for (const each of [replica, other]) each.deliver(2, text);
  const late = make("late");
  expect(late.load(other.snapshot() ?? "")).toBe(true);
  for (const each of [replica, other, late])
    expect([each.tables.table("cscore").get(""), each.remembered, each.isComplete]).toEqual([6, 0, true]);
});

test("a state with half a character comes back the same to everybody", () => {
  const [replica, late] = ["me", "late"].map((name) => new Replica(name, new Map(), () => {}, () => {})) as [Replica, Replica]; // prettier-ignore
  replica.deliver(1, JSON.stringify(["x", 1, 1, 9, 0, 1, '[[[["mshapes",[["\ud83d",["h.1",1]]]]],[]],[]]']));
  // A snapshot travels as UTF-8.
  const sent = new TextDecoder().decode(new TextEncoder().encode(replica.snapshot()));
  expect(late.load(sent)).toBe(true);
  expect(late.tables.cell("shapes", "\ud83d")).toEqual(["h.1", 1]);
});
