import { expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { defineRoom, type Invalid } from "../../src/schema.js";
import { counter, list, lock, map, reducer, shared, turns, type Lost, type Shared } from "../../src/shared.js";
import { forSeeds, transaction, type Room, type Simulation, type SimulationOptions } from "../../src/testing.js";
import { start as startInMemory } from "../testing/started.js";

vi.setConfig({ testTimeout: 300_000 });

function start(options: SimulationOptions = {}): Simulation {
  return startInMemory({ durability: "local", ...options });
}

const Shape = z.object({ x: z.number(), y: z.number(), color: z.string().optional() });
const definitions = {
  shapes: map(Shape),
  texts: list(z.string()),
  score: counter(),
  log: reducer([] as readonly string[], (texts, text: string) => [...texts, text], { schema: z.string() }),
};
type Data = Shared<typeof definitions>;

function open(net: Simulation, room: Room = net.join()): Data {
  // Broken connections are a part of the tests.
  room.on("error", () => {});
  return shared(definitions, { random: net.random }).open(room);
}

/** The whole visible state of the shared data. */
function look({ shapes, texts, score, log }: Data): unknown {
  const sorted = [...shapes.value].sort(([a], [b]) => (a < b ? -1 : 1));
  return { shapes: Object.fromEntries(sorted), texts: texts.value, score: score.value, log: log.value };
}

test("own changes are there at once, and everybody has them in the end", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.shapes.set("one", { x: 1, y: 2 });
  a.shapes.patch("one", { x: 5, color: "red" });
  a.shapes.patch("one", { color: undefined });
  a.shapes.patch("nobody", { x: 1 });
  a.shapes.set("two", { x: 0, y: 0 });
  a.shapes.delete("two");
  a.texts.push("last");
  a.texts.insert(0, "first");
  a.score.add(3);
  a.log.dispatch("hello");
  const all = { shapes: { one: { x: 5, y: 2 } }, texts: ["first", "last"], score: 3, log: ["hello"] };
  expect(look(a)).toEqual(all);
  expect(look(b)).toEqual({ shapes: {}, texts: [], score: 0, log: [] });
  await net.settle();
  expect([look(a), look(b)]).toEqual([all, all]);
  expect([a.pending, a.isComplete, a.isRestoring]).toEqual([0, true, false]);
  expectTypeOf(a.shapes.get("one")).toEqualTypeOf<{ x: number; y: number; color?: string | undefined } | undefined>();
});

test("the last in the room's order wins, for each field; before that everybody sees their own", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.shapes.set("one", { x: 0, y: 0 });
  await net.settle();
  net.change(a.room, { up: { delay: 100 } });
  a.shapes.patch("one", { x: 1, color: "red" });
  b.shapes.patch("one", { x: 2, y: 2 });
  await net.run(60);
  expect([a.shapes.get("one"), b.shapes.get("one")]).toEqual([
    { x: 1, y: 2, color: "red" },
    { x: 2, y: 2 },
  ]);
  await net.settle();
  expect([look(a), look(b)]).toMatchObject(Array(2).fill({ shapes: { one: { x: 1, y: 2, color: "red" } } }));
});

test("a value stays the same object until it changes", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.shapes.set("one", { x: 0, y: 0 });
  a.texts.push("text");
  await net.settle();
  const seen = () => [b.shapes.value, b.shapes.get("one"), b.texts.value, b.log.value];
  const before = seen();
  a.score.add(1);
  await net.settle();
  seen().forEach((value, at) => expect(value).toBe(before[at]));
  a.shapes.set("two", { x: 0, y: 0 });
  await net.settle();
  expect(b.shapes.value).not.toBe(before[0]);
  expect(b.shapes.get("one")).toBe(before[1]);
});

