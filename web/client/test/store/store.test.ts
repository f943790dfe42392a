/** The parts of stores; how they work together is tested with the bindings. */

import { afterEach, expect, test, vi } from "vitest";
import { defineRoom } from "../../src/schema.js";
import { counter, map, shared } from "../../src/shared.js";
import { peopleOf, RoomHandle, shallow } from "../../src/store.js";
import { start } from "../testing/started.js";

afterEach(() => vi.restoreAllMocks());

const board = defineRoom({ shared: shared({ shapes: map(), likes: counter() }) });

test("values are compared by their parts, and no deeper", () => {
  const part = {};
  for (const [a, b] of [
    [1, 1],
    [NaN, NaN],
    [
      [1, part],
      [1, part],
    ],
    [
      { a: part, b: undefined },
      { b: undefined, a: part },
    ],
    [new Map([["a", part]]), new Map([["a", part]])],
    [new Set([1, 2]), new Set([1, 2])],
  ] as const)
    expect(shallow(a, b)).toBe(true);
  for (const [a, b] of [
    [0, -0],
    [[1], [1, 2]],
    [[{}], [{}]],
    [{ a: undefined }, { b: undefined }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [[], {}],
    [null, {}],
    [new Map([["a", 1]]), new Map([["b", 1]])],
    [new Date(1), new Date(1)],
  ] as const)
    expect(shallow(a, b)).toBe(false);
});

test("people are those who are not away, by their lowest id", () => {
  const person = (id: number, user?: string, away = false) => ({ id, ...(user && { user }), presence: { user }, away });
  const others = [person(1, "ada", true), person(2, "bo"), person(3, "ada"), person(4, "bo"), person(5), person(6)];
  expect(peopleOf(others, undefined)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(peopleOf(others, undefined, "user")).toEqual([2, 3, 5, 6]);
  expect(peopleOf(others, { user: "bo" }, ({ presence }) => presence?.user)).toEqual([3, 5, 6]);
});

test("a selector runs only after changes of what it has read", async () => {
  const net = start({ fakeTimers: true });
  const handle = new RoomHandle({ room: board, url: "http://test", name: "demo", connect: net.connect });
  const runs = { a: 0, all: 0, likes: 0, undo: 0 };
  const told = { ...runs };
  const stores = {
    a: handle.shared(({ shapes }) => (runs.a++, shapes.get("a"))),
    all: handle.shared(({ shapes }) => (runs.all++, shapes.value.size)),
    likes: handle.shared(({ likes }) => (runs.likes++, likes.value)),
    undo: handle.shared((data) => (runs.undo++, data.canUndo)),
  };
  for (const [name, store] of Object.entries(stores))
    store.subscribe(() => (told[name as keyof typeof told]++, store.get()));
  const release = handle.retain();
  await net.settle();
  Object.assign(runs, { a: 0, all: 0, likes: 0, undo: 0 });
  Object.assign(told, runs);
  for (let at = 0; at < 10; at += 1) {
    handle.mutate(({ shapes }) => shapes.set(`b${at}`, at));
    await net.run(50);
  }
  expect([told.a, told.likes, runs.a, runs.likes]).toEqual([0, 0, 0, 0]);
  expect(stores.all.get()).toBe(10);
  expect(stores.undo.get()).toBe(true);
  handle.mutate(({ shapes }) => shapes.set("a", "now"));
  await net.run(50);
  expect(stores.a.get()).toBe("now");
  expect(runs.likes).toBe(0);
  release();
  await net.run(1100);
  expect(handle.room?.room.status).toBe("closed");
});

test("nothing is connected before it is used, and the first values stay", async () => {
  const net = start({ fakeTimers: true });
  const handle = new RoomHandle({ room: board, url: "http://test", name: "demo", connect: net.connect });
  const likes = handle.shared(({ likes }) => likes.value);
  const status = handle.status(({ status }) => status);
  expect([likes.get(), status.get(), handle.room]).toEqual([0, "connecting", undefined]);
  handle.mutate(({ likes }) => likes.add(1));
  const release = handle.retain();
  await net.settle();
  expect([likes.get(), likes.first(), status.get(), status.first()]).toEqual([1, 0, "connected", "connecting"]);
  release();
  // A component that is mounted again in time keeps the connection.
  await net.run(900);
  const again = handle.retain();
  await net.run(5000);
  expect(status.get()).toBe("connected");
  again();
  await net.run(1100);
  expect(status.get()).toBe("closed");
});

test("what nobody retains is closed after a while", async () => {
  const net = start({ fakeTimers: true });
  const handle = new RoomHandle({ room: board, url: "http://test", name: "demo", connect: net.connect });
  handle.mutate(({ likes }) => likes.add(1));
  await net.run(1100);
  expect(handle.room?.room.status).toBe("closed");
});

test("whoever comes back after that has the presence that was set last, also in effects before the connection is retained", async () => {
  const net = start({ fakeTimers: true });
  const other = net.join({ room: "demo" });
  const presence = { name: "Ada" };
  const handle = new RoomHandle({ room: board, url: "http://test", name: "demo", connect: net.connect, presence });
  const names = (): unknown[] => [...other.participants.values()].map(({ presence }) => presence);
  const release = handle.retain();
  await net.settle();
  handle.setPresence({ name: "Bo" });
  await net.settle();
  expect(names()).toEqual([{ name: "Bo" }]);
  release();
  await net.run(2000);
  expect(names()).toEqual([]);
  handle.mutate(({ likes }) => likes.add(1));
  handle.retain();
  await net.settle();
  expect(names()).toEqual([{ name: "Bo" }]);
  expect(handle.self(({ presence }) => presence).get()).toEqual({ name: "Bo" });
});

test("an exception in a listener for errors does not keep the others, and the status, from being told", async () => {
  const refuse = (): never => {
    throw new Error("nobody may join");
  };
  const net = start({ fakeTimers: true, authenticate: refuse });
  const handle = new RoomHandle({ room: board, url: "http://test", name: "demo", connect: net.connect });
  const told: string[] = [];
  vi.spyOn(console, "error").mockImplementation(() => {});
  handle.onError(() => {
    throw new Error("of the application");
  });
  handle.onError(({ code }) => told.push(code));
  const status = handle.status(({ error }) => error?.code);
  status.subscribe(() => told.push(`status ${status.get()}`));
  handle.retain();
  await net.run(5000).catch(() => {});
  expect(told).toContain("refused");
  expect(told.at(-1)).toBe("status refused");
});
