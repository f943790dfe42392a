/** A room in Svelte. */

import { board, counted, join, start } from "../../common/test/board.js";
import "../../common/test/dom.js";
import type { Simulation } from "groupwire/testing";
import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { shown } from "../src/index.js";
import App from "./App.svelte";
import People from "./People.svelte";

const told = { draw: 0, run: 0 };
let add = (_: number): void => {};

function tell(what: "draw" | "run" | "add", run?: typeof add): void {
  if (what === "add") add = run ?? add;
  else told[what] += 1;
}

function show(net: Simulation, connect = net.connect): { readonly text: () => string; readonly close: () => void } {
  const target = document.createElement("div");
  const app = mount(App, { target, props: { board, connect, tell } });
  flushSync();
  const text = (): string => {
    flushSync();
    return target.textContent ?? "";
  };
  return { text, close: () => void unmount(app) };
}

test("shows and changes a room, and keeps the connection for a second", async () => {
  const net = start({ transports: ["websocket"] });
  const { connect, rooms } = counted(net);
  const bo = join(net, "Bo");
  const first = show(net, connect);
  expect(first.text()).toBe(" 0 connecting");
  await net.settle();
  expect(first.text()).toBe("Bo 0 connected");
  add(2);
  await net.settle();
  expect(first.text()).toBe("Bo 2 connected");
  expect(bo.shared.likes.value).toBe(2);

  const before = { ...told };
  for (let x = 0; x < 50; x += 1) {
    bo.channels.cursor.send({ x, y: 0 });
    bo.shared.shapes.set("a", { x });
    await net.run(20);
  }
  flushSync();
  expect(told.run).toBe(before.run);
  expect(told.draw).toBeGreaterThan(before.draw);

  first.close();
  const second = show(net, connect);
  await net.settle();
  expect(second.text()).toBe("Bo 2 connected");
  second.close();
  await net.run(1100);
  expect(rooms.map(({ status }) => status)).toEqual(["closed"]);
  expect(bo.participants.size).toBe(0);
});

test("without a room above it says what to do", () => {
  const target = document.createElement("div");
  expect(() => mount(People, { target, props: { board, tell } })).toThrow("setRoom");
});

test("what is no store is told", () => {
  expect(() => shown(undefined as never)).toThrow("shown takes a store, such as `room.others()`");
});
