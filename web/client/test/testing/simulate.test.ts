import { expect, test, vi } from "vitest";
import { awareness, transaction, type Channel, type Gap, type Room, type RoomError } from "../../src/testing.js";
import { start } from "./started.js";

// Simulations take milliseconds, but the machine may have much else to do.
vi.setConfig({ testTimeout: 300_000 });

/** Opens a channel of transactions, and collects what arrives on it. */
function chat(room: Room, name = "chat"): { readonly channel: Channel; readonly got: string[] } {
  const channel = room.channel(name, transaction());
  const got: string[] = [];
  channel.on("message", ({ data }) => got.push(String(data)));
  return { channel, got };
}

function gaps(room: Room): Gap["reason"][] {
  const reasons: Gap["reason"][] = [];
  room.on("gap", ({ reason }) => reasons.push(reason));
  return reasons;
}

/** A session with everything that can go wrong; returns its log. */
async function session(seed: number): Promise<string> {
  const net = start({ seed, loss: 0.1, jitter: 40, durability: "local" });
  const rooms = net.join(3, { presence: { name: "somebody" } });
  const chats = rooms.map((room) => chat(room));
  const pointers = rooms.map((room) => room.channel("pointer", awareness({ maxRate: 25 })));
  for (let round = 0; round < 10; round += 1) {
    chats.forEach(({ channel }, at) => channel.send(`${at} ${round}`));
    pointers.forEach((pointer) => pointer.send({ x: net.random() }));
    if (round === 3) net.partition(rooms[1], 4000);
    if (round === 6) net.restartServer({ downFor: 500 });
    await net.run(300);
  }
  await net.settle();
  expect(new Set(chats.map(({ got }) => got.join())).size).toBe(1);
  expect(chats[0]?.got).toHaveLength(30);
  return net.log();
}

test("the same seed gives the same run, and another seed another one", async () => {
  const [one, two, other] = [await session(11), await session(11), await session(12)];
  expect(one).toContain("lost");
  expect(two).toBe(one);
  expect(other).not.toBe(one);
});

test("nothing happens before it is awaited, and then only in simulated time", async () => {
  const net = start({ delay: 100, transports: ["websocket"] });
  const room = net.join();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([net.now, room.status]).toEqual([0, "connecting"]);
  // Three round trips open the transport, and one joins.
  await net.run(799);
  expect(room.status).toBe("connecting");
  await net.run(1);
  expect([net.now, room.status, room.transport?.name]).toEqual([800, "connected", "websocket"]);
});

test("datagrams are lost, streams are late", async () => {
  const received = async (name: "webtransport" | "websocket", loss: number): Promise<number> => {
    const net = start({ seed: 3, transports: [name] });
    const [a, b] = net.join(2);
    // The QoS permits the loss of all messages, so nothing is repaired.
    const qos = awareness({ loss: 1, overflow: "aggregate" });
    const [from, to] = [a.channel("level", qos), b.channel("level", qos)];
    let count = 0;
    to.on("message", () => (count += 1));
    await net.settle();
    net.change(b, { down: { loss } });
    for (let at = 0; at < 100; at += 1) {
      from.send({ at });
      await net.run(40);
    }
    await net.settle();
    return count;
  };
  expect(await received("webtransport", 0)).toBe(100);
  const some = await received("webtransport", 0.3);
  expect(some).toBeGreaterThan(50);
  expect(some).toBeLessThan(90);
  expect(await received("websocket", 0.3)).toBe(100);
});

test("a short partition delays messages, and nobody is told of it", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const [from, to] = [chat(a), chat(b)];
  await net.settle();
  const changed = vi.fn();
  a.on("participants", changed);
  net.partition(b, 2000);
  from.channel.send("hello");
  await net.run(1900);
  expect(to.got).toEqual([]);
  await net.run(200);
  expect([to.got, from.got]).toEqual([["hello"], ["hello"]]);
  expect(changed).not.toHaveBeenCalled();
});

