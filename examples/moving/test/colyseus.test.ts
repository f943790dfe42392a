/** The game before and after: the same rules, and both see the same players and coin. */

import { beforeAll, describe, expect, test, vi } from "vitest";
import * as after from "../src/colyseus/after";
import * as before from "../src/colyseus/before";
import type { Game } from "../src/colyseus/game";
import { startGame } from "../src/colyseus/server";
import { startGroupwire } from "./groupwire";
import { leavesAtEnd, stopsAtEnd, wireTo, type Running } from "./servers";
import { untilEqual } from "./until";

// The SDK writes each attempt to connect to the console.
vi.spyOn(console, "info").mockImplementation(() => {});

const SIDES = [
  ["Colyseus", startGame, before.joinGame],
  ["Groupwire", startGroupwire, after.joinGame],
] as const;

describe.each(SIDES)("the game on %s", (_side, start, joinGame) => {
  let server: Running;
  beforeAll(async () => {
    server = stopsAtEnd(await start());
  });
  const join = async (url: string, table: string, name: string): Promise<Game> =>
    leavesAtEnd(await joinGame(url, table, name));

  test("steps follow the rules, and one of two who reach the coin gets it", async () => {
    const ann = await join(server.url, "one", "Ann");
    const bo = await join(server.url, "one", "Bo");
    await untilEqual(() => Object.keys(ann.players).toSorted(), ["Ann", "Bo"]);
    for (const player of [ann, bo]) player.step(1, 0);
    for (const player of [ann, bo]) player.step(2, 0);
    // Too far: it has no effect for anybody.
    ann.step(9, 9);
    await untilEqual(() => [ann.coin, bo.coin], [{ x: 5, y: 7 }, { x: 5, y: 7 }]); // prettier-ignore
    const places = (game: Game) => ["Ann", "Bo"].map((name) => [game.players[name]?.x, game.players[name]?.y]);
    await untilEqual(() => [places(ann), places(bo)], [[[2, 0], [2, 0]], [[2, 0], [2, 0]]]); // prettier-ignore
    const coins = (game: Game) => ["Ann", "Bo"].map((name) => game.players[name]?.coins);
    expect(coins(ann)).toEqual(coins(bo));
    expect(coins(ann).toSorted()).toEqual([0, 1]);
    bo.leave();
    await untilEqual(() => Object.keys(ann.players), ["Ann"]);
  });

  test("a player comes back after a break, with place and coins", async () => {
    const wire = await wireTo(server);
    const ann = await join(server.url, "two", "Ann");
    const bo = await join(wire.url, "two", "Bo");
    bo.step(1, 0);
    bo.step(2, 0);
    await untilEqual(() => ann.players.Bo, { x: 2, y: 0, coins: 1 });
    wire.cut();
    ann.step(0, 1);
    wire.mend();
    await untilEqual(() => bo.players.Ann, { x: 0, y: 1, coins: 0 });
    await untilEqual(() => ann.players.Bo, { x: 2, y: 0, coins: 1 });
    bo.step(3, 0);
    await untilEqual(() => ann.players.Bo, { x: 3, y: 0, coins: 1 });
  });
});
