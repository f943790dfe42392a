import { simulate, type Simulation } from "groupwire/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Document } from "../src/model/document";
import type { Box } from "../src/model/shapes";
import { Live } from "../src/net/live";
import { Recorder } from "../src/net/recorder";
import { Session } from "../src/net/session";

const simulated = vi.hoisted(() => ({ connect: undefined as unknown }));
vi.mock("groupwire", async () => ({
  ...(await import("groupwire/testing")),
  connect: (...parameters: unknown[]) => (simulated.connect as (...parameters: unknown[]) => unknown)(...parameters),
}));

const box: Box = { kind: "rectangle", x: 0, y: 0, w: 10, h: 10, z: 1, color: "ink", width: 2, fill: false };
let net: Simulation;

beforeEach(() => {
  net = simulate({ seed: 1, fakeTimers: true });
  simulated.connect = net.connect;
});
afterEach(() => net.end());

function join(name: string) {
  const [live, recorder, document] = [new Live(), new Recorder(), new Document()];
  const nothing = (): void => {};
  const events = {
    synced: nothing,
    participants: nothing,
    moved: nothing,
    transport: nothing,
    error: nothing,
    talking: nothing,
  };
  const options = { url: "ws://test/", room: "test", presence: { name }, transport: undefined };
  const session = new Session({ ...options, compress: "template", document, live, recorder, events });
  let restored = 0;
  document.listen({ restored: () => (restored += 1) });
  return { document, session, live, recorder, restored: () => restored };
}

test("two windows: operations, drags and strokes in progress arrive at the other", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  a.document.perform({ add: [["x", box]] });
  await net.settle();
  a.session.sendStroke({ id: "s", color: "red", width: 2, from: 0, points: [1, 2] });
  a.session.sendDrag({ id: "x", look: { x: 9 } });
  await net.run(200);
  expect(b.document.shapes.get("x")).toEqual(box);
  b.live.advance(performance.now());
  expect(b.live.strokeViews()).toHaveLength(1);
  expect(b.live.dragViews(performance.now() + 300, () => box).get("x")?.x).toBe(9);
});

test("the finished stroke ends the one in progress, and the end of a drag the drag", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  a.document.perform({ add: [["x", box]] });
  await net.settle();
  a.session.sendStroke({ id: "s", color: "red", width: 2, from: 0, points: [1, 2] });
  a.session.sendDrag({ id: "x", look: { x: 9 } });
  await net.run(200);
  const stroke = {
    kind: "stroke",
    x: 0,
    y: 0,
    w: 4,
    h: 4,
    z: 1,
    color: "red",
    width: 2,
    points: [1, 2, 4, 4],
  } as const;
  a.document.perform({ add: [["s", stroke]], set: [["x", { x: 9 }]] });
  await net.run(1000);
  b.live.advance(performance.now());
  b.live.advance(performance.now() + 1000);
  expect(b.live.isEmpty).toBe(true);
  expect(b.document.shapes.get("s")).toEqual(stroke);
});

test("a late joiner gets the drawing", async () => {
  const a = join("A");
  await net.settle();
  a.document.perform({ add: [["x", box]] });
  await net.settle();
  const late = join("late");
  await net.settle();
  expect(late.document.shapes.get("x")).toEqual(box);
});

test("a restarted server gets the drawing back, with strokes drawn in between", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  a.document.perform({ add: [["x", box]] });
  await net.settle();
  net.restartServer({ downFor: 1000 });
  await net.run(100);
  b.document.perform({ add: [["y", box]] });
  b.document.perform({ set: [["x", { x: 5 }]] });
  await net.settle();
  const late = join("late");
  await net.settle();
  for (const { document } of [a, b, late]) {
    expect([...document.shapes.keys()].sort()).toEqual(["x", "y"]);
    expect(document.shapes.get("x")?.x).toBe(5);
    expect(document.waiting).toBe(0);
  }
  // A participant that comes back when another one has restored the room need not wait for
  // anything.
  expect(a.restored() + b.restored()).toBeGreaterThan(0);
});

test("what was being drawn before a loss of the room is not drawn by whoever has that number afterwards", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  a.session.sendStroke({ id: "s", color: "red", width: 2, from: 0, points: [1, 2] });
  await net.run(200);
  const [{ sender } = { sender: 0 }] = b.live.strokeViews();
  expect(sender).toBe(a.session.room.self?.id);
  net.crashTab("a");
  net.partition("b", 3000);
  net.restartServer();
  const other = join("C");
  await net.until(() => b.session.room.participants.get(sender)?.presence?.name === "C");
  expect(other.session.room.self?.id).toBe(sender);
  expect(b.live.strokeViews()).toEqual([]);
});

test("the recorder writes each message after its length, and a table row for it", async () => {
  const [a, b] = [join("A"), join("B")];
  await net.settle();
  a.document.perform({ del: ["x"], add: [["x", box]] });
  await net.run(1);
  a.session.room.channel("pointer").send("[3,4]");
  await net.run(200);
  for (const { recorder } of [a, b]) {
    const trace = recorder.trace();
    const [first, second] = ['"shapes"', "[3,4]"];
    const length = new DataView(trace.buffer).getUint32(0, true);
    const texts = [trace.subarray(4, 4 + length), trace.subarray(8 + length)].map((part) =>
      new TextDecoder().decode(part),
    );
    // The pointer, which the operation does not hold up, may come first.
    expect(texts.sort().at(-1)).toBe(second);
    expect(texts[0]).toContain(first);
  }
  expect(a.recorder.table()).toMatch(
    /^time_ms\tsender\tchannel\tkind\n[\d.]+\t1\tdraw\tsent\n[\d.]+\t1\tpointer\tsent\n$/,
  );
  expect(b.recorder.table()).toMatch(/\t1\tdraw\treceived\n/);
  expect(b.recorder.table()).toMatch(/\t1\tpointer\treceived\n/);
});
