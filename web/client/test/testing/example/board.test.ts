/** Twenty tests of the application in board.ts, as its author may write them. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forSeeds, simulate, type Room, type Simulation, type SimulationOptions } from "../../../src/testing.js";
import { Board, type Person } from "./board.js";

vi.setConfig({ testTimeout: 300_000 });

let net: Simulation;
beforeEach(() => (net = simulate({ seed: 5, loss: 0.05, jitter: 20, durability: "local" })));
afterEach(() => net.end());

/** A simulation with other options than most tests have. */
function use(options: SimulationOptions): void {
  net.end();
  net = simulate({ seed: 5, ...options });
}

function join(name: string): { readonly room: Room<Person>; readonly board: Board } {
  const room = net.join<Person>({ name, presence: { name } });
  return { room, board: new Board(room, net.random) };
}

const texts = ({ todos }: Board): string[] => todos.map(({ text, done }) => `${text}${done ? " ✓" : ""}`);

function find(board: Board, text: string): Board["todos"][number] {
  const todo = board.todos.find((todo) => todo.text === text);
  if (!todo) throw new Error(`no ${text}`);
  return todo;
}

test("what one adds, the others see", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  ada.board.add("milk");
  await net.settle();
  expect(texts(bo.board)).toEqual(["milk"]);
});

test("two who add at once see the same order", () =>
  forSeeds(10, async (seed) => {
    use({ seed, loss: 0.2, jitter: 50 });
    const [ada, bo] = [join("Ada"), join("Bo")];
    ada.board.add("milk");
    bo.board.add("bread");
    await net.settle();
    expect(texts(ada.board)).toHaveLength(2);
    expect(texts(ada.board)).toEqual(texts(bo.board));
  }));

test("done is done for everybody", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  ada.board.add("milk");
  await net.settle();
  bo.board.done(find(bo.board, "milk"));
  await net.settle();
  expect(texts(ada.board)).toEqual(["milk ✓"]);
});

test("what one removes stays away, though another marks it as done at the same time", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  ada.board.add("milk");
  await net.settle();
  ada.board.remove(find(ada.board, "milk"));
  bo.board.done(find(bo.board, "milk"));
  await net.settle();
  expect([texts(ada.board), texts(bo.board)]).toEqual([[], []]);
});

test("who comes later sees everything", async () => {
  const ada = join("Ada");
  ada.board.add("milk");
  ada.board.say("hello?");
  await net.settle();
  const late = join("Zoe");
  await net.settle();
  expect([texts(late.board), late.board.chat]).toEqual([["milk"], ["hello?"]]);
});

test("who comes later sees everything of a long list, from a snapshot", async () => {
  use({ snapshotAfter: 10 });
  const ada = join("Ada");
  for (let at = 0; at < 30; at += 1) {
    ada.board.add(`${at}`);
    await net.run(50);
  }
  await net.settle();
  const late = join("Zoe");
  const snapshot = vi.fn();
  late.room.on("snapshot", snapshot);
  await net.settle();
  expect(snapshot).toHaveBeenCalledOnce();
  expect(texts(late.board)).toEqual(texts(ada.board));
});

test("the label says whether it is saved", async () => {
  const ada = join("Ada");
  expect(ada.board.label).toBe("Offline");
  await net.settle();
  ada.board.add("milk");
  expect(ada.board.label).toBe("Saving…");
  await net.settle();
  expect(ada.board.label).toBe("Saved");
});

test("without a store it is only sent", async () => {
  use({});
  const ada = join("Ada");
  ada.board.add("milk");
  await net.settle();
  expect(ada.board.label).toBe("Sent");
});

test("what was written without a network comes when it is there again", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  await net.settle();
  net.partition("Ada");
  ada.board.add("written in a tunnel");
  await net.run(8000);
  expect(ada.board.label).toBe("Offline");
  expect(texts(bo.board)).toEqual([]);
  net.heal("Ada");
  await net.settle();
  expect(texts(bo.board)).toEqual(["written in a tunnel"]);
  expect(ada.board.label).toBe("Saved");
});

test("everybody has a name", async () => {
  const [ada] = [join("Ada"), join("Bo"), join("Cy")];
  await net.settle();
  expect(ada.board.names).toEqual(["Bo", "Cy"]);
});

