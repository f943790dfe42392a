import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Document } from "../src/model/document";
import type { Box } from "../src/model/shapes";
import { Live } from "../src/net/live";
import { Pointers } from "../../common/net/pointers";
import { Recorder } from "../src/net/recorder";
import type { RestoredBy } from "../../common/net/restore";
import { Session } from "../src/net/session";
import { Hub } from "../../common/test/double";

vi.mock("groupwire", () => import("../../common/test/double"));

const box: Box = { kind: "rectangle", x: 0, y: 0, w: 10, h: 10, z: 1, color: "ink", width: 2, fill: false };
let hub: Hub;

beforeEach(() => {
  vi.useFakeTimers();
  hub = new Hub();
  vi.stubGlobal("parent", { groupwireHub: hub });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function join(name: string) {
  const restored: RestoredBy[] = [];
  const live = new Live();
  const pointers = new Pointers();
  const recorder = new Recorder();
  const document: Document = new Document((operation) => session.sendOperation(operation));
  const nothing = () => {};
  const events = {
    status: nothing,
    pending: nothing,
    synced: nothing,
    participants: nothing,
    moved: nothing,
    transport: nothing,
    incomplete: nothing,
    error: nothing,
    talking: nothing,
  };
  const session: Session = new Session({
    url: "ws://test/",
    room: "test",
    presence: { name },
    transport: undefined,
    compress: "template",
    document,
    live,
    pointers,
    recorder,
    events: { ...events, restored: (by) => restored.push(by) },
  });
  return { document, session, live, pointers, recorder, restored };
}

test("two windows: operations, pointers and strokes in progress arrive at the other", () => {
  const [a, b] = [join("A"), join("B")];
  vi.advanceTimersByTime(100);
  a.document.perform({ add: [["x", box]] });
  a.session.sendPointer({ x: 3, y: 4 });
  a.session.sendStroke({ id: "s", color: "red", width: 2, from: 0, points: [1, 2] });
  a.session.sendDrag({ id: "x", look: { x: 9 } });
  vi.advanceTimersByTime(100);
  expect(b.document.shapes.get("x")).toEqual(box);
  expect(b.pointers.views(performance.now() + 100)).toMatchObject([{ x: 3, y: 4 }]);
  b.live.advance(performance.now());
  expect(b.live.strokeViews()).toHaveLength(1);
  expect(b.live.dragViews(performance.now() + 300, () => box).get("x")?.x).toBe(9);
  expect(a.pointers.views(performance.now())).toEqual([]);
});

test("a late joiner gets the drawing", () => {
  const a = join("A");
  vi.advanceTimersByTime(100);
  a.document.perform({ add: [["x", box]] });
  vi.advanceTimersByTime(100);
  const late = join("late");
  vi.advanceTimersByTime(100);
  expect(late.document.shapes.get("x")).toEqual(box);
});

test("a restarted server gets the drawing back, with strokes drawn in between", () => {
  const [a, b] = [join("A"), join("B")];
  vi.advanceTimersByTime(100);
  a.document.perform({ add: [["x", box]] });
  vi.advanceTimersByTime(100);
  hub.stop();
  b.document.perform({ add: [["y", box]] });
  b.document.perform({ set: [["x", { x: 5 }]] });
  vi.advanceTimersByTime(1000);
  hub.start();
  vi.advanceTimersByTime(5000);
  const late = join("late");
  vi.advanceTimersByTime(100);
  for (const { document } of [a, b, late]) {
    expect([...document.shapes.keys()].sort()).toEqual(["x", "y"]);
    expect(document.shapes.get("x")?.x).toBe(5);
    expect(document.waiting).toBe(0);
  }
  expect([...a.restored, ...b.restored].sort()).toEqual(["another", "this"]);
});

test("the recorder writes each message after its length, and a table row for it", () => {
  const [a, b] = [join("A"), join("B")];
  vi.advanceTimersByTime(100);
  a.session.sendPointer({ x: 3, y: 4 });
  vi.advanceTimersByTime(100);
  const text = '{"x":3,"y":4}';
  for (const { recorder } of [a, b]) {
    const trace = recorder.trace();
    expect(new DataView(trace.buffer).getUint32(0, true)).toBe(text.length);
    expect(new TextDecoder().decode(trace.subarray(4))).toBe(text);
  }
  expect(a.recorder.table()).toMatch(/^time_ms\tsender\tchannel\tkind\n[\d.]+\t1\tpointer\tsent\n$/);
  expect(b.recorder.table()).toMatch(/\t1\tpointer\treceived\n$/);
});
