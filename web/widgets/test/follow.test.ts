import { expect, test } from "vitest";
import { Following } from "../src/core/following.js";
import { peopleIn } from "../src/core/people.js";
import type { Follower, ViewEvent } from "../src/index.js";
import { configure, join, part, parts, point, press, put, start, textsOf } from "./page.js";
import { Views } from "../src/core/views.js";

/** A participant that tells its view as the widget does. */
async function two() {
  const net = start();
  const me = join(net, "Me");
  const ada = join(net, "Ada");
  configure({ room: me });
  const follower = put<Follower>("<gw-follow></gw-follow>");
  follower.view = () => [0, 0, 10, 10];
  const shown: ViewEvent[] = [];
  follower.addEventListener("gw-view", (event) => {
    event.preventDefault();
    shown.push((event as CustomEvent<ViewEvent>).detail);
  });
  const views = Views.in(ada, "follow");
  const stop = views.use(() => {});
  await net.settle();
  const said = (): string => part(follower, "said").textContent ?? "";
  return { net, me, ada, follower, shown, views, stop, said, id: ada.self?.id ?? 0 };
}

test("the view of the followed person is shown, until one does something oneself", async () => {
  for (const end of [
    () => document.body.dispatchEvent(new Event("wheel", { bubbles: true, composed: true })),
    () => point(document.body, "pointerdown"),
    () => press(document.body, "ArrowDown"),
    () => press(document.body, "Escape"),
  ]) {
    const { net, follower, shown, views, said, id } = await two();
    views.setView([1, 2, 30, 40]);
    await net.run(500);
    expect([shown, parts(follower, "bar")]).toEqual([[], []]);
    follower.follow(id);
    await net.run(1000);
    expect(shown.at(-1)).toEqual({ id, view: [1, 2, 30, 40] });
    expect(textsOf(follower, "text")).toEqual(["Following Ada"]);
    expect(said()).toBe("Following Ada");
    views.setView([100, 2, 30, 40]);
    await net.run(1000);
    expect(shown.at(-1)?.view).toEqual([100, 2, 30, 40]);
    press(document.body, "Tab");
    expect(parts(follower, "bar")).toHaveLength(1);
    end();
    expect([said(), parts(follower, "bar")]).toEqual(["No longer following Ada", []]);
    const before = shown.length;
    views.setView([200, 2, 30, 40]);
    await net.run(1000);
    expect(shown).toHaveLength(before);
    follower.remove();
    await net.run(1);
  }
});

test("what is no view, or has a size below 0, is not shown", async () => {
  const { net, ada, follower, shown, views, id } = await two();
  views.setView([1, 2, 30, 40]);
  follower.follow(id);
  await net.run(1000);
  const channel = ada.channel("follow");
  for (const odd of [[1, 2, -30, 40], [1, 2, 30, -40], [1, 2, 30], "1234", { length: 4 }, null, [1, 2, "a", "b"]]) {
    channel.send(JSON.stringify(odd), { key: "view" });
    await net.run(500);
  }
  expect([...new Set(shown.map(({ view }) => String(view)))]).toEqual(["1,2,30,40"]);
});

test("after a loss of the room nobody is followed who only has the number of the one before", async () => {
  const { net, me, ada, follower, id, said } = await two();
  follower.follow(id);
  await net.run(500);
  expect(said()).toBe("Following Ada");
  net.crashTab(ada);
  net.partition(me, 3000);
  net.restartServer();
  const others = [join(net, "Bo"), join(net, "Cy")];
  await net.settle();
  expect(others.map(({ self }) => self?.id)).toContain(id);
  expect([said(), parts(follower, "bar")]).toEqual(["No longer following Ada", []]);
});

test("a view that changes while the connection is lost is shown once it is back", async () => {
  const { net, ada, follower, shown, views, id } = await two();
  views.setView([1, 2, 30, 40]);
  follower.follow(id);
  await net.run(500);
  net.partition(ada, 8000);
  await net.run(7500);
  expect(ada.status).not.toBe("connected");
  views.setView([100, 2, 30, 40]);
  await net.settle();
  await net.run(1000);
  expect(ada.status).toBe("connected");
  expect(shown.at(-1)?.view).toEqual([100, 2, 30, 40]);
});

