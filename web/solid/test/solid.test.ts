/** A room in Solid. */

import { board, counted, join, start } from "../../common/test/board.js";
import "../../common/test/dom.js";
import type { Simulation } from "groupwire/testing";
import { createComponent, createEffect, onCleanup, onMount, type JSX } from "solid-js";
import { render } from "solid-js/web";
import { expect, test } from "vitest";
import { createStored, RoomProvider, useRoom } from "../src/index.js";

let draws = 0;
let runs = 0;
let add = (_: number): void => {};

function People(): JSX.Element {
  const room = useRoom(board);
  const names = createStored(room.others((others) => others.map(({ presence }) => presence?.name)));
  const likes = createStored(room.shared(({ likes }) => likes.value));
  const status = createStored(room.status(({ status }) => status));
  onMount(() => onCleanup(room.positions("cursor", () => (draws += 1))));
  add = (count) => room.mutate(({ likes }) => likes.add(count));
  createEffect(() => {
    names();
    likes();
    runs += 1;
  });
  return (() => `${names().join()} ${likes()} ${status()}`) as unknown as JSX.Element;
}

function show(net: Simulation, connect = net.connect): { readonly element: HTMLElement; readonly close: () => void } {
  const element = document.createElement("div");
  const close = render(
    () =>
      createComponent(RoomProvider, {
        room: board as never,
        url: "http://test",
        name: "demo",
        presence: { name: "Ada" },
        connect,
        get children() {
          return createComponent(People, {});
        },
      }),
    element,
  );
  return { element, close };
}

test("shows and changes a room, and keeps the connection for a second", async () => {
  const net = start({ transports: ["websocket"] });
  const { connect, rooms } = counted(net);
  const bo = join(net, "Bo");
  const first = show(net, connect);
  expect(first.element.textContent).toBe(" 0 connecting");
  await net.settle();
  expect(first.element.textContent).toBe("Bo 0 connected");
  add(2);
  await net.settle();
  expect(first.element.textContent).toBe("Bo 2 connected");
  expect(bo.shared.likes.value).toBe(2);

  const before = [runs, draws] as const;
  for (let x = 0; x < 50; x += 1) {
    bo.channels.cursor.send({ x, y: 0 });
    bo.shared.shapes.set("a", { x });
    await net.run(20);
  }
  expect(runs).toBe(before[0]);
  expect(draws).toBeGreaterThan(before[1]);

  first.close();
  const second = show(net, connect);
  await net.settle();
  expect(second.element.textContent).toBe("Bo 2 connected");
  second.close();
  await net.run(1100);
  expect(rooms.map(({ status }) => status)).toEqual(["closed"]);
  expect(bo.participants.size).toBe(0);
});

test("without a provider it says what to do", () => {
  expect(() => render(() => createComponent(People, {}), document.createElement("div"))).toThrow("RoomProvider");
});

test("what is no store is told", () => {
  expect(() => createStored(undefined as never)).toThrow("createStored takes a store, such as `room.others()`");
});
