import { type Room, simulate, type Simulation, transaction } from "groupwire/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pick } from "../../common/random";
import { Document } from "../src/model/document";
import type { Box } from "../src/model/shapes";
import { act, sorted } from "./random";

const box: Box = { kind: "rectangle", x: 0, y: 0, w: 10, h: 10, z: 1, color: "ink", width: 2, fill: false };

let net: Simulation;

beforeEach(() => {
  net = simulate({ seed: 1 });
});
afterEach(() => net.end());

function open(room: Room = net.join()): Document {
  const document = new Document();
  document.open(room, "template");
  return document;
}

async function two(): Promise<[Document, Document]> {
  const documents: [Document, Document] = [open(), open()];
  await net.settle();
  return documents;
}

describe("document", () => {
  test("an own action is shown at once and confirmed by the order", async () => {
    const [a, b] = await two();
    a.perform({ add: [["x", box]] });
    expect(a.shapes.get("x")).toEqual(box);
    expect([a.waiting, b.shapes.size]).toEqual([1, 0]);
    await net.settle();
    expect(a.waiting).toBe(0);
    expect(b.shapes.get("x")).toEqual(box);
  });

  test("two changes of different fields are both kept; of the same field the later one wins", async () => {
    const [a, b] = await two();
    a.perform({ add: [["x", box]] });
    await net.settle();
    a.perform({ set: [["x", { color: "red", x: 5 }]] });
    await net.run(5);
    b.perform({ set: [["x", { width: 8, x: 7 }]] });
    expect(a.shapes.get("x")).toMatchObject({ color: "red", width: 2, x: 5 });
    await net.settle();
    expect(a.shapes.get("x")).toMatchObject({ color: "red", width: 8, x: 7 });
    expect(b.shapes.get("x")).toEqual(a.shapes.get("x"));
  });

  test("a change of a deleted object has no effect", async () => {
    const [a, b] = await two();
    a.perform({ add: [["x", box]] });
    await net.settle();
    a.perform({ del: ["x"] });
    await net.run(5);
    b.perform({ set: [["x", { x: 3 }]] });
    await net.settle();
    expect([a.shapes.size, b.shapes.size]).toEqual([0, 0]);
  });

  test("only fields that the kind of shape has, and that differ, are sent", async () => {
    const [a, b] = await two();
    a.perform({ add: [["x", { kind: "text", x: 0, y: 0, z: 1, color: "ink", size: 18, text: "hello" }]] });
    await net.settle();
    a.perform({ set: [["x", { fill: true, width: 4, color: "ink" }]] });
    expect(a.waiting).toBe(0);
    a.perform({ set: [["x", { fill: true, color: "red" }]] });
    await net.settle();
    expect(b.shapes.get("x")).toEqual({ kind: "text", x: 0, y: 0, z: 1, color: "red", size: 18, text: "hello" });
  });

  test("objects of others that are none are not shown", async () => {
    const [a] = await two();
    const other = net.join().channel("draw", { kind: "transaction", departures: true, priority: 200 });
    other.send(JSON.stringify(["o", 1, "shapes", "s", "x", { ...box, x: "left" }]));
    other.send(JSON.stringify(["o", 2, "shapes", "s", "y", box]));
    await net.settle();
    expect([...a.shapes.keys()]).toEqual(["y"]);
  });

  test("a large board is deleted and restored as a whole", async () => {
    const [a, b] = await two();
    const points = Array.from({ length: 400 }, (_, i) => i / 10);
    const stroke = { kind: "stroke", x: 0, y: 0, w: 40, h: 40, z: 1, color: "ink", width: 2, points } as const;
    const all = Array.from({ length: 150 }, (_, i) => [`${i}`, { ...stroke, z: i }] as const);
    a.perform({ add: all });
    await net.settle();
    expect(b.shapes.size).toBe(150);
    b.perform({ del: all.map(([id]) => id) });
    await net.settle();
    expect(a.shapes.size).toBe(0);
    b.undo();
    await net.settle();
    expect(a.shapes).toEqual(new Map(all));
  });
});

describe("undo", () => {
  test("reverts own actions only", async () => {
    const [a, b] = await two();
    a.perform({ add: [["x", box]] });
    await net.settle();
    b.perform({ set: [["x", { color: "red" }]] });
    a.perform({ set: [["x", { x: 50 }]] });
    await net.settle();
    a.undo();
    await net.settle();
    expect(b.shapes.get("x")).toMatchObject({ x: 0, color: "red" });
    a.redo();
    await net.settle();
    expect(b.shapes.get("x")).toMatchObject({ x: 50, color: "red" });
  });

  test("of a deletion restores the object, and redo deletes it again", async () => {
    const [a, b] = await two();
    a.perform({ add: [["x", box]] });
    a.perform({ del: ["x"] });
    a.undo();
    await net.settle();
    expect(b.shapes.get("x")).toEqual(box);
    a.redo();
    await net.settle();
    expect(b.shapes.size).toBe(0);
    a.undo();
    a.undo();
    await net.settle();
    expect([b.shapes.size, a.canUndo]).toEqual([0, false]);
  });

  test("skips steps that another participant has made impossible", async () => {
    const [a, b] = await two();
    a.perform({ add: [["x", box]] });
    a.perform({ add: [["y", box]] });
    a.perform({ set: [["y", { x: 9 }]] });
    await net.settle();
    b.perform({ del: ["y"] });
    await net.settle();
    a.undo();
    expect([...a.shapes.keys()]).toEqual([]);
  });
});

test("new objects can be drawn although somebody has put one at the highest position", async () => {
  const [a, b] = await two();
  const stranger = net.join().channel("draw", transaction({ departures: true }));
  stranger.send(JSON.stringify(["stranger", 1, "shapes", "s", "top", { ...box, z: 1e7 }]));
  await net.settle();
  expect(a.shapes.has("top")).toBe(true);
  a.perform({ add: [["x", { ...box, z: a.nextZ() }], ["y", { ...box, z: a.nextZ(1) }]] }); // prettier-ignore
  await net.settle();
  expect([...b.shapes.keys()].sort()).toEqual(["top", "x", "y"]);
});

test.each(Array.from({ length: 10 }, (_, seed) => seed + 1))("same order, same board: seed %i", async (seed) => {
  net.end();
  net = simulate({ seed, loss: 0.05, jitter: 30, snapshotAfter: 20 });
  const documents = Array.from({ length: 4 }, () => open());
  await net.settle();
  for (let step = 0; step < 100; step++) {
    act(pick(documents, net.random), net.random);
    if (net.random() < 0.4) await net.run(net.random() * 100);
    if (net.random() < 0.02) documents.push(open());
    if (net.random() < 0.02) net.restartServer();
  }
  await net.settle();
  const late = open();
  await net.settle();
  for (const document of documents) {
    expect(document.waiting).toBe(0);
    expect(sorted(document)).toEqual(sorted(late));
  }
});
