import { expect, test, vi } from "vitest";
import * as Y from "yjs";
import { GroupwireProvider } from "../src/index.js";
import { content, end, expectSame, program, start } from "./start.js";

vi.setConfig({ testTimeout: 120_000 });

test("changes reach everybody, and who joins later", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  a.text.insert(0, "hello");
  await net.settle();
  b.text.insert(5, " world");
  await net.settle();
  const c = program(net);
  await net.settle();
  expect(c.text.toString()).toBe("hello world");
  expectSame([a, b, c]);
  end(net, [a, b, c]);
});

test("each change is one transaction, as Yjs made it", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  await net.settle();
  const [made, received]: Uint8Array[][] = [[], []];
  a.doc.on("update", (update: Uint8Array) => made?.push(update));
  b.room.channel("yjs").on("message", ({ data }) => received?.push(data as Uint8Array));
  for (const letter of "abc") a.text.insert(0, letter);
  await net.settle();
  expect(received).toEqual(made);
  end(net, [a, b]);
});

test("the events of y-websocket", async () => {
  const net = start();
  const doc = new Y.Doc();
  const room = net.join();
  const provider = new GroupwireProvider(room, doc);
  const events: unknown[] = [];
  provider.on("status", ({ status }) => events.push(status));
  provider.on("sync", (isSynced) => events.push(["sync", isSynced]));
  provider.on("synced", (isSynced) => events.push(["synced", isSynced]));
  void provider.whenSynced.then(() => events.push("whenSynced"));
  void doc.whenSynced.then(() => events.push("doc.whenSynced"));
  expect([provider.wsconnecting, provider.roomname]).toEqual([true, "room"]);
  await net.settle();
  expect(events).toEqual(["connected", ["synced", true], ["sync", true], "doc.whenSynced", "whenSynced"]);
  expect([provider.wsconnected, provider.synced, doc.isSynced]).toEqual([true, true, true]);
  events.length = 0;
  net.breakConnection(room);
  await net.settle();
  expect(events).toEqual([
    "disconnected",
    "connecting",
    ["synced", false],
    ["sync", false],
    "connected",
    ["synced", true],
    ["sync", true],
  ]);
  events.length = 0;
  provider.disconnect();
  expect([provider.shouldConnect, provider.room]).toEqual([false, undefined]);
  provider.connect();
  await net.settle();
  expect(events.slice(0, 3)).toEqual(["disconnected", ["synced", false], ["sync", false]]);
  expect(events.at(-1)).toEqual(["sync", true]);
  provider.destroy();
  doc.destroy();
  net.end();
});

test("saved: the room has confirmed all changes", async () => {
  const net = start({ durability: "local" });
  const a = program(net);
  await net.settle();
  const saved: boolean[] = [];
  a.provider.on("saved", (isSaved) => saved.push(isSaved));
  a.text.insert(0, "one");
  expect(a.provider.saved).toBe(false);
  await net.settle();
  expect([saved, a.provider.saved, a.room.durability]).toEqual([[false, true], true, "local"]);
  net.partition(a.room, 8000);
  await net.run(6000);
  a.text.insert(0, "two");
  await net.run(100);
  expect([a.provider.saved, a.provider.synced]).toEqual([false, false]);
  await net.settle();
  expect(saved).toEqual([false, true, false, true]);
  end(net, [a]);
});

test("a disconnected provider keeps changes until it is connected again", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  a.text.insert(0, "one ");
  await net.settle();
  a.provider.disconnect();
  a.text.insert(4, "two ");
  b.text.insert(4, "three ");
  expect(a.provider.saved).toBe(false);
  await net.settle();
  expect([a.text.toString(), b.text.toString()]).toEqual(["one two ", "one three "]);
  a.provider.connect();
  await net.settle();
  expect(a.provider.saved).toBe(true);
  expect(a.text.toString()).toMatch(/two .*three|three .*two/);
  expectSame([a, b]);
  end(net, [a, b]);
});