test("listeners are told once for each task, with the keys", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  await net.settle();
  const [keys, any] = [vi.fn(), vi.fn()];
  const { subscribe } = b.shapes;
  const stop = subscribe((changed) => void keys([...changed].sort()));
  b.subscribe(any);
  for (const key of ["one", "two", "three"]) a.shapes.set(key, { x: 0, y: 0 });
  await net.settle();
  expect(keys.mock.calls).toEqual([[["one", "three", "two"]]]);
  expect(any).toHaveBeenCalledTimes(1);
  stop();
  a.shapes.set("four", { x: 0, y: 0 });
  await net.settle();
  expect(keys).toHaveBeenCalledTimes(1);
});

test("items of a list keep their place by themselves when two move and insert at once", () =>
  forSeeds(20, async (seed) => {
    const net = start({ seed, jitter: 50 });
    const [a, b] = [open(net), open(net)];
    const [one, two] = ["one", "two", "three"].map((text) => a.texts.push(text)) as [string, string];
    await net.settle();
    a.texts.move(one, 2);
    b.texts.insert(1, "new");
    b.texts.set(two, "TWO");
    await net.settle();
    expect(a.texts.value.filter((text) => text !== "new")).toEqual(["TWO", "three", "one"]);
    expect(b.texts.value).toEqual(a.texts.value);
    expect(a.texts.get(two)).toBe("TWO");
    a.texts.delete(one);
    await net.settle();
    expect(b.texts.ids).toEqual(a.texts.ids);
    expect(b.texts.value).toHaveLength(3);
  }));

test("items that two insert at the same place stay together, and others fit behind them", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.texts.push("a");
  b.texts.push("b");
  await net.settle();
  const both = [...a.texts.value];
  a.texts.insert(1, "between");
  a.texts.push("last");
  await net.settle();
  expect(b.texts.value.filter((text) => text.length === 1)).toEqual(both);
  expect(b.texts.value.at(-1)).toBe("last");
  expect(b.texts.value).toEqual(a.texts.value);
});

test("a batch counts as a whole, is one transaction, and is taken back if it throws", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  await net.settle();
  const told = vi.fn();
  b.subscribe(() => told(look(b)));
  const before = a.room.pending;
  const result = a.batch(() => {
    a.shapes.set("one", { x: 1, y: 1 });
    a.batch(() => a.score.add(1));
    for (const text of ["1", "2", "3"]) a.texts.push(text);
    return a.texts.value.length;
  });
  expect([result, a.room.pending - before]).toEqual([3, 1]);
  await net.settle();
  expect(told.mock.calls).toEqual([[look(a)]]);
  const all = look(a);
  expect(() =>
    a.batch(() => {
      a.score.add(5);
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(look(a)).toEqual(all);
  await net.settle();
  expect(look(b)).toEqual(all);
});

test("nothing is undone within a batch, whose own changes stay", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.score.add(1);
  a.undo();
  a.score.add(2);
  const undone = a.batch(() => {
    a.texts.push("kept");
    return [a.undo(), a.redo()];
  });
  expect(undone).toEqual([false, false]);
  await net.settle();
  expect(look(b)).toEqual(look(a));
  expect([b.score.value, b.texts.value]).toEqual([2, ["kept"]]);
  a.undo();
  await net.settle();
  expect([b.score.value, b.texts.value]).toEqual([2, []]);
});

test("a batch and an undo that do not fit into one message are sent in several, and undone as a whole", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  await net.settle();
  const text = "x".repeat(1000);
  a.batch(() => {
    const ids = Array.from({ length: 200 }, (_, at) => a.texts.push(`${at} ${text}`));
    expect(a.texts.ids).toEqual(ids);
    for (let at = 0; at < 200; at += 1) a.shapes.set(`${at}`, { x: at, y: 0, color: text });
  });
  expect(a.room.pending).toBeGreaterThan(10);
  const all = look(a);
  await net.settle();
  expect([look(a), look(b)]).toEqual([all, all]);
  a.batch(() => {
    for (const id of [...a.texts.ids]) a.texts.delete(id);
    for (const key of [...a.shapes.value.keys()]) a.shapes.delete(key);
  });
  await net.settle();
  expect([b.texts.value.length, b.shapes.value.size]).toEqual([0, 0]);
  expect(a.undo()).toBe(true);
  await net.settle();
  expect([look(a), look(b)]).toEqual([all, all]);
  expect([a.undo(), a.canUndo]).toEqual([true, false]);
  await net.settle();
  expect([b.texts.value.length, b.shapes.value.size]).toEqual([0, 0]);
  expect([a.redo(), a.redo(), a.canRedo]).toEqual([true, true, false]);
  await net.settle();
  expect([b.texts.value.length, b.shapes.value.size]).toEqual([0, 0]);
});