test("after a long partition a participant is away, and resumes as the same one", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const [from, to] = [chat(a), chat(b)];
  await net.settle();
  const id = b.self?.id ?? 0;
  const found = gaps(b);
  net.partition(b, 9000);
  from.channel.send("while away");
  await net.until(() => a.participants.get(id)?.away === true);
  await net.until(() => b.status === "reconnecting");
  await net.settle();
  expect([b.status, b.self?.id, to.got, found]).toEqual(["connected", id, ["while away"], []]);
  expect(a.participants.get(id)?.away).toBe(false);
});

test("a participant that is cut off without an end is left out of what settles", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const to = chat(b);
  chat(a).channel.send("one");
  await net.settle();
  net.partition(b);
  chat(a).channel.send("two");
  await net.settle();
  expect(to.got).toEqual(["one"]);
  net.heal(b);
  await net.settle();
  expect(to.got).toEqual(["one", "two"]);
});

test("a durable room survives the server: no gap, nothing is lost, and what was unconfirmed is confirmed", async () => {
  const net = start({ durability: "local" });
  const [a, b] = net.join(2);
  const [from, to] = [chat(a), chat(b)];
  const found = [gaps(a), gaps(b)];
  from.channel.send("before");
  await net.settle();
  expect(a.durability).toBe("local");
  from.channel.send("meanwhile");
  await net.run(25);
  net.restartServer({ downFor: 1000 });
  await net.settle();
  expect(to.got).toEqual(["before", "meanwhile"]);
  expect([found, a.pending]).toEqual([[[], []], 0]);
  const late = chat(net.join());
  await net.settle();
  expect(late.got).toEqual(["before", "meanwhile"]);
});

test("a room in memory, or a durable one whose disk is lost, begins anew: its participants get the gap incarnation", async () => {
  for (const [options, restart] of [
    [{}, {}],
    [{ durability: "local" }, { keepsState: false }],
  ] as const) {
    const net = start(options);
    const [a, b] = net.join(2);
    chat(a).channel.send("before");
    await net.settle();
    const found = [gaps(a), gaps(b)];
    net.restartServer(restart);
    await net.settle();
    expect(found).toEqual([["incarnation"], ["incarnation"]]);
    const late = chat(net.join());
    await net.settle();
    expect(late.got).toEqual([]);
  }
});

test("a server that says goodbye tells its clients when to come back", async () => {
  const net = start({ durability: "local" });
  const room = net.join();
  await net.settle();
  const before = net.now;
  net.restartServer({ goodbye: true, downFor: 4000 });
  await net.until(() => room.status === "reconnecting");
  await net.until(() => room.status === "connected");
  expect(net.now - before).toBeGreaterThanOrEqual(4000);
  expect(net.log()).not.toContain("refused");
});

test("a session that the room has forgotten gets the gap session", async () => {
  const net = start({ away: 1000, maxFormer: 0 });
  const [a, b] = net.join(2);
  await net.settle();
  const [id, found] = [b.self?.id, gaps(b)];
  net.partition(b, 15_000);
  await net.until(() => a.participants.size === 0);
  await net.settle();
  expect(found).toEqual(["session"]);
  expect(b.self?.id).not.toBe(id);
});

test("what the room has dropped from its log is a gap history", async () => {
  const net = start({ maxLogBytes: 2000 });
  const [a, b] = net.join(2);
  const { channel } = chat(a);
  chat(b);
  await net.settle();
  const found: (string | undefined)[] = [];
  b.on("gap", ({ reason, channel }) => found.push(reason, channel));
  net.partition(b, 8000);
  for (let at = 0; at < 100; at += 1) channel.send("x".repeat(100));
  await net.settle();
  expect(found).toEqual(["history", "chat"]);
});

test("a message that the room's log cannot hold is an error, because the room would deliver it to nobody", async () => {
  const net = start({ maxLogBytes: 2000 });
  const [a, b] = net.join(2);
  const { channel } = chat(a);
  chat(b);
  await net.settle();
  expect(() => channel.send("x".repeat(1900))).toThrow(/to nobody: `maxLogBytes` has to hold several/);
  const stored = start({ maxLogBytes: 2000, durability: "local" });
  const [c, d] = stored.join(2);
  const [from, to] = [chat(c), chat(d)];
  from.channel.send("x".repeat(1900));
  await stored.settle();
  expect(to.got).toHaveLength(1);
});

