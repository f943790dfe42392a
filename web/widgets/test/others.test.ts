/** Selection, typing, the map, and locks. */

import { awareness } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { lock, shared } from "groupwire/shared";
import { expect, test } from "vitest";
import { Views } from "../src/core/views.js";
import type { Lock, LockEvent, Minimap, MoveEvent, SelectionFrames, Typing } from "../src/index.js";
import { configure, join, part, parts, press, put, start, textsOf } from "./page.js";

async function two(html: string) {
  const net = start();
  const me = join(net, "Me");
  const ada = join(net, "Ada");
  configure({ room: me });
  const widget = put<HTMLElement>(html);
  await net.settle();
  return { net, me, ada, widget };
}

test("what others have selected is framed, and said", async () => {
  put(`<ul id="things"><li data-id="a" aria-label="Apple"></li><li data-id="b">Banana</li></ul>`);
  const { net, me, ada, widget } = await two(`<gw-selection for="things"></gw-selection>`);
  const channel = ada.channel("selection", awareness({ maxRate: 10, loss: 0.01 }));
  const items = (): string[] =>
    [...(widget.shadowRoot?.querySelectorAll("li") ?? [])].map((li) => li.textContent ?? "");
  channel.send(["a", "b", "not there"]);
  await net.run(500);
  expect(textsOf(widget, "label")).toEqual(["Ada", "Ada"]);
  expect(items()).toEqual(["Ada: Apple", "Ada: Banana"]);
  for (const odd of ["{", "5", "[5]", JSON.stringify(Array(101).fill("a")), JSON.stringify(["x".repeat(201)])]) {
    channel.send(odd);
    await net.run(200);
  }
  expect(items()).toHaveLength(2);
  channel.send(["b"]);
  await net.run(500);
  expect(items()).toEqual(["Ada: Banana"]);
  net.closeTab(ada);
  await net.run(1000);
  expect([items(), parts(widget, "frame")]).toEqual([[], []]);
  me.leave();
});

test("what has the focus is selected, also for those who come later", async () => {
  put(`<div id="form"><input data-id="name"><input data-id="mail"><button>x</button></div>`);
  const { net, ada, widget } = await two(`<gw-selection for="form" focus></gw-selection>`);
  const said: unknown[] = [];
  ada
    .channel("selection", awareness({ maxRate: 10, loss: 0.01 }))
    .on("message", (message) => said.push(message.json()));
  await net.settle();
  document.querySelector<HTMLInputElement>("[data-id=mail]")?.focus();
  await net.run(500);
  const late = join(net, "Late");
  const found: unknown[] = [];
  late
    .channel("selection", awareness({ maxRate: 10, loss: 0.01 }))
    .on("message", (message) => found.push(message.json()));
  await net.settle();
  document.querySelector<HTMLButtonElement>("#form button")?.focus();
  await net.run(500);
  expect(said).toEqual([["mail"], []]);
  expect(found).toEqual([["mail"], []]);
  (widget as SelectionFrames).selected = ["own"];
  await net.run(500);
  expect(said.at(-1)).toEqual(["own"]);
});

test("who types is told, until the pause, the end of the field, or the end of the connection", async () => {
  const field = put<HTMLInputElement>(`<input id="field">`);
  const { net, ada, widget } = await two(`<gw-typing for="field"></gw-typing>`);
  const channel = ada.channel("typing", awareness({ maxRate: 5, loss: 0.01 }));
  const said: unknown[] = [];
  channel.on("message", ({ data }) => said.push(data));
  await net.settle();
  const type = (text: string): void => {
    field.value = text;
    field.dispatchEvent(new Event("input"));
  };
  const text = (): string => textsOf(widget as Typing, "text")[0] ?? "";
  type("a");
  await net.run(1000);
  type("ab");
  await net.run(1000);
  expect(said).toEqual(["1"]);
  await net.run(5000);
  expect(said).toEqual(["1", "0"]);
  type("abc");
  await net.run(500);
  type("");
  await net.run(500);
  expect(said).toEqual(["1", "0", "1", "0"]);

  channel.send("1");
  await net.run(500);
  expect(text()).toBe("Ada is typing");
  channel.send("0");
  await net.run(500);
  expect(text()).toBe("");
  channel.send("1");
  await net.run(500);
  net.crashTab(ada);
  await net.run(9000);
  expect(text()).toBe("");
});