test("undo and redo bring back own operations, one by one", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  const states: unknown[] = [look(a)];
  const id = a.texts.push("text");
  states.push(look(a));
  const steps = [
    () => a.shapes.set("one", { x: 1, y: 1 }),
    () => a.shapes.patch("one", { x: 2, color: "red" }),
    () => a.shapes.patch("one", { x: 3, color: undefined }),
    () => a.shapes.set("one", { x: 4, y: 4 }),
    () => a.shapes.delete("one"),
    () => a.texts.set(id, "other"),
    () => a.score.add(7),
    () => a.batch(() => (a.texts.delete(id), a.score.add(-1))),
  ];
  for (const step of steps) {
    step();
    states.push(look(a));
    if (net.random() < 0.5) await net.settle();
  }
  for (const round of [1, 2]) {
    for (const state of states.slice(0, -1).toReversed()) {
      expect([a.undo(), look(a)]).toEqual([true, state]);
      if (round === 2) await net.settle();
    }
    expect([a.canUndo, a.undo(), a.canRedo]).toEqual([false, false, true]);
    for (const state of states.slice(1)) {
      expect([a.redo(), look(a)]).toEqual([true, state]);
      if (round === 2) await net.settle();
    }
    expect([a.canRedo, a.redo()]).toEqual([false, false]);
    await net.settle();
    expect(look(b)).toEqual(states.at(-1));
  }
  expect(b.canUndo).toBe(false);
});

test("an undo does not destroy what others did since, not even where it is on the way", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.shapes.set("one", { x: 0, y: 0 });
  a.shapes.set("two", { x: 0, y: 0 });
  a.shapes.set("three", { x: 0, y: 0 });
  await net.settle();
  a.shapes.patch("one", { x: 1, y: 1 });
  a.shapes.set("two", { x: 2, y: 2 });
  a.shapes.delete("three");
  await net.settle();
  b.shapes.patch("one", { x: 9 });
  b.shapes.patch("two", { color: "blue" });
  b.shapes.set("three", { x: 9, y: 9 });
  b.shapes.delete("three");
  // None of the operations has arrived at the other program.
  expect([a.undo(), a.undo(), a.undo()]).toEqual([true, true, true]);
  await net.settle();
  const end = { shapes: { one: { x: 9, y: 0 }, two: { x: 2, y: 2, color: "blue" } } };
  expect([look(a), look(b)]).toMatchObject([end, end]);
  // Undo leaves out own operations that others have overwritten: the next step is the first
  // operation with an effect.
  b.shapes.set("two", { x: 5, y: 5 });
  b.shapes.set("one", { x: 5, y: 5 });
  await net.settle();
  expect([a.undo(), a.canUndo]).toEqual([false, false]);
});

test("a deletion is redone if others have undone and redone a field in between", async () => {
  const net = start();
  const [a, b] = [open(net), open(net)];
  a.shapes.set("one", { x: 0, y: 0 });
  a.shapes.patch("one", { x: 1 });
  await net.settle();
  b.shapes.patch("one", { y: 1 });
  b.shapes.delete("one");
  b.undo();
  await net.settle();
  // The value is the same one afterwards.
  expect([a.undo(), a.redo()]).toEqual([true, true]);
  await net.settle();
  expect([b.redo(), b.shapes.get("one")]).toEqual([true, undefined]);
  await net.settle();
  expect([look(a), look(b)]).toEqual(Array(2).fill({ shapes: {}, texts: [], score: 0, log: [] }));
});

