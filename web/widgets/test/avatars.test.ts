import { awareness } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { RoomHandle } from "groupwire/store";
import { expect, test, vi } from "vitest";
import type { Avatars } from "../src/index.js";
import { configure, join, part, parts, put, start, textsOf } from "./page.js";

const names = (avatars: Element): string[] =>
  parts(avatars, "avatar").map((face) => face.querySelector(".unseen")?.textContent ?? face.textContent ?? "");

async function room(html: string, ...others: string[]) {
  const net = start();
  const me = join(net, "Me");
  configure({ room: me });
  const avatars = put<Avatars>(html);
  await net.settle();
  const rooms = others.map((name) => join(net, name));
  await net.settle();
  return { net, me, avatars, rooms };
}

test("people come, change and go; oneself is first", async () => {
  const { net, avatars, rooms } = await room("<gw-avatars></gw-avatars>", "Ada Lovelace", "Bo");
  expect(names(avatars)).toEqual(["Me (you)", "Follow Ada Lovelace", "Follow Bo"]);
  expect(textsOf(avatars, "initials")).toEqual(["M", "AL", "B"]);
  rooms[1]?.setPresence({ name: "Bo Diddley" });
  rooms[0]?.leave();
  await net.settle();
  expect(names(avatars)).toEqual(["Me (you)", "Follow Bo Diddley"]);
});

test("two pages of a user are one person", async () => {
  const { net, avatars } = await room("<gw-avatars hide-self></gw-avatars>");
  const [one] = [join(net, "Ada", { user: "ada" }), join(net, "Ada", { user: "ada" })];
  await net.settle();
  expect(names(avatars)).toEqual(["Follow Ada, signed in as ada"]);
  const [face] = parts(avatars, "avatar");
  net.closeTab(one);
  await net.settle();
  expect(parts(avatars, "avatar")).toEqual([face]);
  expect(part(avatars, "verified")).toBe(face);
});

test("an agent is marked, and is nobody's second page", async () => {
  const { net, avatars } = await room("<gw-avatars hide-self></gw-avatars>");
  join(net, "Ada", { user: "ada" });
  join(net, "Tidy bot", { user: "ada", presence: { name: "Tidy bot", agent: true } });
  join(net, "Eve", { presence: { name: "Eve", agent: "yes" } });
  await net.settle();
  expect(names(avatars)).toEqual([
    "Follow Ada, signed in as ada",
    "Follow Tidy bot (AI agent), signed in as ada",
    "Follow Eve",
  ]);
  expect(parts(avatars, "agent").map(({ title }) => title)).toEqual(["Tidy bot (AI agent), signed in as ada"]);
  expect(textsOf(avatars, "initials")).toEqual(["A", "TB", "E"]);
});

test("those who do not fit are a number that shows them", async () => {
  const { avatars } = await room(`<gw-avatars max="3" hide-self></gw-avatars>`, ..."ABCDEF");
  expect(textsOf(avatars, "initials")).toEqual(["A", "B", "C"]);
  const more = part(avatars, "more");
  expect([more.textContent, more.ariaExpanded, more.ariaLabel]).toEqual(["+3", "false", "+3: show more"]);
  more.click();
  expect(textsOf(avatars, "initials")).toHaveLength(6);
  expect(part(avatars, "more").ariaExpanded).toBe("true");
  part(avatars, "more").click();
  expect(textsOf(avatars, "initials")).toHaveLength(3);
});

test("a press tells whom to follow, and once more that nobody is followed", async () => {
  const { avatars, rooms } = await room("<gw-avatars></gw-avatars>", "Ada");
  const told: unknown[] = [];
  document.addEventListener("gw-follow", (event) => told.push((event as CustomEvent<{ id: unknown }>).detail.id), {
    once: false,
  });
  const face = parts(avatars, "avatar")[1];
  face?.click();
  expect([face?.ariaPressed, parts(avatars, "followed")]).toEqual(["true", [face]]);
  face?.click();
  expect(face?.ariaPressed).toBe("false");
  expect(told).toEqual([rooms[0]?.self?.id, undefined]);
  // The page may do something else.
  avatars.addEventListener("gw-follow", (event) => event.preventDefault());
  face?.click();
  expect(face?.ariaPressed).toBe("false");
});

test("who has lost the connection is faded, and who does nothing, too", async () => {
  const { net, avatars, rooms } = await room(`<gw-avatars channel="cursor" idle="10"></gw-avatars>`, "Ada", "Bo");
  const cursor = rooms[0]?.channel("cursor", awareness({ maxRate: 25 }));
  const isBo = (state: string): boolean => parts(avatars, state).some(({ title }) => title.startsWith("Bo"));
  const isAda = (state: string): boolean => parts(avatars, state).some(({ title }) => title.startsWith("Ada"));
  for (let second = 0; second < 15; second += 1) {
    cursor?.send([second]);
    await net.run(1000);
  }
  expect([isAda("idle"), isBo("idle")]).toEqual([false, true]);
  expect(names(avatars)).toEqual(["Me (you)", "Follow Ada", "Follow Bo (idle)"]);
  rooms[1]?.channel("cursor", awareness({ maxRate: 25 })).send([1]);
  await net.run(500);
  expect(isBo("idle")).toBe(false);
  if (rooms[1]) net.partition(rooms[1]);
  await net.run(8000);
  expect([isBo("away"), names(avatars)[2]]).toEqual([true, "Follow Bo (connection lost)"]);
});