test("a participant who follows later is shown the view that was told before, and the view is not told again", async () => {
  const { net, me, follower, views, id } = await two();
  views.setView([1, 2, 30, 40]);
  follower.follow(id);
  await net.run(1000);
  const sent: unknown[] = [];
  me.channel("follow").on("message", ({ key }) => sent.push(key));
  const theirs = Views.in(join(net, "Late"), "follow");
  const stop = theirs.use(() => {});
  theirs.want(id);
  await net.settle();
  await net.run(1000);
  expect(theirs.shown.get(id)).toEqual([1, 2, 30, 40]);
  expect(sent).toEqual(["to"]);
  stop();
});

test("a press on a widget does not end it, but its own button does", async () => {
  const { net, follower, id } = await two();
  follower.follow(id);
  await net.run(500);
  point(put("<gw-avatars></gw-avatars>"), "pointerdown");
  expect(parts(follower, "bar")).toHaveLength(1);
  const stop = part(follower, "stop");
  point(stop, "pointerdown");
  expect(parts(follower, "bar")).toHaveLength(1);
  stop.click();
  expect(parts(follower, "bar")).toEqual([]);
});

test("a view is told only while somebody wants it, and the followed person learns by whom", async () => {
  const { net, me, ada, follower, views, id } = await two();
  const sent: unknown[] = [];
  me.channel("follow").on("message", ({ key, data }) => sent.push([key, data]));
  views.setView([1, 2, 3, 4]);
  await net.run(500);
  views.setView([2, 2, 3, 4]);
  await net.run(500);
  expect(sent).toEqual([]);
  follower.follow(id);
  await net.run(500);
  expect(sent).toEqual([["view", "[2,2,3,4]"]]);
  expect(views.watchers).toEqual([me.self?.id]);
  press(document.body, "Escape");
  await net.run(500);
  expect(views.watchers).toEqual([]);
  views.setView([3, 2, 3, 4]);
  await net.run(500);
  expect(sent).toHaveLength(1);
  // The other way round: who is followed is told.
  const release = views.want(me.self?.id ?? 0);
  await net.run(500);
  expect(textsOf(follower, "watched")).toEqual(["Ada follows you"]);
  release();
  await net.run(500);
  expect(textsOf(follower, "watched")).toEqual([""]);
  ada.leave();
});

test("who leaves is not followed any more; who has another page open, is", async () => {
  const net = start();
  const me = join(net, "Me");
  const pages = [join(net, "Ada", { user: "ada" }), join(net, "Ada", { user: "ada" })];
  configure({ room: me });
  const follower = put<Follower>("<gw-follow></gw-follow>");
  await net.settle();
  const wanted = pages.map((page) => Views.in(page, "follow"));
  for (const views of wanted) views.use(() => {});
  await net.settle();
  const ada = peopleIn(me, "Guest").find(({ name }) => name === "Ada");
  follower.follow(ada?.id);
  await net.run(500);
  expect(wanted.map(({ watchers }) => watchers.length)).toEqual([1, 0]);
  net.closeTab(pages[0] as (typeof pages)[0] & {});
  await net.run(1000);
  expect(wanted[1]?.watchers).toEqual([me.self?.id]);
  expect(textsOf(follower, "text")).toEqual(["Following Ada"]);
  net.closeTab(pages[1] as (typeof pages)[0] & {});
  await net.run(1000);
  expect([parts(follower, "bar"), Following.in(me).key]).toEqual([[], undefined]);
});

test("after the room has forgotten this participant it asks again", async () => {
  const net = start({ away: 1000, maxFormer: 0 });
  const me = join(net, "Me");
  const ada = join(net, "Ada");
  configure({ room: me });
  const follower = put<Follower>("<gw-follow></gw-follow>");
  await net.settle();
  const views = Views.in(ada, "follow");
  views.use(() => {});
  await net.settle();
  follower.follow(ada.self?.id);
  await net.run(500);
  expect(views.watchers).toEqual([me.self?.id]);
  net.partition(me, 15_000);
  await net.settle();
  expect(views.watchers).toEqual([me.self?.id]);
});

test("what is no view has no effect", async () => {
  const { net, ada, follower, shown, id } = await two();
  follower.follow(id);
  const channel = ada.channel("follow");
  for (const odd of ["{", "null", "[1,2]", '["a",1,2,3]', '{"x":1}']) channel.send(odd, { key: "view" });
  for (const odd of ["{", "NaN", "1e9", "[]"]) channel.send(odd, { key: "to" });
  await net.run(1000);
  expect(shown).toEqual([]);
});