test("what was undone cannot be redone after another operation", () => {
  const a = open(start());
  a.score.add(1);
  a.undo();
  a.score.add(2);
  expect([a.canRedo, a.score.value]).toEqual([false, 2]);
});

test("actions of a reducer are undone by the actions that it names", async () => {
  const net = start();
  const total = reducer(0, (sum, by: number) => sum + by, { undo: (by) => -by });
  const [a, b] = [net.join(), net.join()].map((room) => shared({ total }, { random: net.random }).open(room));
  a?.total.dispatch(5);
  b?.total.dispatch(10);
  await net.settle();
  expect([a?.undo(), a?.total.value]).toEqual([true, 10]);
  await net.settle();
  expect(b?.total.value).toBe(10);
});

test("a late joiner gets a snapshot and what came after it", async () => {
  const net = start({ snapshotAfter: 20, durability: "memory" });
  const a = open(net);
  for (let at = 0; at < 50; at += 1) {
    a.batch(() => (a.score.add(1), a.texts.push(`${at}`), a.shapes.set(`${at % 7}`, { x: at, y: 0 })));
    if (at % 5 === 0) a.log.dispatch(`${at}`);
    await net.run(100);
  }
  await net.settle();
  const late = open(net);
  const snapshot = vi.fn();
  late.room.on("snapshot", snapshot);
  await net.settle();
  expect(snapshot).toHaveBeenCalledOnce();
  expect(look(late)).toEqual(look(a));
  late.score.add(1);
  await net.settle();
  expect(look(late)).toEqual(look(a));
});

test("after the server has lost the room, the longest state comes back with what came since", () =>
  forSeeds(10, async (seed) => {
    const net = start({ seed, durability: "memory", jitter: 30 });
    const [a, b, c] = [open(net), open(net), open(net)];
    for (let at = 0; at < 20; at += 1) a.texts.push(`${at}`.repeat(3000));
    await net.settle();
    // This one misses the last operations.
    net.partition(c.room, 12_000);
    b.score.add(1);
    b.log.dispatch("before");
    await net.run(500);
    const before = look(a);
    net.restartServer();
    await net.until(() => a.room.status === "reconnecting");
    expect(look(a)).toEqual(before);
    a.score.add(10);
    await net.settle();
    expect(look(a)).toEqual({ ...(before as object), score: 11 });
    for (const other of [b, c]) expect(look(other)).toEqual(look(a));
    expect([a, b, c].map(({ isRestoring }) => isRestoring)).toEqual([false, false, false]);
    const late = open(net);
    await net.settle();
    expect(look(late)).toEqual(look(a));
  }));

test("nobody who has less brings it back, and one who leaves in the middle is replaced", async () => {
  const net = start({ durability: "memory" });
  const [a, b] = [open(net), open(net)];
  a.texts.push("one");
  await net.settle();
  net.restartServer();
  await net.until(() => net.log().includes("sends on"), { limit: 20_000 });
  net.crashTab(a.room);
  await net.run(15_000);
  const late = open(net);
  await net.settle();
  expect([b.texts.value, late.texts.value]).toEqual([["one"], ["one"]]);
});

test("subscribe tells that the server has lost the room, and that the room has everything again", async () => {
  const net = start({ durability: "memory" });
  const [a, b] = [open(net), open(net)];
  a.score.add(1);
  await net.settle();
  const told = new Map([a, b].map((data) => [data, [] as boolean[]]));
  for (const data of [a, b]) data.subscribe(() => told.get(data)?.push(data.isRestoring));
  net.restartServer();
  await net.settle();
  // The first and the last state that each program's listener was told.
  for (const [data, states] of told) {
    expect(states[0]).toBe(true);
    expect([states.at(-1), data.isRestoring]).toEqual([false, false]);
  }
});