test("texts are replaced for all widgets, and for one", async () => {
  const { net, avatars } = await room("<gw-avatars></gw-avatars>", "Ada");
  configure({ texts: { you: (name) => `${name} (du)`, follow: (name) => `${name} folgen` } });
  await net.run(1);
  expect(names(avatars)).toEqual(["Me (du)", "Ada folgen"]);
  avatars.texts = { follow: (name) => `Suivre ${name}` };
  await net.run(1);
  expect(names(avatars)).toEqual(["Me (du)", "Suivre Ada"]);
});

test("after a loss of the room nobody is idle who only has the number of somebody idle", async () => {
  const { net, me, avatars, rooms } = await room(`<gw-avatars channel="cursor" idle="10"></gw-avatars>`, "Ada");
  const [ada] = rooms;
  await net.run(11_000);
  expect(names(avatars)).toEqual(["Me (you)", "Follow Ada (idle)"]);
  net.crashTab(ada as typeof me);
  net.partition(me, 3000);
  net.restartServer();
  const others = [join(net, "Bo"), join(net, "Cy")];
  await net.until(() => avatars.shadowRoot?.textContent?.includes("Cy") ?? false);
  expect(others.map(({ self }) => self?.id)).toContain(ada?.self?.id);
  await net.run(100);
  expect(names(avatars)).toEqual(["Me (you)", "Follow Bo", "Follow Cy"]);
});

test("while others move nothing of the avatars is changed", async () => {
  const people = Array.from({ length: 20 }, (_, at) => `P${at}`);
  const { net, avatars, rooms } = await room(`<gw-avatars channel="cursor"></gw-avatars>`, ...people);
  const channels = rooms.map((one) => one.channel("cursor", awareness({ maxRate: 25 })));
  await net.settle();
  const changes: unknown[] = [];
  const observer = new MutationObserver((records) => changes.push(...records));
  if (avatars.shadowRoot) {
    observer.observe(avatars.shadowRoot, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  for (let step = 0; step < 60; step += 1) {
    for (const channel of channels) channel.send([step, step]);
    await net.run(1000 / 60);
  }
  expect(observer.takeRecords().concat(changes as MutationRecord[])).toEqual([]);
  // The name is shown as one text, and as the title.
  rooms[1]?.setPresence({ name: "Q1" });
  await net.run(500);
  expect(observer.takeRecords().length + changes.length).toBeGreaterThan(0);
  expect(observer.takeRecords().length + changes.length).toBeLessThan(5);
});

test("a room is an own one, a named one, or that of the page", async () => {
  const net = start();
  const [a, b, c] = ["A", "B", "C"].map((name) => net.join({ room: name, presence: { name } }));
  await net.settle();
  const [one, two, three] = [0, 1, 2].map((at) =>
    put<Avatars>(`<gw-avatars ${at === 1 ? `room="second"` : ""}></gw-avatars>`),
  ) as [Avatars, Avatars, Avatars];
  three.room = c;
  await net.run(1);
  expect(names(one)).toEqual([]);
  configure({ room: a, rooms: { second: b as typeof a & {} } });
  await net.run(1);
  expect([one, two, three].map(names)).toEqual([["A (you)"], ["B (you)"], ["C (you)"]]);
});

test("a handle of groupwire/store connects while a widget is in the page", async () => {
  const net = start();
  const ada = join(net, "Ada");
  await net.settle();
  const options = { url: "http://test", name: "demo", connect: net.connect, presence: { name: "Me" } };
  const avatars = put<Avatars>("<gw-avatars></gw-avatars>");
  avatars.room = new RoomHandle({ room: defineRoom({}), ...options });
  await net.settle();
  expect(names(avatars)).toEqual(["Me (you)", "Follow Ada"]);
  expect(ada.participants.size).toBe(1);
  avatars.remove();
  await net.run(3000);
  expect(ada.participants.size).toBe(0);
});

test.each(["1e12", "Infinity", "-5", "0"])("with idle=%s, no timer ends at once, again and again", async (idle) => {
  const { net, rooms } = await room(
    `<gw-avatars channel="cursor" idle="${idle}"></gw-avatars><gw-cursors idle="${idle}"></gw-cursors>`,
    "Ada",
  );
  const timers = vi.spyOn(globalThis, "setTimeout");
  for (let x = 0; x < 10; x += 1) {
    rooms[0]?.channel("cursor", awareness({ maxRate: 25, loss: 0.05, deadline: 250 })).send([x, 1e308]);
    rooms[0]?.channel("cursor").send([x, x]);
    await net.run(100);
  }
  await net.run(10_000);
  const waits = timers.mock.calls.map(([, ms = 0]) => ms);
  expect(Math.max(0, ...waits)).toBeLessThan(2 ** 31);
  expect(waits.length).toBeLessThan(2000);
  timers.mockRestore();
});
