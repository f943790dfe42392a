import { expect, test, vi } from "vitest";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { GroupwireProvider } from "../src/index.js";
import { end, program, start, type Program } from "./start.js";

/** The clock of lib0, which keeps the function that is there when it is loaded. */
const clock = vi.hoisted(() => {
  const real = Date.now;
  const clock = { now: real };
  Date.now = () => clock.now();
  return clock;
});

vi.setConfig({ testTimeout: 120_000 });

/** The states of the others, by client. */
function others({ provider, doc }: Program): Record<string, unknown> {
  const states = [...(provider.awareness?.getStates() ?? [])].filter(([client]) => client !== doc.clientID);
  return Object.fromEntries(states);
}

test("states reach everybody, and who joins later, also over lossy networks", async () => {
  const net = start({ loss: 0.2, jitter: 30 });
  const [a, b] = [program(net), program(net)];
  const mine = a.provider.awareness as Awareness;
  mine.setLocalStateField("user", { name: "Ada" });
  for (let at = 0; at < 50; at += 1) {
    mine.setLocalStateField("cursor", { at });
    await net.run(30);
  }
  await net.settle();
  const c = program(net);
  await net.settle();
  const state = { user: { name: "Ada" }, cursor: { at: 49 } };
  expect(others(b)).toEqual({ [a.doc.clientID]: state, [c.doc.clientID]: {} });
  expect(others(c)).toEqual({ [a.doc.clientID]: state, [b.doc.clientID]: {} });
  mine.setLocalState({ user: { name: "Ada" } });
  await net.settle();
  expect(others(b)).toMatchObject({ [a.doc.clientID]: { user: { name: "Ada" } } });
  expect(Object.keys(others(b)[a.doc.clientID] as object)).toEqual(["user"]);
  mine.setLocalState(null);
  await net.settle();
  expect(Object.keys(others(b))).toEqual([`${c.doc.clientID}`]);
  mine.setLocalState({ cursor: null });
  await net.settle();
  expect(others(c)).toEqual({ [a.doc.clientID]: { cursor: null }, [b.doc.clientID]: {} });
  end(net, [a, b, c]);
});

test("a change sends its field alone", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  const mine = a.provider.awareness as Awareness;
  mine.setLocalState({ user: { name: "Ada", color: "#ff0000" }, cursor: 1 });
  await net.settle();
  const sent: unknown[] = [];
  b.room.channel("yjs/awareness").on("message", ({ key, data }) => sent.push([key, data]));
  mine.setLocalStateField("cursor", 2);
  await net.settle();
  expect(sent).toEqual([[`${a.doc.clientID}/cursor`, "2"]]);
  end(net, [a, b]);
});

test("nobody vanishes who is idle, and nothing is sent for that", async () => {
  const net = start({ fakeTimers: true });
  clock.now = () => net.now;
  const [a, b] = [program(net), program(net)];
  (a.provider.awareness as Awareness).setLocalStateField("user", "Ada");
  await net.settle();
  let messages = 0;
  b.room.channel("yjs/awareness").on("message", () => (messages += 1));
  await net.run(300_000);
  expect(others(b)).toEqual({ [a.doc.clientID]: { user: "Ada" } });
  expect(messages).toBe(0);
  end(net, [a, b]);
});

test("who leaves or loses the connection vanishes at once, and who comes back is there again", async () => {
  const net = start();
  const [a, b, c] = [program(net), program(net), program(net)];
  (a.provider.awareness as Awareness).setLocalStateField("user", "Ada");
  await net.settle();
  net.closeTab(c.room);
  await net.run(200);
  expect(others(b)).toEqual({ [a.doc.clientID]: { user: "Ada" } });
  net.partition(a.room, 8000);
  await net.run(7000);
  // Neither participant sees the other one.
  expect([others(a), others(b)]).toEqual([{}, {}]);
  (a.provider.awareness as Awareness).setLocalStateField("cursor", 5);
  await net.settle();
  expect(others(b)).toEqual({ [a.doc.clientID]: { user: "Ada", cursor: 5 } });
  expect(others(a)).toEqual({ [b.doc.clientID]: {} });
  a.provider.disconnect();
  await net.run(200);
  expect([others(a), others(b)]).toEqual([{}, {}]);
  a.provider.connect();
  await net.settle();
  expect(others(b)).toEqual({ [a.doc.clientID]: { user: "Ada", cursor: 5 } });
  expect(others(a)).toEqual({ [b.doc.clientID]: {} });
  end(net, [a, b, c]);
});

test("states are there again after the server has lost the room, or its participant", async () => {
  const net = start({ away: 1000, maxFormer: 0 });
  const [a, b] = [program(net), program(net)];
  (a.provider.awareness as Awareness).setLocalStateField("user", "Ada");
  await net.settle();
  net.restartServer();
  await net.settle();
  expect([others(a), others(b)]).toEqual([{ [b.doc.clientID]: {} }, { [a.doc.clientID]: { user: "Ada" } }]);
  net.partition(a.room, 15_000);
  await net.settle();
  expect([others(a), others(b)]).toEqual([{ [b.doc.clientID]: {} }, { [a.doc.clientID]: { user: "Ada" } }]);
  end(net, [a, b]);
});

test("nobody changes the state of a client that another participant has", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  const thief = net.join();
  (a.provider.awareness as Awareness).setLocalStateField("user", "Ada");
  await net.settle();
  const channel = thief.channel("yjs/awareness", { kind: "awareness" });
  for (const { doc } of [a, b]) channel.send('"Eve"', { key: `${doc.clientID}/user` });
  channel.send("", { key: `${a.doc.clientID}` });
  for (const key of ["", "x", "-1", "99999999999999999", "1/"]) channel.send("not JSON", { key });
  await net.settle();
  expect([others(a), others(b)]).toEqual([{ [b.doc.clientID]: {} }, { [a.doc.clientID]: { user: "Ada" } }]);
  expect(a.provider.awareness?.getLocalState()).toEqual({ user: "Ada" });
  end(net, [a, b]);
});

test("of somebody who makes up clients, fields and values, little is kept, and the others are seen as before", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  const channel = net.join().channel("yjs/awareness", { kind: "awareness", overflow: "aggregate" });
  await net.settle();
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  channel.send(deep, { key: "7/deep" });
  channel.send("1", { key: "7/cursor" });
  channel.send("here", { key: "7" });
  (a.provider.awareness as Awareness).setLocalStateField("user", "Ada");
  await net.settle();
  expect(others(b)).toEqual({ [a.doc.clientID]: { user: "Ada" }, 7: { cursor: 1 } });
  for (let client = 100; client < 2100; client += 1) {
    channel.send("here", { key: `${client}` });
    if (client % 50 === 0) await net.run(50);
  }
  await net.settle();
  const { meta, states } = b.provider.awareness as Awareness;
  expect(states.size).toBeLessThanOrEqual(1024 + 2);
  expect(meta.size).toBeLessThanOrEqual(1024 + 2);
  expect(others(b)[a.doc.clientID]).toEqual({ user: "Ada" });
  end(net, [a, b]);
});

test("without awareness, or with that of the application", async () => {
  const net = start();
  const doc = new Y.Doc();
  const own = new Awareness(doc);
  const room = net.join();
  const provider = new GroupwireProvider(room, doc, { awareness: own });
  const b = program(net, {}, { awareness: null });
  await net.settle();
  expect([provider.awareness, b.provider.awareness]).toEqual([own, null]);
  provider.destroy();
  doc.destroy();
  end(net, [b]);
});