test("after the gap session nothing counts twice", () =>
  forSeeds(10, async (seed) => {
    const net = start({ seed, away: 1000, maxFormer: 0, jitter: 30, durability: "memory" });
    const [a, b] = [open(net), open(net)];
    await net.settle();
    const gaps: string[] = [];
    a.room.on("gap", ({ reason }) => gaps.push(reason));
    a.score.add(1);
    await net.run(30);
    // The room has it, and this program does not know.
    net.partition(a.room, 15_000);
    a.score.add(1);
    await net.settle();
    expect(gaps).toEqual(["session"]);
    expect([a.score.value, b.score.value, a.pending]).toEqual([2, 2, 0]);
  }));

test("after the gap history the application is told, and no snapshot is made of what is incomplete", async () => {
  const net = start({ maxLogBytes: 2000, durability: "memory" });
  const [a, b] = [open(net), open(net)];
  await net.settle();
  const lost: Lost[] = [];
  b.onLost((why) => lost.push(why));
  const complete: boolean[] = [];
  b.subscribe(() => complete.push(b.isComplete));
  net.partition(b.room, 8000);
  for (let at = 0; at < 70; at += 1) {
    a.texts.push("x".repeat(100));
    await net.run(100);
  }
  await net.settle();
  expect([lost, b.isComplete, a.isComplete]).toEqual([["history"], false, true]);
  expect(complete).toContain(false);
});

test("an administrator's reset empties it for everybody", () => {
  // The simulated server has no administration, so the event is emitted by a room that stands for
  // the real one.
  const listeners = new Map<string, (value: never) => void>();
  const channel = { name: "shared", on: () => {}, send: () => "accepted" };
  const room = {
    channel: (name: string) => ({ ...channel, name }),
    on: (event: string, listener: (value: never) => void) => listeners.set(event, listener),
    provideSnapshot: () => {},
    participants: new Map(),
  };
  const a = shared(definitions).open(room as unknown as Room);
  a.room.channel("shared");
  a.score.add(1);
  const snapshot = { part: "shared", data: new TextEncoder().encode('[1,[[[["cscore",[["",5]]]],[]],[]]]'), asOf: 1 };
  listeners.get("snapshot")?.(snapshot as never);
  expect(a.score.value).toBe(6);
  listeners.get("gap")?.({ reason: "reset", channel: "shared", uncertain: 0 } as never);
  // The own operation comes after the reset.
  expect(a.score.value).toBe(1);
});

test("what a participant may not publish is taken back", async () => {
  const net = start();
  const a = open(net);
  a.score.add(1);
  await net.settle();
  const b = open(net, net.join({ user: "guest", rights: { publish: [] } }));
  b.score.add(5);
  expect(b.score.value).toBe(5);
  await net.settle();
  expect([a.score.value, b.score.value, b.pending, b.undo()]).toEqual([1, 1, 0, false]);
  // The refused message told this program that it must not publish.
  expect(() => b.score.add(5)).toThrow(/not allowed: publishing on this channel/);
  expect([b.score.value, b.pending]).toEqual([1, 0]);
});

test("an operation that a listener makes while the last pending one is delivered stays, and can be undone", async () => {
  const net = start();
  const a = open(net);
  a.score.add(1);
  const seen: unknown[] = [];
  const stop = a.onOperation(() => {
    stop();
    a.score.add(10);
    a.room.on("pending", () => seen.push([a.score.value, a.pending]));
  });
  await net.settle();
  // The room has ordered all that it had before the listener, then what the listener did.
  expect(seen.at(0)).toEqual([11, 1]);
  expect(seen.at(-1)).toEqual([11, 0]);
  expect([a.undo(), a.score.value]).toEqual([true, 1]);
});

