import { simulate, type Simulation, transaction } from "groupwire/testing";
import { afterEach, describe, expect, test } from "vitest";
import { pick } from "../../common/random";
import { Document } from "../src/model/document";
import { home, pieceCount } from "../src/model/spec";

interface Loss {
  readonly piece: number;
  readonly holder: string | undefined;
}

/** A window in a simulated room. */
class Window {
  readonly losses: Loss[] = [];
  readonly document: Document;
  restored = 0;

  constructor(
    net: Simulation,
    readonly by: string,
  ) {
    this.document = new Document("test", by);
    this.document.open(net.join({ name: by }));
    this.document.listen({
      lost: (piece, holder) => this.losses.push({ piece, holder }),
      restored: () => (this.restored += 1),
    });
  }
}

let net: Simulation;

afterEach(() => net.end());

function join(count: number): Window[] {
  return Array.from({ length: count }, (_, i) => new Window(net, `window${i}`));
}

async function two(): Promise<[Window, Window]> {
  net = simulate({ seed: 1 });
  const [a, b] = join(2) as [Window, Window];
  await net.settle();
  return [a, b];
}

describe("a document", () => {
  test("shows own moves at once, and moves of others when they are ordered", async () => {
    const [a, b] = await two();
    expect(a.document.grab(3)).toBe(true);
    a.document.drop(70, 80);
    expect(a.document.state.group(3)).toMatchObject({ x: 70, y: 80 });
    expect(a.document.waiting).toBe(2);
    await net.settle();
    expect(b.document.state.group(3)).toMatchObject({ x: 70, y: 80 });
    expect(a.document.waiting).toBe(0);
    expect(a.losses).toEqual([]);
  });

  test("the second grab in the order loses the piece, and its window learns who holds it", async () => {
    const [a, b] = await two();
    a.document.grab(3);
    await net.run(5);
    b.document.grab(3);
    expect(b.document.holding).toBe(3);
    await net.settle();
    expect(a.losses).toEqual([]);
    expect(b.losses).toEqual([{ piece: 3, holder: "window0" }]);
    expect(b.document.holding).toBeUndefined();
    // Dropping a piece that the window does not hold has no effect.
    b.document.drop(1, 1);
    a.document.drop(5, 5);
    await net.settle();
    expect(b.document.state.group(3)).toMatchObject({ x: 5, y: 5 });
    expect(b.document.state.group(3).holder).toBeUndefined();
  });

  test("a drop has no effect when another window's grab was first", async () => {
    const [a, b] = await two();
    a.document.grab(3);
    await net.run(5);
    b.document.grab(3);
    b.document.drop(900, 900);
    await net.settle();
    expect(b.document.state.group(3)).toMatchObject({ holder: "window0" });
    expect(b.document.state.group(3).x).not.toBe(900);
  });

  test("a held piece cannot be grabbed; a new puzzle releases it", async () => {
    const [a, b] = await two();
    a.document.grab(3);
    await net.settle();
    expect(b.document.grab(3)).toBe(false);
    b.document.perform({ start: { picture: "reef", seed: 1, columns: 8, rows: 6 } });
    await net.settle();
    expect(a.losses).toEqual([{ piece: 3, holder: undefined }]);
    expect(pieceCount(a.document.state.spec)).toBe(48);
  });

  test("a restarted server gets the puzzle back, with the moves made meanwhile", async () => {
    const [a, b] = await two();
    a.document.grab(0);
    a.document.drop(10, 10);
    await net.settle();
    net.restartServer({ downFor: 1000 });
    await net.run(100);
    b.document.grab(1);
    b.document.drop(20, 20);
    expect(b.document.state.group(0)).toMatchObject({ x: 10, y: 10 });
    await net.settle();
    expect(b.document.state.raw).toEqual(a.document.state.raw);
    expect(a.document.state.group(1)).toMatchObject({ x: 10, y: 10, pieces: [0, 1] });
    // A participant that comes back when another one has restored the room need not wait for
    // anything.
    expect(a.restored + b.restored).toBeGreaterThan(0);
  });

  test("what another program puts into a snapshot is not shown if it is no puzzle", async () => {
    net = simulate({ seed: 1, snapshotAfter: 1 });
    const hostile = net.join({ name: "hostile" });
    const channel = hostile.channel("puzzle", { kind: "transaction", departures: true, priority: 200 });
    hostile.provideSnapshot(() => '[1,[[[["rpuzzle",[["",{"spec":7}]]]],[]],[]]]', {
      part: "puzzle",
      channels: [channel],
    });
    channel.send('["x",1,"puzzle","a",{"game":0,"grab":1}]');
    await net.settle();
    const [late] = join(1) as [Window];
    await net.settle();
    expect(late.document.state.group(0).pieces).toEqual([0]);
  });
});

test.each(Array.from({ length: 10 }, (_, seed) => seed + 1))("same order, same puzzle: seed %i", async (seed) => {
  net = simulate({ seed, loss: 0.05, jitter: 30 });
  const windows = join(4);
  await net.settle();
  for (let step = 0; step < 120; step++) {
    act(pick(windows, net.random));
    if (net.random() < 0.5) await net.run(net.random() * 60);
    if (net.random() < 0.02) net.restartServer();
    if (net.random() < 0.02 && windows.length < 7) windows.push(new Window(net, `window${windows.length}`));
  }
  await net.settle();
  const late = new Window(net, "late");
  await net.settle();
  for (const { document, by } of windows) {
    expect(document.waiting).toBe(0);
    expect(document.state.raw).toEqual(late.document.state.raw);
    // A window that believes to hold a piece is its only holder.
    if (document.holding !== undefined) expect(document.state.group(document.holding).holder).toBe(by);
  }
});

test("the puzzle can be played although somebody has made a state of it that is none", async () => {
  const [a, b] = await two();
  const stranger = net.join().channel("puzzle", transaction({ departures: true }));
  const state = JSON.stringify([[[["rpuzzle", [["", { game: "x", groups: 5 }]]]], []], []]);
  stranger.send(JSON.stringify(["stranger", 1, 1, 100, 0, 1, state]));
  await net.settle();
  a.document.grab(3);
  a.document.drop(70, 80);
  await net.settle();
  expect(b.document.state.group(3)).toMatchObject({ x: 70, y: 80 });
});

/** Performs a random action that a user could do. */
function act({ document }: Window): void {
  const { state, holding } = document;
  const count = pieceCount(state.spec);
  const dice = net.random();
  if (holding !== undefined) {
    if (dice < 0.5) return;
    // Pieces are often dropped near the right place.
    const { x, y } = home(state.spec, 0);
    const [dx, dy] = [Math.round((net.random() - 0.5) * 60), Math.round((net.random() - 0.5) * 60)];
    document.drop(x + dx, y + dy);
  } else if (dice < 0.9) document.grab(Math.floor(net.random() * count));
  else if (dice < 0.97) document.perform({ free: pick(["window0", "window1", "window2"], net.random) });
  else if (dice < 0.98) {
    const seed = Math.floor(net.random() * 1000);
    document.perform({ start: { picture: "town", seed, columns: 2 + Math.floor(net.random() * 4), rows: 3 } });
  }
}