test("several who type", async () => {
  const { net, widget } = await two("<gw-typing></gw-typing>");
  const text = (): string => textsOf(widget as Typing, "text")[0] ?? "";
  const texts = [];
  const rooms = ["Bo", "Cy", "Di", "Ed"].map((name) => join(net, name));
  await net.settle();
  for (const room of rooms) {
    room.channel("typing", awareness({ maxRate: 5, loss: 0.01 })).send("1");
    await net.run(300);
    texts.push(text());
  }
  expect(texts).toEqual([
    "Bo is typing",
    "Bo and Cy are typing",
    "Bo, Cy and Di are typing",
    "Several people are typing",
  ]);
  await net.run(9000);
  expect(text()).toBe("");
});

test("the map shows cursors and views, and moves the own view by keys", async () => {
  const { net, ada, widget } = await two(`<gw-minimap views></gw-minimap>`);
  const map = widget as Minimap;
  map.world = [0, 0, 200, 100];
  map.view = () => [20, 10, 40, 20];
  const views = Views.in(ada, "follow");
  views.use(() => {});
  await net.settle();
  ada.channel("cursor", awareness({ maxRate: 25, loss: 0.05, deadline: 250 })).send([100, 25]);
  views.setView([0, 0, 100, 50]);
  await net.run(1000);
  const box = (name: string): unknown => {
    const { left, top, width, height } = part(map, name).style;
    return [left, top, width, height];
  };
  expect(box("dot")).toEqual(["50%", "25%", "", ""]);
  expect(box("view")).toEqual(["0%", "0%", "50%", "50%"]);
  expect(box("own")).toEqual(["10%", "10%", "20%", "20%"]);
  const moves: unknown[] = [];
  map.addEventListener("gw-move", (event) => {
    event.preventDefault();
    moves.push((event as CustomEvent<MoveEvent>).detail.place);
  });
  press(part(map, "map"), "ArrowRight");
  press(part(map, "map"), "a");
  expect(moves).toEqual([[50, 20]]);
  net.closeTab(ada);
  await net.run(1000);
  expect([parts(map, "dot"), parts(map, "view")]).toEqual([[], []]);
});

const drafts = defineRoom({ shared: shared({ pen: lock() }) });

test("the first one has the lock, and others see who", async () => {
  const net = start();
  const [me, ada] = ["Me", "Ada"].map((name) =>
    drafts.join(net.connect, "http://test", "demo", { presence: { name } }),
  );
  if (!me || !ada) throw new Error("nobody");
  const form = put<HTMLElement>(`<fieldset id="form"></fieldset>`);
  configure({ room: me });
  const button = put<Lock>(`<gw-lock name="pen" for="form"></gw-lock>`);
  const told: LockEvent[] = [];
  button.addEventListener("gw-lock", (event) => told.push((event as CustomEvent<LockEvent>).detail));
  await net.settle();
  const text = (): string => textsOf(button, "text")[0] ?? "";
  const said = (): string => textsOf(button, "said")[0] ?? "";
  const press = (): void => button.shadowRoot?.querySelector("button")?.click();
  expect([text(), said(), form.hasAttribute("inert")]).toEqual(["Edit", "Nobody is editing", true]);
  press();
  expect(text()).toBe("Asking…");
  await net.settle();
  expect([text(), said(), form.hasAttribute("inert")]).toEqual(["Done", "You are editing", false]);
  press();
  await net.settle();
  expect(text()).toBe("Edit");

  // Ada acquires the lock at the same time: the room's order decides.
  ada.shared.pen.acquire();
  await net.run(1);
  press();
  await net.settle();
  expect([text(), said(), form.hasAttribute("inert")]).toEqual(["Ada is editing", "Ada is editing", true]);
  press();
  await net.settle();
  expect(text()).toBe("Ada is editing");
  const id = (room: typeof ada): number | undefined => room.room.self?.id;
  expect(told).toEqual([
    { holder: id(me), isMine: true },
    { holder: undefined, isMine: false },
    { holder: id(ada), isMine: false },
  ]);
  // The lock is freed only when its holder leaves.
  net.closeTab(ada.room);
  await net.settle();
  expect(text()).toBe("Edit");
  button.remove();
  await net.run(1);
  expect(form.hasAttribute("inert")).toBe(false);
});
