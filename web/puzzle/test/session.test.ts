import { simulate, type Simulation } from "groupwire/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Document } from "../src/model/document";
import { Live } from "../src/net/live";
import { Meter } from "../src/net/meter";
import { Session } from "../src/net/session";

const simulated = vi.hoisted(() => ({ connect: undefined as unknown }));
vi.mock("groupwire", async () => ({
  ...(await import("groupwire/testing")),
  connect: (...parameters: unknown[]) => (simulated.connect as (...parameters: unknown[]) => unknown)(...parameters),
}));

let net: Simulation;

beforeEach(() => {
  net = simulate({ seed: 1, fakeTimers: true, away: 5000 });
  simulated.connect = net.connect;
});
afterEach(() => net.end());

function join(name: string) {
  const [live, meter] = [new Live(), new Meter()];
  const document = new Document("test");
  const nothing = (): void => {};
  const events = {
    synced: nothing,
    participants: nothing,
    moved: nothing,
    transport: nothing,
    error: nothing,
  };
  const options = { url: "ws://test/", room: "test", name, transport: undefined };
  const session = new Session({ ...options, document, live, meter, events });
  let restored = 0;
  document.listen({ restored: () => (restored += 1) });
  return { document, session, live, meter, restored: () => restored };
}

test("two windows: drags, drops and pointers arrive and are measured", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  b.meter.sample(b.session.room.stats, 0);
  a.document.grab(3);
  a.session.sendDrag({ game: 0, piece: 3, x: 9, y: 8, gx: 1, gy: 1 });
  a.session.room.channel("pointer").send("[3,4]");
  await net.run(200);
  expect(b.document.state.group(3).holder).toBe(a.document.by);
  expect(b.session.participantOf(a.document.by)).toBe(a.session.room.self?.id);
  expect(b.live.views(performance.now() + 300)).toMatchObject([{ piece: 3, x: 9, y: 8 }]);
  a.document.drop(30, 40);
  await net.run(200);
  expect(b.live.views(performance.now())).toEqual([]);
  expect(b.document.state.group(3)).toMatchObject({ x: 30, y: 40 });
  b.meter.sample(b.session.room.stats, 1000);
  expect(b.meter.figures.latency).toBeGreaterThan(30);
});

test("a piece that is grabbed, dragged and dropped at once does not stay in the hand", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  a.document.grab(3);
  a.session.sendDrag({ game: 0, piece: 3, x: 9, y: 8, gx: 1, gy: 1 });
  a.document.drop(30, 40);
  await net.run(500);
  expect(b.document.state.group(3)).toMatchObject({ x: 30, y: 40 });
  expect(b.live.views(performance.now())).toEqual([]);
});

test("a late joiner gets the puzzle", async () => {
  const a = join("A");
  await net.settle();
  a.document.perform({ start: { picture: "reef", seed: 4, columns: 8, rows: 6 } });
  a.document.grab(0);
  a.document.drop(5, 5);
  await net.settle();
  const late = join("late");
  await net.settle();
  expect(late.document.state.raw).toEqual(a.document.state.raw);
  expect(late.document.state.game).toBe(1);
});

test("the pieces of a participant who has left are released", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  b.document.grab(3);
  await net.run(20_000);
  expect(a.document.state.group(3).holder).toBe(b.document.by);
  net.closeTab("b");
  await net.run(15_000);
  expect(a.document.state.group(3).holder).toBeUndefined();
});

test("a restarted server gets the puzzle back, with the moves made meanwhile", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  a.document.grab(3);
  a.document.drop(7, 7);
  await net.settle();
  net.restartServer({ downFor: 1000 });
  await net.run(100);
  b.document.grab(4);
  b.document.drop(700, 700);
  await net.settle();
  const late = join("late");
  await net.settle();
  for (const { document } of [a, b, late]) {
    expect(document.state.group(3)).toMatchObject({ x: 7, y: 7 });
    expect(document.state.group(4)).toMatchObject({ x: 700, y: 700 });
    expect(document.waiting).toBe(0);
  }
  // A participant that comes back when another one has restored the room need not wait for
  // anything.
  expect(a.restored() + b.restored()).toBeGreaterThan(0);
});

test("after a loss of the room the pieces that others drag are seen, although they count their messages anew", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  for (let x = 0; x < 20; x += 1) {
    a.session.sendDrag({ game: 0, piece: 3, x, y: 0, gx: 1, gy: 1 });
    await net.run(50);
  }
  const [{ sender } = { sender: 0 }] = b.live.views(performance.now());
  expect(sender).toBe(a.session.room.self?.id);
  net.crashTab("a");
  net.partition("b", 3000);
  net.restartServer();
  const other = join("C");
  await net.until(() => b.session.room.participants.get(sender)?.presence?.name === "C");
  expect(other.session.room.self?.id).toBe(sender);
  await net.run(1000);
  other.session.sendDrag({ game: 0, piece: 4, x: 7, y: 8, gx: 1, gy: 1 });
  await net.run(500);
  expect(b.live.views(performance.now())).toMatchObject([{ sender, piece: 4 }]);
});
