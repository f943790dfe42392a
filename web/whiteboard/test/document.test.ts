import { describe, expect, test } from "vitest";
import { Document } from "../src/model/document";
import { parseOperation, type Operation } from "../src/model/operations";
import type { Box } from "../src/model/shapes";
import { pick, seeded } from "../../common/random";
import { act, sorted } from "./random";

const box: Box = { kind: "rectangle", x: 0, y: 0, w: 10, h: 10, z: 1, color: "ink", width: 2, fill: false };

/** The room's order: operations that were sent wait in `sent` until they are delivered to all documents. */
class Order {
  readonly sent: Operation[] = [];
  readonly log: Operation[] = [];
  readonly replicas: Document[] = [];

  join(): Document {
    const replica = new Document((operation) => this.sent.push(operation));
    for (const operation of this.log) replica.deliver(operation);
    this.replicas.push(replica);
    return replica;
  }

  deliver(count = this.sent.length): void {
    for (const operation of this.sent.splice(0, count)) {
      // As it travels on the wire.
      const arrived = parseOperation(JSON.parse(JSON.stringify(operation)));
      if (!arrived) throw new Error("an own operation was not understood");
      this.log.push(arrived);
      for (const replica of this.replicas) replica.deliver(arrived);
    }
  }
}

describe("document", () => {
  test("an own action is shown at once and confirmed by the order", () => {
    const order = new Order();
    const a = order.join();
    const b = order.join();
    a.perform({ add: [["x", box]] });
    expect(a.shapes.get("x")).toEqual(box);
    expect(a.waiting).toBe(1);
    expect(a.snapshot()).not.toContain("rectangle");
    expect(b.shapes.size).toBe(0);
    order.deliver();
    expect(a.waiting).toBe(0);
    expect(b.shapes.get("x")).toEqual(box);
    expect(a.snapshot()).toBe(b.snapshot());
  });

  test("two changes of different fields are both kept; of the same field the later one wins", () => {
    const order = new Order();
    const [a, b] = [order.join(), order.join()];
    a.perform({ add: [["x", box]] });
    order.deliver();
    a.perform({ set: [["x", { color: "red", x: 5 }]] });
    b.perform({ set: [["x", { width: 8, x: 7 }]] });
    expect(a.shapes.get("x")).toMatchObject({ color: "red", width: 2, x: 5 });
    order.deliver();
    expect(a.shapes.get("x")).toMatchObject({ color: "red", width: 8, x: 7 });
    expect(b.shapes.get("x")).toEqual(a.shapes.get("x"));
  });

  test("an operation that arrives twice is applied once", () => {
    const order = new Order();
    const [a, b] = [order.join(), order.join()];
    a.perform({ add: [["x", box]] });
    a.perform({ set: [["x", { x: 1 }]] });
    order.deliver();
    b.perform({ set: [["x", { x: 2 }]] });
    order.deliver();
    const again = order.log[1];
    if (again) order.sent.push(again);
    order.deliver();
    expect(a.shapes.get("x")?.x).toBe(2);
    expect(b.shapes.get("x")?.x).toBe(2);
  });

  test("a change of a deleted object has no effect", () => {
    const order = new Order();
    const [a, b] = [order.join(), order.join()];
    a.perform({ add: [["x", box]] });
    order.deliver();
    a.perform({ del: ["x"] });
    b.perform({ set: [["x", { x: 3 }]] });
    order.deliver();
    expect(a.shapes.size).toBe(0);
    expect(b.shapes.size).toBe(0);
  });

  test("a snapshot replaces the confirmed state and keeps pending operations", () => {
    const order = new Order();
    const a = order.join();
    a.perform({ add: [["x", box]] });
    order.deliver();
    const late = new Document(() => {});
    late.perform({ add: [["y", { ...box, z: 2 }]] });
    late.replace(a.snapshot());
    expect([...late.shapes.keys()].sort()).toEqual(["x", "y"]);
    expect(late.snapshot()).toBe(a.snapshot());
  });

  test("a snapshot that contains an own pending operation confirms it", () => {
    const order = new Order();
    const [a, b] = [order.join(), order.join()];
    order.replicas.shift();
    a.perform({ add: [["x", box]] });
    order.deliver();
    expect(a.waiting).toBe(1);
    a.replace(b.snapshot());
    expect(a.waiting).toBe(0);
    expect(a.shapes.get("x")).toEqual(box);
  });

  test("an invalid operation is ignored, whole or in part", () => {
    expect(parseOperation("text")).toBeUndefined();
    expect(parseOperation({ by: "a", n: -1 })).toBeUndefined();
    const odd = { by: "a", n: 1, add: [["x", { ...box, x: "left" }], ["y", box], 7], del: [null, "z"] };
    expect(parseOperation(odd)).toEqual({ by: "a", n: 1, add: [["y", box]], del: ["z"] });
  });
});

describe("undo", () => {
  test("reverts own actions only", () => {
    const order = new Order();
    const [a, b] = [order.join(), order.join()];
    a.perform({ add: [["x", box]] });
    order.deliver();
    b.perform({ set: [["x", { color: "red" }]] });
    a.perform({ set: [["x", { x: 50 }]] });
    order.deliver();
    a.undo();
    order.deliver();
    expect(b.shapes.get("x")).toMatchObject({ x: 0, color: "red" });
    a.redo();
    order.deliver();
    expect(b.shapes.get("x")).toMatchObject({ x: 50, color: "red" });
  });

  test("of a deletion restores the object, and redo deletes it again", () => {
    const order = new Order();
    const [a, b] = [order.join(), order.join()];
    a.perform({ add: [["x", box]] });
    a.perform({ del: ["x"] });
    a.undo();
    order.deliver();
    expect(b.shapes.get("x")).toEqual(box);
    a.redo();
    order.deliver();
    expect(b.shapes.size).toBe(0);
    a.undo();
    a.undo();
    order.deliver();
    expect(b.shapes.size).toBe(0);
    expect(a.canUndo).toBe(false);
  });

  test("skips steps that another participant has made impossible", () => {
    const order = new Order();
    const [a, b] = [order.join(), order.join()];
    a.perform({ add: [["x", box]] });
    a.perform({ add: [["y", box]] });
    a.perform({ set: [["y", { x: 9 }]] });
    order.deliver();
    b.perform({ del: ["y"] });
    order.deliver();
    expect(a.undo()).toMatchObject({ del: ["x"] });
  });
});

describe("convergence", () => {
  test.each(Array.from({ length: 60 }, (_, i) => i))("same order, same board: seed %i", (seed) => {
    const random = seeded(seed);
    const order = new Order();
    for (let i = 0; i < 4; i++) order.join();
    for (let step = 0; step < 120; step++) {
      act(pick(order.replicas, random), random);
      if (random() < 0.4) order.deliver(Math.floor(random() * 5));
      if (random() < 0.02) order.join();
      if (random() < 0.05) pick(order.replicas, random).replace(pick(order.replicas, random).snapshot());
    }
    order.deliver();
    const late = order.join();
    for (const replica of order.replicas) {
      expect(replica.waiting).toBe(0);
      expect(replica.snapshot()).toBe(late.snapshot());
      expect(sorted(replica)).toEqual(sorted(late));
    }
  });
});