test("listeners are told when the number of pending operations changes, also if nothing else does", async () => {
  const net = start();
  const board = shared({ score: counter(), pen: lock() }, { random: net.random });
  const [a, b] = [board.open(net.join()), board.open(net.join({ user: "guest", rights: { publish: [] } }))];
  b.room.on("error", () => {});
  const seen: string[] = [];
  a.subscribe(() => seen.push(`a: ${a.score.value}, ${a.pending} pending`));
  b.subscribe(() => seen.push(`b: ${b.score.value}, ${b.pending} pending`));
  // The operation is applied when it is made, and only counted when it is ordered.
  a.score.add(1);
  // A lock has a holder only once this is ordered, which never happens.
  b.pen.acquire();
  await net.settle();
  expect(seen.filter((text) => text.startsWith("a"))).toEqual(["a: 1, 1 pending", "a: 1, 0 pending"]);
  expect(seen.filter((text) => text.startsWith("b"))).toEqual([
    "b: 0, 1 pending",
    "b: 0, 0 pending",
    "b: 1, 0 pending",
  ]);
});

test("a preview shows a change that is not done, and ends with the operation on its key", async () => {
  const net = start({ seed: 4 });
  const [a, b] = [open(net), open(net)];
  a.shapes.set("one", { x: 0, y: 0 });
  await net.settle();
  const seen: unknown[] = [];
  b.shapes.subscribe(() => seen.push(b.shapes.previewed("one")));
  // Fields that are shown one after the other add up, though only the newest message of a key
  // travels.
  a.shapes.preview("one", { color: "red" });
  for (let x = 1; x <= 10; x += 1) {
    a.shapes.preview("one", { x });
    await net.run(10);
  }
  await net.run(200);
  expect(seen.at(-1)).toEqual({ x: 10, y: 0, color: "red" });
  expect(seen.length).toBeLessThan(8);
  expect(b.shapes.get("one")).toEqual({ x: 0, y: 0 });
  a.shapes.preview("one", { x: 99 });
  a.shapes.patch("one", { x: 11 });
  await net.settle();
  expect(b.shapes.previewed("one")).toEqual({ x: 11, y: 0 });
  expect(b.shapes.previewed("one")).toBe(b.shapes.get("one"));
  a.shapes.preview("one", { y: 50 });
  await net.run(200);
  expect(b.shapes.previewed("one")).toEqual({ x: 11, y: 50 });
  a.shapes.preview("one", undefined);
  await net.run(200);
  expect(b.shapes.previewed("one")).toEqual({ x: 11, y: 0 });
  a.shapes.preview("one", { y: 60 });
  await net.run(200);
  net.crashTab(a.room);
  await net.run(6000);
  expect(b.shapes.previewed("one")).toEqual({ x: 11, y: 0 });
});

test("previews are not taken for those of somebody else, and of each participant there are only so many", async () => {
  const net = start({ durability: "memory" });
  const [first, second] = [net.join(), net.join()];
  const [a, b] = [open(net, first), open(net, second)];
  a.batch(() => Array.from({ length: 250 }, (_, at) => a.shapes.set(`s${at}`, { x: 0, y: 0 })));
  await net.settle();
  for (let at = 0; at < 250; at += 1) {
    a.shapes.preview(`s${at}`, { x: 1 });
    await net.run(50);
  }
  await net.settle();
  const shown = (): number => [...b.shapes.value.keys()].filter((key) => b.shapes.previewed(key)?.x === 1).length;
  expect(shown()).toBe(200);
  // Another participant has the number afterwards.
  expect(first.self?.id).toBe(1);
  net.crashTab(first);
  net.partition(second, 3000);
  net.restartServer();
  const other = net.join();
  await net.settle();
  expect([other.self?.id, shown()]).toEqual([1, 0]);
});