test("a provider with a room of its own leaves it", async () => {
  const net = start();
  const doc = new Y.Doc();
  const provider = new GroupwireProvider(() => net.connect("http://test", "room"), doc);
  const b = program(net);
  doc.getText("text").insert(0, "hello");
  await net.settle();
  expect(b.text.toString()).toBe("hello");
  const room = provider.room;
  provider.disconnect();
  await net.settle();
  expect([room?.status, b.room.participants.size]).toEqual(["closed", 0]);
  b.text.insert(0, "oh, ");
  provider.connect();
  await net.settle();
  expect(doc.getText("text").toString()).toBe("oh, hello");
  expect(provider.room).not.toBe(room);
  provider.destroy();
  doc.destroy();
  end(net, [b]);
});

test("another provider on the same room misses nothing, though the one before has just ended", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  a.text.insert(0, "hello");
  await net.settle();
  // As React does with components in strict mode.
  b.provider.destroy();
  const doc = new Y.Doc();
  const provider = new GroupwireProvider(b.room, doc);
  await net.settle();
  expect(content(doc)).toEqual(content(a.doc));
  provider.destroy();
  doc.destroy();
  end(net, [a, b]);
});

test("what was made offline is merged, and not sent again by those who have it, too", async () => {
  const net = start();
  const a = program(net);
  a.text.insert(0, "hello");
  await net.settle();
  // A kept copy of the document, with changes that no other program has.
  const kept = new Y.Doc();
  Y.applyUpdate(kept, Y.encodeStateAsUpdate(a.doc));
  kept.getText("text").delete(0, 1);
  kept.getText("text").insert(0, "H");
  const received: Uint8Array[] = [];
  a.room.channel("yjs").on("message", ({ data }) => received.push(data as Uint8Array));
  const b = program(net, {}, {}, kept);
  expect(b.provider.saved).toBe(false);
  await net.settle();
  expect(a.text.toString()).toBe("Hello");
  expect([received.length, b.provider.saved]).toEqual([1, true]);
  // All documents are equal now.
  const copy = new Y.Doc();
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(a.doc));
  const c = program(net, {}, {}, copy);
  await net.settle();
  expect(received.length).toBe(1);
  // A deletion alone is noticed, too.
  const other = new Y.Doc();
  Y.applyUpdate(other, Y.encodeStateAsUpdate(a.doc));
  other.getText("text").delete(1, 2);
  const d = program(net, {}, {}, other);
  await net.settle();
  expect([a.text.toString(), received.length]).toEqual(["Hlo", 2]);
  expectSame([a, b, c, d]);
  end(net, [a, b, c, d]);
});

test("late joiners get a snapshot, and the log stays short", async () => {
  const net = start({ snapshotAfter: 20 });
  const [a, b] = [program(net), program(net)];
  for (let at = 0; at < 100; at += 1) {
    a.text.insert(0, `${at} `);
    await net.run(50);
  }
  const parts: string[] = [];
  let messages = 0;
  const room = net.join();
  room.on("snapshot", ({ part }) => parts.push(part));
  const provider = new GroupwireProvider(room, new Y.Doc());
  room.channel("yjs").on("message", () => (messages += 1));
  await net.settle();
  expect(content(provider.doc)).toEqual(content(a.doc));
  expect(parts).toEqual(["yjs"]);
  expect(messages).toBeLessThan(50);
  provider.doc.destroy();
  end(net, [a, b]);
});

test("an update that is larger than a message arrives, also with a snapshot in its midst", async () => {
  const net = start({ snapshotAfter: 2 });
  const [a, b] = [program(net), program(net)];
  await net.settle();
  const large = "large ".repeat(100_000);
  net.change(a.room, { rate: 100_000 });
  a.text.insert(0, large);
  await net.run(2500);
  const c = program(net);
  await net.run(2500);
  b.text.insert(0, "x");
  await net.settle();
  expect(b.text.length).toBe(large.length + 1);
  expect([a.provider.saved, b.provider.saved]).toEqual([true, true]);
  expectSame([a, b, c]);
  end(net, [a, b, c]);
});

test("a large update survives that the server forgets its sender in the midst", async () => {
  const net = start({ away: 1000, maxFormer: 0 });
  const [a, b] = [program(net), program(net)];
  await net.settle();
  net.change(a.room, { rate: 100_000 });
  a.text.insert(0, "large ".repeat(100_000));
  await net.run(2000);
  const gaps: string[] = [];
  a.room.on("gap", ({ reason }) => gaps.push(reason));
  net.partition(a.room, 15_000);
  await net.settle();
  expect(gaps).toContain("session");
  expect(b.text.length).toBe(600_000);
  expect(a.provider.saved).toBe(true);
  expectSame([a, b]);
  end(net, [a, b]);
});

