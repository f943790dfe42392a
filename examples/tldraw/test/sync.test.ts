import { afterEach, expect, test } from "vitest";
import { forSeeds, simulate, type Simulation, type SimulationOptions } from "groupwire/testing";
import { Window } from "./window";

let net: Simulation | undefined;
afterEach(() => net?.end());

function start(options: SimulationOptions = {}): Simulation {
  return (net = simulate({ seed: 1, fakeTimers: true, ...options }));
}

async function open(net: Simulation, ...names: string[]): Promise<Window[]> {
  const windows = names.map((name) => new Window(net, name));
  await net.settle();
  return windows;
}

test("shapes are alike in all windows, also in one that comes late", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  ada.draw("a", 1);
  bo.draw("b", 2);
  await net.settle();
  expect(ada.shapes).toEqual({ a: { x: 1, color: "black" }, b: { x: 2, color: "black" } });
  const [cy] = (await open(net, "Cy")) as [Window];
  expect(cy.document).toBe(ada.document);
  cy.remove("a");
  await net.settle();
  expect(Object.keys(ada.shapes)).toEqual(["b"]);
  expect(ada.document).toBe(bo.document);
});

test("two who change different properties of one shape at once keep both changes", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  ada.draw("a", 1);
  await net.settle();
  ada.change("a", { x: 50 });
  bo.change("a", { props: { color: "red" } });
  await net.settle();
  expect([ada.shapes.a, bo.shapes.a]).toEqual(Array(2).fill({ x: 50, color: "red" }));
});

test("what is drawn during a partition is there after it", async () => {
  const net = start({ durability: "local" });
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  net.partition(bo.room.room, 8000);
  bo.draw("b", 2);
  ada.draw("a", 1);
  await net.run(3000);
  expect([Object.keys(ada.shapes), Object.keys(bo.shapes)]).toEqual([["a"], ["b"]]);
  net.restartServer();
  await net.settle();
  expect(Object.keys(ada.shapes).toSorted()).toEqual(["a", "b"]);
  expect(bo.document).toBe(ada.document);
});

test("changes of others are not the user's own: a listener for own changes does not hear of them", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  let own = 0;
  bo.store.listen(() => (own += 1), { source: "user", scope: "document" });
  ada.draw("a", 1);
  await net.settle();
  expect(bo.shapes).toHaveProperty("a");
  expect(own).toBe(0);
});

test("a record that the store refuses is left out, and the others arrive", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  ada.room.shared.batch(() => {
    ada.room.shared.records.set("shape:bad", { id: "shape:bad", typeName: "shape", x: "no number" });
  });
  ada.draw("a", 1);
  await net.settle();
  expect(bo.refused).toContain("shape:bad");
  expect(Object.keys(bo.shapes)).toEqual(["a"]);
});

test("documents are alike in the end, whatever the network does", () =>
  forSeeds(15, async (seed) => {
    const net = simulate({ seed, fakeTimers: true, loss: 0.1, jitter: 40, durability: "local" });
    const windows = await open(net, "Ada", "Bo", "Cy");
    const some = (limit: number) => Math.floor(net.random() * limit);
    for (let step = 0; step < 40; step += 1) {
      const window = windows[some(3)] as Window;
      const id = "abcdef"[some(6)] as string;
      const [has, kind] = [id in window.shapes, some(4)];
      if (!has) window.draw(id, some(1000));
      else if (kind === 0) window.remove(id);
      else if (kind === 1) window.change(id, { x: some(1000) });
      else window.change(id, { props: { color: ["red", "blue", "green"][some(3)] } });
      if (some(12) === 0) net.partition(window.room.room, 1000 + some(6000));
      if (some(20) === 0) net.restartServer();
      await net.run(some(300));
    }
    await net.settle();
    expect(windows[1]?.document).toBe(windows[0]?.document);
    expect(windows[2]?.document).toBe(windows[0]?.document);
    net.end();
  }));
