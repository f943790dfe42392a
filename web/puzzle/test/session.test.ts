import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pointers } from "../../common/net/pointers";
import type { RestoredBy } from "../../common/net/restore";
import { Hub } from "../../common/test/double";
import { Document } from "../src/model/document";
import { Live } from "../src/net/live";
import { Meter } from "../src/net/meter";
import { Session } from "../src/net/session";

vi.mock("groupwire", () => import("../../common/test/double"));

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
  const [live, pointers, meter] = [new Live(), new Pointers(), new Meter()];
  const document: Document = new Document("test", (operation) => session.sendOperation(operation));
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
    restored: (by: RestoredBy) => restored.push(by),
  };
  const session: Session = new Session({
    url: "ws://test/",
    room: "test",
    name,
    transport: undefined,
    document,
    live,
    pointers,
    meter,
    events,
  });
  return { document, session, live, pointers, meter, restored };
}

test("two windows: drags, drops and pointers arrive and are measured", () => {
  const [a, b] = [join("A"), join("B")];
  vi.advanceTimersByTime(100);
  b.meter.sample(b.session.stats, 0);
  a.document.grab(3);
  a.session.sendDrag({ game: 0, piece: 3, x: 9, y: 8, gx: 1, gy: 1 });
  a.session.sendPointer({ x: 3, y: 4 });
  vi.advanceTimersByTime(100);
  expect(b.document.state.group(3).holder).toBe(a.document.by);
  expect(b.session.participantOf(a.document.by)).toBe(a.session.self?.id);
  expect(b.live.views(performance.now() + 300)).toMatchObject([{ piece: 3, x: 9, y: 8 }]);
  expect(b.pointers.views(performance.now() + 100)).toMatchObject([{ x: 3, y: 4 }]);
  a.document.drop(30, 40);
  vi.advanceTimersByTime(100);
  expect(b.live.views(performance.now())).toEqual([]);
  expect(b.document.state.group(3)).toMatchObject({ x: 30, y: 40, holder: undefined });
  b.meter.sample(b.session.stats, 1000);
  expect(b.meter.figures.latency).toBe(40);
});

test("a late joiner gets the puzzle", () => {
  const a = join("A");
  vi.advanceTimersByTime(100);
  a.document.perform({ start: { picture: "reef", seed: 4, columns: 8, rows: 6 } });
  a.document.grab(0);
  a.document.drop(5, 5);
  vi.advanceTimersByTime(100);
  const late = join("late");
  vi.advanceTimersByTime(100);
  expect(late.document.snapshot()).toBe(a.document.snapshot());
});

test("the pieces of a participant who has left are released", () => {
  const [a, b] = [join("A"), join("B")];
  vi.advanceTimersByTime(100);
  b.document.grab(3);
  vi.advanceTimersByTime(20_000);
  expect(a.document.state.group(3).holder).toBe(b.document.by);
  hub.leave([...hub.members].find((member) => member.id === b.session.self?.id) ?? fail());
  vi.advanceTimersByTime(10_000);
  expect(a.document.state.group(3).holder).toBeUndefined();
});

test("a restarted server gets the puzzle back, with the moves made meanwhile", () => {
  const [a, b] = [join("A"), join("B")];
  vi.advanceTimersByTime(100);
  a.document.grab(3);
  a.document.drop(7, 7);
  vi.advanceTimersByTime(100);
  hub.stop();
  b.document.grab(4);
  b.document.drop(700, 700);
  vi.advanceTimersByTime(1000);
  hub.start();
  vi.advanceTimersByTime(5000);
  const late = join("late");
  vi.advanceTimersByTime(100);
  for (const { document } of [a, b, late]) {
    expect(document.state.group(3)).toMatchObject({ x: 7, y: 7 });
    expect(document.state.group(4)).toMatchObject({ x: 700, y: 700 });
    expect(document.waiting).toBe(0);
  }
  expect([...a.restored, ...b.restored].sort()).toEqual(["another", "this"]);
});

function fail(): never {
  throw new Error("nobody to leave");
}
