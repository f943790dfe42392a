/**
 * Tables in simulated rooms: bad networks, ends of servers and pages, and cheats that send what
 * they like.
 */

import type { Room } from "groupwire";
import { forSeeds, simulate, transaction, type Simulation } from "groupwire/testing";
import { expect, test } from "vitest";
import { isFree, type Game } from "../src/game";
import type { Memory } from "../src/secret";
import { Table, type Person } from "../src/table";

/** The storage of one tab. */
function memory(): Memory {
  const entries = new Map<string, string>();
  return {
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
  };
}

interface Tab {
  readonly name: string;
  readonly room: Room<Person>;
  readonly table: Table;
  readonly memory: Memory;
}

function open(net: Simulation, name: string, kept = memory()): Tab {
  const room = net.join<Person>({ name, presence: { name } });
  return { name, room, memory: kept, table: new Table(room, kept, net.random) };
}

/** Ada plays red, Bo yellow, Cy watches. */
async function seated(net: Simulation): Promise<[ada: Tab, bo: Tab, cy: Tab]> {
  const tabs: [Tab, Tab, Tab] = [open(net, "Ada"), open(net, "Bo"), open(net, "Cy")];
  await net.settle();
  tabs[0].table.sit(0);
  await net.settle();
  tabs[1].table.sit(1);
  await net.settle();
  return tabs;
}

async function drop(net: Simulation, { table }: Tab, column: number): Promise<void> {
  expect(table.isMyMove).toBe(true);
  table.drop(column);
  await net.settle();
}

const movesOf = (tabs: readonly Tab[]): (readonly number[])[] => tabs.map(({ table }) => table.game.moves);

test("two play in turn, and a third one watches", async () => {
  const net = simulate({ seed: 1 });
  const [ada, bo, cy] = await seated(net);
  expect([ada.table.side, bo.table.side, cy.table.side]).toEqual([0, 1, undefined]);
  await drop(net, ada, 3);
  expect([ada.table.isMyMove, bo.table.isMyMove, cy.table.isMyMove]).toEqual([false, true, false]);
  ada.table.drop(4);
  cy.table.drop(4);
  await net.settle();
  await drop(net, bo, 2);
  expect(movesOf([ada, bo, cy])).toEqual([
    [3, 2],
    [3, 2],
    [3, 2],
  ]);
  expect(ada.table.watchers).toEqual(["Cy"]);
  net.end();
});

test("of two who take a seat at once, one gets it", async () => {
  const net = simulate({ seed: 2, jitter: 40 });
  const tabs = [open(net, "Ada"), open(net, "Bo")];
  await net.settle();
  for (const { table } of tabs) table.sit(0);
  expect(tabs.map(({ table }) => table.side)).toEqual([0, 0]);
  await net.settle();
  const sides = tabs.map(({ table }) => table.side);
  expect(sides.filter((side) => side === 0)).toHaveLength(1);
  const [first, second] = tabs.map(({ table }) => table.game.seats[0]?.name);
  expect(first).toBe(second);
  net.end();
});

test("a page that is loaded anew keeps its seat and its turn", async () => {
  const net = simulate({ seed: 3 });
  const [ada, bo, cy] = await seated(net);
  await drop(net, ada, 3);
  net.closeTab("Bo");
  await net.settle();
  const { seats } = ada.table.game;
  expect(seats[1] && ada.table.whereabouts(seats[1])).toBe("gone");
  const again = open(net, "Bo again", bo.memory);
  await net.settle();
  expect(again.table.side).toBe(1);
  const seat = cy.table.game.seats[1];
  expect(seat && cy.table.whereabouts(seat)).toBe("here");
  await drop(net, again, 3);
  net.closeTab("Ada");
  const back = open(net, "Ada again", ada.memory);
  await net.settle();
  await drop(net, back, 0);
  expect(movesOf([back, again, cy])).toEqual([
    [3, 3, 0],
    [3, 3, 0],
    [3, 3, 0],
  ]);
  net.end();
});

test("two tabs with the same secret do not fight for the seat", async () => {
  const net = simulate({ seed: 4 });
  const [ada, bo] = await seated(net);
  const copy = open(net, "copy", ada.memory);
  await net.settle();
  expect(copy.table.side).toBe(0);
  await drop(net, copy, 5);
  await drop(net, bo, 5);
  expect(bo.table.game.moves).toEqual([5, 5]);
  net.end();
});

test("a player who has left loses the seat when the other one wants that", async () => {
  const net = simulate({ seed: 5, away: 1000 });
  const [ada, bo, cy] = await seated(net);
  await drop(net, ada, 3);
  net.crashTab("Bo");
  await net.run(11_000);
  const seat = ada.table.game.seats[1];
  expect(seat && ada.table.whereabouts(seat)).toBe("gone");
  cy.table.clear();
  await net.settle();
  expect(cy.table.game.seats[1]?.name).toBe("Bo");
  ada.table.clear();
  await net.settle();
  cy.table.sit(1);
  await net.settle();
  expect(cy.table.game).toMatchObject({ round: 2, moves: [], first: 1, seats: [{ name: "Ada" }, { name: "Cy" }] });
  await drop(net, cy, 0);
  const back = open(net, "Bo again", bo.memory);
  await net.settle();
  expect(back.table.side).toBe(undefined);
  net.end();
});