test("values of others that do not fit are not there, are told once, and stay for those whom they fit", async () => {
  const net = start({ snapshotAfter: 5 });
  const told: Invalid[] = [];
  const strict = shared({ shapes: map(Shape) }, { random: net.random });
  const a = strict.open(net.join(), { invalid: (invalid) => told.push(invalid) });
  const b = shared({ shapes: map() }, { random: net.random }).open(net.join());
  b.shapes.set("wrong", { x: "left" });
  b.shapes.set("right", { x: 1, y: 1 });
  await net.settle();
  expect([a.shapes.get("wrong"), a.shapes.get("wrong"), a.shapes.value.size]).toEqual([undefined, undefined, 1]);
  expect(told).toMatchObject([{ where: "shapes", reason: "schema", data: { x: "left" } }]);
  for (let at = 0; at < 8; at += 1) {
    a.shapes.set(`${at}`, { x: at, y: at });
    await net.run(100);
  }
  await net.settle();
  const late = shared({ shapes: map() }, { random: net.random }).open(net.join());
  await net.settle();
  expect(late.shapes.get("wrong")).toEqual({ x: "left" });
  expect(() => a.shapes.set("mine", { x: "left" } as never)).toThrow(/"shapes" does not fit its schema: x/);
  expect(() => a.shapes.patch("right", { x: "left" } as never)).toThrow(/"shapes" does not fit/);
});

const game = { pen: lock(), turns: turns() };

test("the first in the room's order holds a lock, and nobody before that", () =>
  forSeeds(10, async (seed) => {
    const net = start({ seed, jitter: 50 });
    const [a, b] = net.join(2).map((room) => shared(game, { random: net.random }).open(room)) as [
      Shared<typeof game>,
      Shared<typeof game>,
    ];
    await net.settle();
    a.pen.acquire();
    b.pen.acquire();
    expect([a.pen.isMine, b.pen.isMine]).toEqual([false, false]);
    await net.settle();
    const [holder, other] = a.pen.isMine ? [a, b] : [b, a];
    expect([holder.pen.isMine, other.pen.isMine, other.pen.holder]).toEqual([true, false, holder.room.self?.id]);
    other.pen.release();
    await net.settle();
    expect([holder.pen.isMine, holder.canUndo]).toEqual([true, false]);
    holder.pen.release();
    await net.settle();
    other.pen.acquire();
    await net.settle();
    expect([holder.pen.isMine, other.pen.isMine]).toEqual([false, true]);
  }));

test("a lock and a turn become free when their holder has left for good, and whoever comes back does not hold them", async () => {
  const net = start({ away: 1000 });
  const [a, b, c] = net.join(3).map((room) => shared(game, { random: net.random }).open(room)) as [
    Shared<typeof game>,
    Shared<typeof game>,
    Shared<typeof game>,
  ];
  for (const { room } of [a, b, c]) room.on("error", () => {});
  await net.settle();
  for (const each of [a, b, c]) {
    each.turns.join();
    await net.run(200);
  }
  a.pen.acquire();
  await net.settle();
  const ids = [a, b, c].map(({ room }) => room.self?.id);
  expect([a.turns.isMine, b.turns.value]).toEqual([true, ids]);
  net.partition(a.room);
  await net.run(5000);
  // The participant is away, and may come back.
  expect(b.pen.holder).toBe(ids[0]);
  await net.run(4000);
  expect([b.pen.holder, b.turns.value, b.turns.isMine]).toEqual([undefined, ids.slice(1), true]);
  // The participant that is away does not know yet.
  expect(a.pen.isMine).toBe(true);
  b.pen.acquire();
  b.turns.next();
  net.heal(a.room);
  await net.settle();
  expect([a, b, c].map(({ pen }) => pen.isMine)).toEqual([false, true, false]);
  expect([a, b, c].map(({ turns }) => turns.current)).toEqual([ids[2], ids[2], ids[2]]);
});