test("a new name is seen", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  await net.settle();
  bo.board.rename("Bob");
  await net.settle();
  expect(ada.board.names).toEqual(["Bob"]);
});

test("who crashes is away for ten seconds, then gone", async () => {
  const [ada] = [join("Ada"), join("Bo")];
  await net.settle();
  net.crashTab("Bo");
  await net.run(1000);
  expect(ada.board.names).toEqual(["Bo (away)"]);
  await net.run(10_000);
  expect(ada.board.names).toEqual([]);
});

test("who closes the page is gone at once, and what was added last is there", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  await net.settle();
  bo.board.add("last");
  net.closeTab("Bo");
  await net.run(1000);
  expect([ada.board.names, texts(ada.board)]).toEqual([[], ["last"]]);
});

test("a pointer ends where it stopped, though the network loses a third", async () => {
  use({ loss: 0.33 });
  const [ada, bo] = [join("Ada"), join("Bo")];
  await net.settle();
  for (let x = 0; x <= 50; x += 1) {
    ada.board.move({ x, y: x });
    await net.run(16);
  }
  await net.settle();
  expect(bo.board.points).toEqual([{ x: 50, y: 50 }]);
});

test("a pointer is not drawn more often than 25 times a second", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  await net.settle();
  for (let x = 0; x < 500; x += 1) {
    ada.board.move({ x, y: 0 });
    await net.run(4);
  }
  await net.settle();
  expect(bo.board.drawn).toBeGreaterThan(25);
  expect(bo.board.drawn).toBeLessThanOrEqual(52);
});

test("no pointer stays behind when its owner is gone", async () => {
  const [ada, bo] = [join("Ada"), join("Bo")];
  bo.board.move({ x: 1, y: 2 });
  await net.settle();
  expect(ada.board.points).toEqual([{ x: 1, y: 2 }]);
  net.closeTab("Bo");
  await net.settle();
  expect(ada.board.points).toEqual([]);
});

test("a chat has one order", async () => {
  const people = ["Ada", "Bo", "Cy"].map(join);
  for (let line = 0; line < 5; line += 1) {
    people.forEach(({ board }, at) => board.say(`${at}: ${line}`));
    await net.run(30);
  }
  await net.settle();
  const chats = people.map(({ board }) => board.chat.join());
  expect(new Set(chats).size).toBe(1);
  expect(people[0]?.board.chat).toHaveLength(15);
});

test("a guest reads, and may not write", async () => {
  const ada = join("Ada");
  // As on a server, whoever opens a channel first has to have the right to set its QoS.
  await net.settle();
  const guest = new Board(net.join({ name: "guest", rights: { publish: [] } }), net.random);
  ada.board.say("welcome");
  await net.settle();
  expect(guest.chat).toEqual(["welcome"]);
  expect(() => guest.say("let me")).toThrow("not allowed");
});

test("a vote counts once, though the server is killed at any moment", () =>
  forSeeds(20, async (seed) => {
    use({ seed, durability: "local", jitter: 20 });
    const [ada, bo] = [join("Ada"), join("Bo")];
    await net.settle();
    ada.board.vote("yes");
    bo.board.vote("yes");
    await net.run(net.random() * 100);
    net.restartServer({ downFor: 300 });
    await net.settle();
    expect([ada.board.votes("yes"), bo.board.votes("yes")]).toEqual([2, 2]);
  }));

test("everybody has the same board in the end, whatever happens", () =>
  forSeeds(20, async (seed) => {
    use({ seed, loss: 0.1, jitter: 40, snapshotAfter: 20 });
    const people = ["Ada", "Bo", "Cy"].map(join);
    await net.settle();
    for (let step = 0; step < 20; step += 1) {
      const person = people[Math.floor(net.random() * people.length)];
      if (net.random() < 0.8) person?.board.add(`${step}`);
      else person?.board.todos.slice(0, 1).forEach((todo) => person.board.done(todo));
      if (step === 7) net.partition("Bo", 6000);
      // The room is stored only in memory, so it is lost, and the participants restore it.
      if (step === 14) net.restartServer();
      await net.run(net.random() * 200);
    }
    await net.settle();
    const boards = people.map(({ board }) => JSON.stringify([board.todos, board.chat]));
    expect(new Set(boards).size).toBe(1);
    expect(people[0]?.board.todos.length).toBeGreaterThan(5);
  }));