test("a game goes on after the server has lost the room", async () => {
  const net = simulate({ seed: 6, durability: "memory" });
  const [ada, bo, cy] = await seated(net);
  await drop(net, ada, 3);
  net.restartServer();
  await net.settle();
  await drop(net, bo, 4);
  net.restartServer({ downFor: 2000 });
  await net.settle();
  await drop(net, ada, 3);
  expect(movesOf([ada, bo, cy])).toEqual([
    [3, 4, 3],
    [3, 4, 3],
    [3, 4, 3],
  ]);
  net.end();
});

test("a player whom the server has forgotten keeps the seat", async () => {
  const net = simulate({ seed: 9, away: 1000, maxFormer: 0 });
  const [ada, bo, cy] = await seated(net);
  const before = ada.room.self?.id;
  net.partition("Ada", 15_000);
  await net.run(9000);
  const seat = bo.table.game.seats[0];
  expect(seat && bo.table.whereabouts(seat)).toBe("gone");
  await net.settle();
  expect(ada.room.self?.id).not.toBe(before);
  await drop(net, ada, 3);
  await drop(net, bo, 3);
  expect(movesOf([ada, bo, cy])).toEqual([
    [3, 3],
    [3, 3],
    [3, 3],
  ]);
  net.end();
});

/**
 * A malicious program, which knows what every participant receives. It sends operations of any
 * author.
 */
class Cheat {
  readonly #channel;
  #count = 1000;

  constructor(readonly room: Room) {
    this.#channel = room.channel("shared", transaction({ departures: true }));
    this.#channel.on("message", () => {});
  }

  send(author: string, action: object): void {
    this.#channel.send(JSON.stringify([author, (this.#count += 1), "game", "a", action]));
  }

  turn(verb: string): void {
    this.#channel.send(JSON.stringify(["cheat", (this.#count += 1), "turns", verb]));
  }
}

test("a cheat cannot play for others, whatever it says it is, and cannot stop the game", async () => {
  const net = simulate({ seed: 7 });
  const heard: string[] = [];
  const room = net.join({ name: "cheat" });
  room.channel("shared", transaction({ departures: true })).on("message", ({ data }) => void heard.push(String(data)));
  const cheat = new Cheat(room);
  const [ada, bo, cy] = await seated(net);
  await drop(net, ada, 3);
  const actions = heard.map((text) => JSON.parse(text) as [string, number, unknown]);
  const authors = [...new Set(actions.map(([author]) => author))];
  expect(authors).toHaveLength(2);

  cheat.turn("j");
  const seat = bo.table.game.seats[1];
  for (const author of [...authors, "cheat"])
    for (const proof of ["", seat?.lock, "guess"])
      cheat.send(author, { do: "drop", side: 1, round: 1, at: 1, column: 0, proof, lock: "0".repeat(64) });
  for (const [author, , content] of actions.filter(([, , content]) => Array.isArray(content)))
    for (const [, , action] of content as [string, string, object][]) if (action) cheat.send(author, action);
  await net.settle();
  expect(movesOf([ada, bo, cy])).toEqual([[3], [3], [3]]);
  // An author whose numbers the cheat has used up cannot do anything more: its page has to be
  // loaded anew.
  net.end();
});

test("a cheat that stands in the line of turns does not stop the game", async () => {
  const net = simulate({ seed: 8 });
  const cheat = new Cheat(net.join({ name: "cheat" }));
  await net.settle();
  cheat.turn("j");
  const [ada, bo, cy] = await seated(net);
  await drop(net, ada, 1);
  await drop(net, bo, 2);
  await drop(net, ada, 1);
  expect(movesOf([ada, bo, cy])).toEqual([
    [1, 2, 1],
    [1, 2, 1],
    [1, 2, 1],
  ]);
  net.end();
});

test("all see the same game, whatever the network does", () =>
  forSeeds(20, async (seed) => {
    const net = simulate({ seed, loss: 0.1, jitter: 60, durability: "local", snapshotAfter: 5 });
    const [ada, bo, cy] = await seated(net);
    let tabs = [ada, bo, cy];
    for (let move = 0; move < 12 && tabs[0]?.table.game.winner === null; move += 1) {
      await net.until(() => tabs.some(({ table }) => table.isMyMove));
      const mover = tabs.find(({ table }) => table.isMyMove) as Tab;
      const free = [0, 1, 2, 3, 4, 5, 6].filter((column) => isFree(mover.table.game, column));
      mover.table.drop(free[Math.floor(net.random() * free.length)] as number);
      if (move === 3) net.partition(mover.room, 2000);
      if (move === 5) net.restartServer();
      if (move === 7) {
        net.closeTab(mover.room);
        const again = open(net, `${mover.name} again`, mover.memory);
        tabs = tabs.map((tab) => (tab === mover ? again : tab));
      }
    }
    await net.settle();
    const games = tabs.map(({ table }): Game => table.game);
    expect(games[1]).toEqual(games[0]);
    expect(games[2]).toEqual(games[0]);
    expect(games[0]?.moves.length).toBeGreaterThan(6);
    const late = open(net, "late");
    await net.settle();
    expect(late.table.game).toEqual(games[0]);
  }));