test("a conflated channel brings the newest value and leaves out others", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const [from, to] = [a, b].map((room) => room.channel("pointer", awareness({ maxRate: 10 })));
  const got: unknown[] = [];
  to?.on("message", (message) => got.push(message.json()));
  await net.settle();
  for (let at = 0; at < 100; at += 1) {
    from?.send({ at }, { key: "p" });
    await net.run(10);
  }
  await net.settle();
  expect(got.length).toBeGreaterThan(5);
  expect(got.length).toBeLessThan(15);
  expect(got.at(-1)).toEqual({ at: 99 });
});

test("on a slow network messages wait for each other", async () => {
  const net = start({ rate: 10_000 });
  const [a, b] = net.join(2);
  const from = a.channel("file", transaction({ compress: "off" }));
  const to = chat(b, "file");
  await net.settle();
  const before = net.now;
  from.send(new Uint8Array(50_000).map((_, at) => at));
  await net.until(() => to.got.length === 1);
  // 5 s to the server and 5 s from it.
  expect(net.now - before).toBeGreaterThan(10_000);
  expect(net.now - before).toBeLessThan(11_000);
});

test("a broken connection loses what is under way, and the session sends it again", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const [from, to] = [chat(a), chat(b)];
  await net.settle();
  from.channel.send("lost at first");
  await net.run(5);
  net.breakConnection(a);
  expect(a.status).toBe("reconnecting");
  await net.settle();
  expect(to.got).toEqual(["lost at first"]);
  expect(a.stats.reconnects).toBe(1);
});

test("a page that closes says goodbye, and a program that crashes is away at first", async () => {
  const net = start();
  const [a, b, c] = net.join(3);
  const { got } = chat(a);
  const last = chat(b).channel;
  await net.settle();
  last.send("last words");
  net.closeTab(b);
  net.crashTab("c");
  await net.run(200);
  expect(got).toEqual(["last words"]);
  expect([...a.participants.values()]).toMatchObject([{ away: true }]);
  await net.run(11_000);
  expect(a.participants.size).toBe(0);
  expect([b.status, c.status]).toEqual(["closed", "connected"]);
  const again = net.join({ name: "c again" });
  await net.settle();
  expect(again.participants.size).toBe(1);
});

test("a frozen page takes in what came when it goes on", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const [from, to] = [chat(a), chat(b)];
  await net.settle();
  net.suspendTab(b, 3000);
  from.channel.send("good morning");
  await net.run(2000);
  expect(to.got).toEqual([]);
  await net.settle();
  expect(to.got).toEqual(["good morning"]);
});

test("a late joiner gets the part of the snapshot that others made", async () => {
  const net = start({ snapshotAfter: 5 });
  const [a] = net.join(1);
  const { channel, got } = chat(a);
  a.provideSnapshot(() => JSON.stringify(got), { part: "chat", channels: [channel] });
  for (let at = 0; at < 8; at += 1) {
    channel.send(`${at}`);
    await net.run(100);
  }
  await net.settle();
  const late = net.join();
  const rest = chat(late);
  const parts: unknown[] = [];
  late.on("snapshot", ({ part, data }) => parts.push([part, JSON.parse(new TextDecoder().decode(data))]));
  await net.settle();
  expect(parts).toHaveLength(1);
  const [[part, texts]] = parts as [[string, string[]]];
  expect(part).toBe("chat");
  expect([...texts, ...rest.got]).toEqual(got);
});

test("rights of channels hold", async () => {
  const net = start();
  const a = net.join();
  const b = net.join({ rights: { publish: ["notes/*"], subscribe: ["*"] } });
  const errors: RoomError[] = [];
  b.on("error", (error) => errors.push(error));
  const to = chat(a, "notes/b");
  const closed = chat(a, "chat");
  await net.settle();
  chat(b, "notes/b").channel.send("mine");
  await net.settle();
  expect([to.got, errors]).toEqual([["mine"], []]);
  const reader = chat(b, "chat");
  closed.channel.send("read this");
  await net.settle();
  expect(reader.got).toEqual(["read this"]);
  expect(() => reader.channel.send("no")).toThrow();
});

