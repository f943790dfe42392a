/** A room in Vue. */

import { board, counted, join, start } from "../../common/test/board.js";
import "../../common/test/dom.js";
import { createApp, createSSRApp, defineComponent, h, nextTick, onScopeDispose, type Component } from "vue";
import { renderToString } from "vue/server-renderer";
import { expect, test, vi } from "vitest";
import { provideRoom, useRoom, useStore } from "../src/index.js";
import type { Simulation } from "groupwire/testing";

let draws = 0;
let renders = 0;
let add = (_: number): void => {};

const People = defineComponent({
  setup() {
    const room = useRoom(board);
    const names = useStore(room.others((others) => others.map(({ presence }) => presence?.name)));
    const likes = useStore(room.shared(({ likes }) => likes.value));
    const status = useStore(room.status(({ status }) => status));
    onScopeDispose(room.positions("cursor", () => (draws += 1)));
    add = (count) => room.mutate(({ likes }) => likes.add(count));
    return () => {
      renders += 1;
      return h("p", `${names.value.join()} ${likes.value} ${status.value}`);
    };
  },
});

function appOf(net: Simulation, connect = net.connect): Component {
  return defineComponent({
    setup() {
      provideRoom(board, { url: "http://test", name: "demo", presence: { name: "Ada" }, connect });
      return () => h(People);
    },
  });
}

function show(component: Component): { readonly element: HTMLElement; readonly close: () => void } {
  const element = document.createElement("div");
  const app = createApp(component);
  app.mount(element);
  return { element, close: () => app.unmount() };
}

test("shows and changes a room, and keeps the connection for a second", async () => {
  const net = start({ transports: ["websocket"] });
  const { connect, rooms } = counted(net);
  const bo = join(net, "Bo");
  const first = show(appOf(net, connect));
  expect(first.element.textContent).toBe(" 0 connecting");
  await net.settle();
  expect(first.element.textContent).toBe("Bo 0 connected");
  add(2);
  await net.settle();
  expect(first.element.textContent).toBe("Bo 2 connected");
  expect(bo.shared.likes.value).toBe(2);

  const before = [renders, draws] as const;
  for (let x = 0; x < 50; x += 1) {
    bo.channels.cursor.send({ x, y: 0 });
    bo.shared.shapes.set("a", { x });
    await net.run(20);
  }
  expect(renders).toBe(before[0]);
  expect(draws).toBeGreaterThan(before[1]);

  first.close();
  const second = show(appOf(net, connect));
  await net.settle();
  expect(second.element.textContent).toBe("Bo 2 connected");
  second.close();
  await net.run(1100);
  expect(rooms.map(({ status }) => status)).toEqual(["closed"]);
  expect(bo.participants.size).toBe(0);
});

test("a server renders the first state, and the page goes on from it without a warning", async () => {
  const net = start();
  const { connect, rooms } = counted(net);
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  join(net, "Bo").shared.likes.add(1);
  const component = appOf(net, connect);
  const html = await renderToString(createSSRApp(component));
  expect(html).toBe("<p> 0 connecting</p>");
  expect(rooms).toEqual([]);
  const element = document.createElement("div");
  element.innerHTML = html;
  const app = createSSRApp(component);
  app.mount(element);
  await net.settle();
  await nextTick();
  expect(element.textContent).toBe("Bo 1 connected");
  expect(warned).not.toHaveBeenCalled();
  app.unmount();
  warned.mockRestore();
});

test("without a room above it says what to do", () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  expect(() => show(People)).toThrow("provideRoom");
  vi.restoreAllMocks();
});

test("what is no store, no room or no option is told", () => {
  const { connect } = start();
  expect(() => useStore(undefined as never)).toThrow("useStore takes a store, such as `room.others()`");
  expect(() => useRoom(undefined as never)).toThrow("provideRoom");
  expect(() => provideRoom(undefined as never, { url: "http://test", name: "demo", connect })).toThrow(
    "`join` of `room`",
  );
  expect(() => provideRoom(board, { url: 5 as never, name: "demo", connect })).toThrow(
    "`url` must be an address, not 5",
  );
  expect(() => provideRoom(board, null as never)).toThrow("`url` must be an address");
});