test("after the server has lost the room, one participant sends the document, and the others what it lacks", async () => {
  const net = start();
  const programs = Array.from({ length: 5 }, () => program(net));
  const [a, b] = programs as [(typeof programs)[0], (typeof programs)[0]];
  a.text.insert(0, "words ".repeat(1000));
  await net.settle();
  net.partition(b.room, 9000);
  await net.run(7000);
  b.text.insert(0, "made offline ");
  let bytes = 0;
  let isCounting = false;
  a.room.channel("yjs").on("message", ({ data }) => (bytes += isCounting ? data.length : 0));
  a.room.on("gap", () => (isCounting = true));
  net.restartServer();
  await net.settle();
  expect(isCounting).toBe(true);
  expect(bytes).toBeLessThan(8000);
  expect(programs.every(({ provider }) => provider.saved)).toBe(true);
  const late = program(net);
  await net.settle();
  expect(late.text.toString()).toMatch(/^made offline words/);
  expectSame([...programs, late]);
  end(net, [...programs, late]);
});

test("who lacks what the room no longer has asks those who have it", async () => {
  const net = start({ maxLogBytes: 3000, snapshotAfter: 100_000 });
  const programs = Array.from({ length: 4 }, () => program(net));
  const [a, b] = programs as [(typeof programs)[0], (typeof programs)[0]];
  await net.settle();
  const gaps: string[] = [];
  b.room.on("gap", ({ reason }) => gaps.push(reason));
  net.partition(b.room, 9000);
  for (let at = 0; at < 300; at += 1) {
    a.text.insert(at, "x");
    await net.run(20);
  }
  await net.settle();
  expect(gaps).toContain("history");
  expectSame(programs);
  end(net, programs);
});

test("a reader follows, and its own changes stay with it", async () => {
  const net = start({ snapshotAfter: 5 });
  const a = program(net);
  await net.settle();
  const reader = program(net, { user: "guest", rights: { publish: ["yjs/awareness"], qos: ["*"], snapshot: ["yjs"] } });
  a.text.insert(0, "hello");
  await net.settle();
  expect(reader.text.toString()).toBe("hello");
  expect(reader.provider.readOnly).toBe(false);
  const told: boolean[] = [];
  reader.provider.on("readonly", (isReadOnly) => told.push(isReadOnly));
  reader.text.insert(0, "mine ");
  await net.settle();
  expect([told, reader.provider.readOnly, reader.provider.saved]).toEqual([[true], true, false]);
  for (let at = 0; at < 20; at += 1) a.text.insert(0, "x");
  await net.settle();
  const late = program(net);
  await net.settle();
  expect(late.text.toString()).toBe(a.text.toString());
  expect(a.text.toString()).not.toContain("mine");
  expect(reader.text.toString()).toContain("mine");
  end(net, [a, reader, late]);
});

test("a reader with changes from before the connection does not bring them in", async () => {
  const net = start();
  const a = program(net);
  await net.settle();
  const kept = new Y.Doc();
  kept.getText("text").insert(0, "mine ".repeat(1000));
  const reader = program(net, { user: "guest", rights: { publish: [] } }, {}, kept);
  await net.settle();
  expect([a.text.toString(), reader.provider.readOnly]).toEqual(["", true]);
  net.breakConnection(reader.room);
  await net.settle();
  expect([a.text.toString(), reader.provider.readOnly]).toEqual(["", true]);
  end(net, [a, reader]);
});

test("malformed updates of others do no harm", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const net = start();
  const [a, b] = [program(net), program(net)];
  await net.settle();
  const channel = a.room.channel("yjs");
  for (const bytes of [[], [255], [1, 1, 1, 0, 4], [0, 1, 5, 255, 255]]) channel.send(new Uint8Array(bytes));
  for (const text of [
    "",
    "5",
    "[]",
    "{}",
    '["ask","?"]',
    '["ask","/w"]',
    '["piece",0,0,1,"/w=="]',
    '["piece",-1]',
    '["done"]',
  ])
    channel.send(text);
  a.text.insert(0, "hello");
  await net.settle();
  expect(b.text.toString()).toBe("hello");
  expect(warn).toHaveBeenCalled();
  warn.mockRestore();
  end(net, [a, b]);
});