test("after the server has lost the room, nobody holds anything", async () => {
  const net = start({ durability: "memory" });
  const [a, b] = net.join(2).map((room) => shared(game, { random: net.random }).open(room)) as [
    Shared<typeof game>,
    Shared<typeof game>,
  ];
  for (const { room } of [a, b]) room.on("error", () => {});
  a.pen.acquire();
  a.turns.join();
  await net.settle();
  expect(a.pen.isMine).toBe(true);
  net.restartServer();
  await net.settle();
  expect([a.pen.holder, b.pen.holder, b.turns.value]).toEqual([undefined, undefined, []]);
  b.pen.acquire();
  await net.settle();
  expect(b.pen.isMine).toBe(true);
});

test("malformed operations have no effect", async () => {
  const net = start();
  const a = open(net);
  const stranger = net.join().channel("shared", transaction());
  a.shapes.set("one", { x: 0, y: 0 });
  a.log.dispatch("fine");
  await net.settle();
  const all = look(a);
  const wrong = [
    "no JSON", {}, [], ["x"], ["x", -1, "score", "+", 1], ["x", 1.5, "score", "+", 1], ["x".repeat(200), 1, "score", "+", 1],
    ["x", 1, "score"], ["x", 2, "score", "+", "1"], ["x", 3, "shapes", "s", 5, {}], ["x", 4, "shapes", "s", "no value"],
    ["x", 5, "shapes", "p", "one", 5], ["x", 6, "shapes", "r", "one", "other", 0], ["x", 7, "shapes", "r", "one"],
    ["x", 8, "shapes", "q", "one", { x: 5, y: ["other", "x", 1] }], ["x", 9, "shapes", "d"], ["x", 10, "log", "a", 5],
    ["x", 11, "unknown", "a", 5], ["x", 12, "shapes", "unknown"], ["x", 13, [["score", "+", 1], 5]], ["x", 14, 0, -1],
    ["x", 15, 1, 100, 0, 1, "not a state"], ["x", 16, 1, 100, 5, 1, ""], ["x", 17, 1, 100, 0, 1, '[[[5,[]]],[]]'],
    ["x", 18, 1, 100, 1, 2, "b"], ["x", 19, 2, 1], ["x", 20, "score", "+", null],
  ]; // prettier-ignore
  for (const one of wrong) stranger.send(typeof one === "string" ? one : JSON.stringify(one));
  stranger.send(new Uint8Array([1, 2, 3]));
  // The names of prototypes are names like others.
  stranger.send('["y",1,"shapes","s","__proto__",{"x":1,"y":1}]');
  stranger.send('["y",2,"shapes","p","one",{"__proto__":{"x":5}}]');
  await net.settle();
  expect(look(a)).toEqual({
    ...(all as object),
    shapes: { ...(all as { shapes: object }).shapes, ["__proto__"]: { x: 1, y: 1 } },
  });
  expect(({} as { x?: number }).x).toBeUndefined();
});

test("names that mean something else are refused", () => {
  for (const name of ["undo", "room", "subscribe", "a/b", ""])
    expect(() => shared({ [name]: counter() })).toThrow(/cannot be named/);
  const { shapes, score } = open(start());
  expect(() => shapes.set("x".repeat(129), { x: 0, y: 0 })).toThrow(/at most 128 characters/);
  expect(() => score.add(Number.NaN)).toThrow(/`difference` of `add` must be a whole number/);
});

test("shared data is a part of a room with types", async () => {
  const net = start();
  const board = defineRoom({ shared: shared({ shapes: map(Shape), score: counter() }, { random: net.random }) });
  const [a, b] = [1, 2].map(() => board.join(net.connect, "http://server.example", "room")) as [
    ReturnType<typeof board.join>,
    ReturnType<typeof board.join>,
  ];
  expectTypeOf(a.shared.score.value).toEqualTypeOf<number>();
  a.shared.shapes.set("one", { x: 1, y: 1 });
  await net.settle();
  expect(b.shared.shapes.get("one")).toEqual({ x: 1, y: 1 });
  b.room.channel("shared").send('["x",1,"shapes","s","bad",{"x":true}]');
  await net.settle();
  expect([a.shared.shapes.get("bad"), a.invalid]).toEqual([undefined, 1]);
});
