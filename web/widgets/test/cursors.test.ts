import { awareness } from "groupwire";
import { expect, test, vi } from "vitest";
import type { Cursors } from "../src/index.js";
import { configure, join, parts, point, press, put, start, textsOf } from "./page.js";

const CURSOR = awareness({ maxRate: 25, loss: 0.05, deadline: 250 });

async function two(attributes = "") {
  const net = start();
  const me = join(net, "Me");
  const ada = join(net, "Ada");
  configure({ room: me });
  const cursors = put<Cursors>(`<gw-cursors ${attributes}></gw-cursors>`);
  // The messages at the pointer are loaded later.
  await Promise.resolve();
  await vi.dynamicImportSettled();
  const channel = ada.channel("cursor", CURSOR);
  const said: unknown[] = [];
  channel.on("message", (message) => said.push(message.json()));
  await net.settle();
  return { net, me, ada, cursors, channel, said };
}

const places = (cursors: Element): string[] => parts(cursors, "cursor").map(({ style }) => style.transform);

test("others' pointers are shown with their names, and go with them", async () => {
  const { net, ada, cursors, channel } = await two();
  const bo = join(net, "Bo");
  const other = bo.channel("cursor", CURSOR);
  await net.settle();
  channel.send([100, 50]);
  other.send({ x: 7, y: 8 });
  await net.run(1000);
  expect(textsOf(cursors, "name").sort()).toEqual(["Ada", "Bo"]);
  expect(places(cursors).sort()).toEqual(["translate(100.0px, 50.0px)", "translate(7.0px, 8.0px)"]);
  expect(cursors.placeOf(ada.self?.id ?? 0)).toEqual([100, 50]);
  ada.setPresence({ name: "Ada L" });
  other.send("null");
  await net.run(1000);
  expect(textsOf(cursors, "name")).toEqual(["Ada L"]);
  net.closeTab(ada);
  await net.run(1000);
  expect(parts(cursors, "cursor")).toEqual([]);
});

test("the pointer of an agent has a badge", async () => {
  const { net, ada, cursors, channel } = await two();
  channel.send([1, 2]);
  await net.run(500);
  expect([textsOf(cursors, "name"), textsOf(cursors, "badge")]).toEqual([["Ada"], []]);
  ada.setPresence({ name: "Tidy bot", agent: true });
  await net.run(500);
  expect([textsOf(cursors, "name"), textsOf(cursors, "badge")]).toEqual([["Tidy bot"], ["AI"]]);
});

test("who has lost the connection has no pointer", async () => {
  const { net, ada, cursors, channel } = await two();
  channel.send([1, 2]);
  await net.run(500);
  expect(parts(cursors, "cursor")).toHaveLength(1);
  net.crashTab(ada);
  await net.run(8000);
  expect(parts(cursors, "cursor")).toEqual([]);
});

test("a resting pointer fades, and comes back when it moves", async () => {
  const { net, cursors, channel } = await two(`idle="3"`);
  channel.send([1, 2]);
  await net.run(2000);
  expect(parts(cursors, "idle")).toHaveLength(0);
  await net.run(2000);
  expect(parts(cursors, "idle")).toHaveLength(1);
  channel.send([3, 4]);
  await net.run(500);
  expect(parts(cursors, "idle")).toHaveLength(0);
});

test("one's own pointer is sent to others, and that it has left", async () => {
  const { net, said } = await two();
  point(document.documentElement, "pointermove", 20, 30);
  await net.run(300);
  point(document.documentElement, "pointerleave");
  await net.run(300);
  expect(said).toEqual([[20, 30], null]);
});

test("nothing is sent to nobody, or if the widget only watches", async () => {
  const net = start();
  const me = join(net, "Me");
  const send = vi.spyOn(me.channel("cursor", CURSOR), "send");
  configure({ room: me });
  const alone = put("<gw-cursors></gw-cursors>");
  await net.settle();
  point(document.documentElement, "pointermove", 20, 30);
  expect(send).not.toHaveBeenCalled();
  alone.remove();
  const watching = await two("watch");
  point(document.documentElement, "pointermove", 20, 30);
  await watching.net.run(300);
  expect(watching.said).toEqual([]);
});

test("a finger that is lifted points at nothing", async () => {
  const { net, said } = await two();
  point(document.documentElement, "pointerdown", 5, 6, "touch");
  await net.run(300);
  point(document.documentElement, "pointerup", 5, 6, "touch");
  await net.run(300);
  expect(said).toEqual([[5, 6], null]);
});