test("an administrator's reset ends the provider", () => {
  const net = start();
  const listeners: [string, (event: never) => void][] = [];
  // The simulation has no administration, so the room's event is made here.
  const room = new Proxy(net.join(), {
    get: (room, name) => {
      if (name === "on")
        return (event: string, listener: (event: never) => void) => {
          listeners.push([event, listener]);
          return () => {};
        };
      const value = Reflect.get(room, name) as unknown;
      return typeof value === "function" ? (value as () => void).bind(room) : value;
    },
  });
  const provider = new GroupwireProvider(room, new Y.Doc());
  provider.doc.getText("text").insert(0, "deleted by the administrator");
  let isReset = false;
  provider.on("reset", () => (isReset = true));
  for (const [event, listener] of listeners) {
    if (event === "gap") listener({ reason: "reset", channel: "yjs", uncertain: 0 } as never);
  }
  expect([isReset, provider.room]).toEqual([true, undefined]);
  expect(() => provider.connect()).toThrow(expect.objectContaining({ code: "reset" }));
  // A new document does not get what was deleted.
  const next = new GroupwireProvider(room, new Y.Doc());
  expect(next.doc.getText("text").toString()).toBe("");
  expect(next.saved).toBe(true);
  next.doc.destroy();
  provider.doc.destroy();
  net.end();
});

test("a second copy of yjs is noticed", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const net = start();
  const doc = new Y.Doc();
  Object.defineProperty(Y.Doc, Symbol.hasInstance, { value: () => false, configurable: true });
  const provider = new GroupwireProvider(net.join(), doc, { connect: false });
  Reflect.deleteProperty(Y.Doc, Symbol.hasInstance);
  expect(warn.mock.calls[0]?.[0]).toMatch(/two copies of yjs/);
  warn.mockRestore();
  provider.destroy();
  doc.destroy();
  net.end();
});

test("two providers for the same document of a room are an error", () => {
  const net = start();
  const a = program(net);
  const doc = new Y.Doc();
  expect(() => new GroupwireProvider(a.room, doc)).toThrow(/has a provider for "yjs" already/);
  doc.destroy();
  end(net, [a]);
});

test("undo takes back own changes alone", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  const undo = new Y.UndoManager(a.text);
  a.text.insert(0, "mine ");
  await net.settle();
  b.text.insert(5, "yours");
  await net.settle();
  undo.undo();
  await net.settle();
  expect([a.text.toString(), b.text.toString()]).toEqual(["yours", "yours"]);
  undo.redo();
  await net.settle();
  expect(b.text.toString()).toBe("mine yours");
  end(net, [a, b]);
});

test("subdocuments", async () => {
  const net = start();
  const [a, b] = [program(net), program(net)];
  const made = new Y.Doc();
  a.doc.getMap<Y.Doc>("map").set("page", made);
  made.getText("text").insert(0, "page");
  await net.settle();
  const page = b.doc.getMap<Y.Doc>("map").get("page") as Y.Doc;
  expect([page.guid, page.getText("text").toString()]).toEqual([made.guid, ""]);
  page.load();
  await net.settle();
  expect([page.getText("text").toString(), page.isSynced]).toEqual(["page", true]);
  page.getText("text").insert(4, "s");
  await net.settle();
  expect(made.getText("text").toString()).toBe("pages");
  // A document that was destroyed may be loaded again.
  page.destroy();
  made.getText("text").insert(5, "!");
  await net.settle();
  const again = b.doc.getMap<Y.Doc>("map").get("page") as Y.Doc;
  again.load();
  await net.settle();
  expect(again.getText("text").toString()).toBe("pages!");
  expect([a.provider.saved, b.provider.saved]).toEqual([true, true]);
  a.doc.getMap<Y.Doc>("map").delete("page");
  await net.settle();
  end(net, [a, b]);
});