test("the test decides who may join, by token, and asks for tokens anew", async () => {
  const asked = vi.fn((token: string) => {
    if (token === "forged") throw new Error("this token is forged");
    return { user: token };
  });
  const net = start({ authenticate: asked });
  let count = 0;
  const room = net.join({ token: () => `ada ${(count += 1)}` });
  const refused = net.join({ token: "forged" });
  const errors: RoomError[] = [];
  refused.on("error", (error) => errors.push(error));
  await net.settle();
  expect([room.status, refused.status]).toEqual(["connected", "closed"]);
  expect(errors).toMatchObject([{ fault: "refused", message: expect.stringContaining("forged") as string }]);
  net.expireToken(room);
  await net.settle();
  expect(asked.mock.calls.map(([token]) => token)).toEqual(["ada 1", "forged", "ada 2"]);
});

test("applications may call connect themselves, and rooms of two names are apart", async () => {
  const net = start();
  const open = (connect: typeof net.connect, name: string): Room =>
    connect("wss://example.com", name, { presence: name });
  const [a, b, other] = [open(net.connect, "one"), open(net.connect, "one"), open(net.connect, "two")];
  await net.settle();
  expect([a.participants.size, b.participants.size, other.participants.size]).toEqual([1, 1, 0]);
  expect([...a.participants.values()][0]?.presence).toBe("one");
});

test("promises of the application are done before the next thing happens", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const { channel } = chat(a);
  const answers = chat(a, "answers");
  const back = chat(b, "answers").channel;
  chat(b).channel.on("message", async ({ data }) => {
    for (let at = 0; at < 50; at += 1) await Promise.resolve();
    back.send(`answer to ${String(data)}`);
  });
  await net.settle();
  channel.send("question");
  const before = net.now;
  await net.until(() => answers.got.length === 1);
  expect(answers.got).toEqual(["answer to question"]);
  // Twice to the server and back, and ticks of 40 ms: the promises took no time.
  expect(net.now - before).toBeLessThan(4 * 20 + 2 * 40 + 5);
});

test("codecs in modules of their own are loaded, which takes no simulated time", async () => {
  const net = start();
  const [a, b] = net.join(2);
  const qos = transaction({ compress: "zstd" });
  const [from, to] = [a.channel("log", qos), b.channel("log", qos)];
  const got = vi.fn();
  to.on("message", ({ data }) => got(data));
  await net.settle();
  from.send("again and ".repeat(500));
  await net.settle();
  expect(got).toHaveBeenCalledWith("again and ".repeat(500));
  expect(a.stats.channels.get("log")?.sent.codec).toBe("zstd");
});

test("W113: a channel tells who left, at one place in the order, also after a restart and to the one who comes back", async () => {
  const net = start({ seed: 3, durability: "local", away: 1000, loss: 0.05 });
  const names = ["a", "b", "c"];
  const tabs = names.map((name) => net.join({ name }));
  const pens = tabs.map((room) => room.channel("pen", transaction({ departures: true })));
  const got: string[][] = pens.map((pen) => {
    const texts: string[] = [];
    pen.on("message", ({ data, departed }) => texts.push(departed === undefined ? String(data) : `${departed} left`));
    return texts;
  });
  await net.settle();
  const [a, b] = tabs.map(({ self }) => self?.id);
  pens[0]?.send("a takes it");
  pens[1]?.send("b waits");
  await net.settle();
  net.partition("b");
  net.crashTab("a");
  net.restartServer();
  await net.run(8000);
  pens[2]?.send("c goes on");
  net.heal("b");
  await net.settle();
  expect(got[2]).toEqual(["a takes it", "b waits", `${a} left`, `${b} left`, "c goes on"]);
  expect(got[1]).toEqual(got[2]);
  expect(tabs[1]?.self?.id).toBe(b);
  expect(pens[2]?.qos.departures).toBe(true);
  expect(net.log()).toContain(`is told that participant ${a} has left on "pen"`);
});