test("an element with a view of its own maps places, and is drawn again on refresh", async () => {
  const stage = put<HTMLElement>(`<div id="stage"></div>`);
  const { net, cursors, channel, said } = await two(`for="stage"`);
  let zoom = 2;
  cursors.coords = {
    toElement: ([x = 0, y = 0]) => ({ x: x * zoom, y: y * zoom }),
    toPlace: ({ x, y }) => [x / zoom, y / zoom],
  };
  await net.run(10);
  channel.send([10, 20]);
  point(stage, "pointermove", 30, 40);
  await net.run(500);
  expect(places(cursors)).toEqual(["translate(20.0px, 40.0px)"]);
  expect(said).toEqual([[15, 20]]);
  zoom = 3;
  cursors.refresh();
  expect(places(cursors)).toEqual(["translate(30.0px, 60.0px)"]);
});

test("a pointer is shown at what its person drags", async () => {
  const { net, ada, cursors, channel } = await two();
  channel.send([10, 20]);
  await net.run(1000);
  cursors.held = (id) => (id === ada.self?.id ? [300, 200] : undefined);
  expect(places(cursors)).toEqual(["translate(300.0px, 200.0px)"]);
  cursors.held = undefined;
  expect(places(cursors)).toEqual(["translate(10.0px, 20.0px)"]);
});

test("what is no place has no effect", async () => {
  const { net, cursors, channel } = await two();
  for (const odd of ["{", "[]", "5", '"x"', '{"x":1}', '["1","2"]', "[1e400,0]"]) channel.send(odd);
  await net.run(500);
  expect(parts(cursors, "cursor")).toEqual([]);
});

test("a message at the pointer is seen while it is typed, read out when it is complete, and vanishes", async () => {
  const { net, me, ada, cursors, channel } = await two("chat");
  channel.send([1, 2]);
  const talk = ada.channel("cursor-chat", awareness({ maxRate: 8, loss: 0.01 }));
  await net.run(500);
  const log = cursors.shadowRoot?.querySelector("[role=log]");
  talk.send(["hel", 0]);
  await net.run(500);
  expect(textsOf(cursors, "bubble")).toEqual(["hel"]);
  expect(log?.textContent).toBe("");
  talk.send(["hello", 1]);
  await net.run(500);
  expect(textsOf(cursors, "bubble")).toEqual(["hello"]);
  expect(log?.textContent).toBe("Ada: hello");
  await net.run(6000);
  expect(textsOf(cursors, "bubble")).toEqual([""]);
  for (const odd of ["{", "5", "[5,1]", "null"]) talk.send(odd);
  await net.run(500);
  expect(textsOf(cursors, "bubble")).toEqual([""]);
  me.leave();
});

test("a key opens the field for a message, and Escape closes it", async () => {
  const { net, ada, cursors } = await two("chat");
  const heard: unknown[] = [];
  const points: unknown[] = [];
  ada
    .channel("cursor-chat", awareness({ maxRate: 8, loss: 0.01 }))
    .on("message", (message) => heard.push(message.json()));
  ada.channel("cursor", CURSOR).on("message", (message) => points.push(message.json()));
  await net.settle();
  expect(parts(cursors, "chat")).toEqual([]);
  press(document.body, "/");
  const [field] = parts(cursors, "chat") as HTMLInputElement[];
  if (!field) throw new Error("no field");
  field.value = "hi";
  field.dispatchEvent(new Event("input"));
  await net.run(300);
  press(field, "Enter");
  await net.run(300);
  expect(heard).toEqual([
    ["hi", 0],
    ["hi", 1],
  ]);
  // A message of a participant without a pointer is shown in the middle of the page.
  expect(points).toHaveLength(1);
  press(field, "Escape");
  expect(parts(cursors, "chat")).toEqual([]);
  press(put("<input>"), "/");
  expect(parts(cursors, "chat")).toEqual([]);
});

test("a widget that is taken out of the page ends, and goes on when it is put back", async () => {
  const { net, cursors, channel, said } = await two();
  cursors.remove();
  await net.run(100);
  point(document.documentElement, "pointermove", 1, 1);
  channel.send([1, 2]);
  await net.run(500);
  expect([parts(cursors, "cursor"), said]).toEqual([[], []]);
  document.body.append(cursors);
  await net.run(100);
  channel.send([3, 4]);
  point(document.documentElement, "pointermove", 1, 1);
  await net.run(500);
  expect(places(cursors)).toEqual(["translate(3.0px, 4.0px)"]);
  expect(said).toEqual([[1, 1]]);
});
