/** The rules, and what cheats can try. */

import { expect, test } from "vitest";
import type { Side } from "../src/board";
import { isGame, mover, play, START, type Deed, type Game } from "../src/game";
import { isOwn, lockOf, newSecret, proofOf } from "../src/secret";

const SECRETS = ["the secret of red", "the secret of yellow"] as const;

/** An action of a player, as its program makes it. */
function act(game: Game, side: Side, deed: Deed, secret: string = SECRETS[side]): unknown {
  const shown = game.seats[side]?.shown ?? 0;
  return { ...deed, side, proof: proofOf(secret, shown), lock: lockOf(secret, shown + 1) };
}

function sit(game: Game, side: Side): Game {
  const lock = lockOf(SECRETS[side], 0);
  return play(game, { do: "sit", side, name: ["Ada", "Bo"][side], lock, participant: side + 1 });
}

/** A game of two players after these moves, which the sides make in turn. */
function after(...columns: number[]): Game {
  return columns.reduce((game, column) => drop(game, column), sit(sit(START, 0), 1));
}

function dropBy(game: Game, side: Side, column: number): Game {
  return play(game, act(game, side, { do: "drop", round: game.round, at: game.moves.length, column }));
}

function drop(game: Game, column: number): Game {
  return dropBy(game, mover(game), column);
}

test("four in a row win, and the other side begins the next game", () => {
  const game = after(0, 1, 0, 1, 0, 1, 0);
  expect([game.winner, game.wins]).toEqual([0, [1, 0]]);
  expect(drop(game, 3).moves).toEqual(game.moves);
  const next = play(game, act(game, 0, { do: "again", round: 1 }));
  expect(next).toMatchObject({ round: 2, first: 1, moves: [], winner: null, wins: [1, 0] });
});

test("a full board is a draw", () => {
  const order = [...("012345012345012345" + "103254103254103254" + "666666")].map(Number);
  const full = after(...order);
  expect(full.moves).toHaveLength(42);
  expect(full).toMatchObject({ winner: "nobody", wins: [0, 0] });
});

test("who gives up, gets up or is gone loses the game that is going on", () => {
  const game = after(3);
  expect(play(game, act(game, 1, { do: "resign", round: 1 }))).toMatchObject({ winner: 0, wins: [1, 0] });
  const left = play(game, act(game, 0, { do: "leave" }));
  expect(left).toMatchObject({ winner: 1, wins: [0, 1], seats: [null, { name: "Bo" }] });
  const cleared = play(game, act(game, 0, { do: "clear" }));
  expect(cleared).toMatchObject({ winner: 0, wins: [1, 0], seats: [{ name: "Ada" }, null] });
  expect(sit(cleared, 1)).toMatchObject({ round: 2, moves: [], winner: null, wins: [0, 0] });
});

test("moves that the rules forbid have no effect, and their proof does not count again", () => {
  const game = after(2, 2, 2, 2, 2, 2);
  const full = act(game, 0, { do: "drop", round: 1, at: 6, column: 2 });
  const refused = play(game, full);
  expect(refused.moves).toEqual(game.moves);
  expect(play(refused, { ...(full as object), column: 3 })).toBe(refused);
  for (const column of [-1, 7, 1.5, NaN, "3", null, undefined])
    expect(dropBy(game, 0, column as number).moves).toEqual(game.moves);
  expect(dropBy(game, 1, 3).moves).toEqual(game.moves);
  expect(play(game, act(game, 0, { do: "drop", round: 1, at: 5, column: 3 })).moves).toEqual(game.moves);
  expect(play(game, act(game, 0, { do: "drop", round: 2, at: 6, column: 3 })).moves).toEqual(game.moves);
});

test("nobody drops a disc while a seat is free", () => {
  expect(drop(sit(START, 0), 3).moves).toEqual([]);
});

test("a program without the secret plays for nobody", () => {
  const game = after(3);
  const move = { do: "drop", round: 1, at: 1, column: 0 } as const;
  for (const secret of ["", SECRETS[0], "guessed"]) expect(play(game, act(game, 1, move, secret))).toBe(game);
  const action = act(game, 1, move) as { readonly proof: string };
  for (const proof of [undefined, null, 1, game.seats[1]?.lock]) expect(play(game, { ...action, proof })).toBe(game);
  expect(play(game, { ...action, lock: "short" })).toBe(game);
});

test("an action that was seen cannot be sent again, nor changed", () => {
  const game = after(3);
  const seen = act(game, 1, { do: "drop", round: 1, at: 1, column: 0 });
  const moved = play(game, seen);
  expect(moved.moves).toEqual([3, 0]);
  expect(play(moved, seen)).toBe(moved);
  expect(play(moved, { ...(seen as object), do: "leave" })).toBe(moved);
});

test("a seat that is taken cannot be taken", () => {
  const game = sit(START, 0);
  expect(play(game, { do: "sit", side: 0, name: "Cy", lock: lockOf("cy", 0), participant: 9 })).toBe(game);
});

test("what is no action has no effect", () => {
  const game = after(3);
  const odd: unknown[] = [null, undefined, 1, "drop", [], {}, { do: "drop" }, { side: 2 }, { side: "0", lock: "a" }];
  for (const action of odd) expect(play(game, action)).toBe(game);
  const long = { do: "sit", side: 0, name: "x".repeat(25), lock: lockOf("x", 0), participant: 1 };
  expect(play(START, long)).toBe(START);
  expect(play(START, { ...long, name: "x", participant: 0 })).toBe(START);
});

test("a state of another shape is no game", () => {
  const game = after(3);
  expect(isGame(game)).toBe(true);
  const odd: unknown[] = [null, 1, {}, { ...game, moves: [9] }, { ...game, seats: [{}, null] }, { ...game, winner: 2 }];
  for (const value of odd) expect(isGame(value as Game)).toBe(false);
});

test("a seat is known by its secret, and only by that", () => {
  const seat = after(3, 3).seats[1];
  expect(isOwn(SECRETS[1], seat)).toBe(true);
  expect(isOwn(SECRETS[0], seat)).toBe(false);
  expect(isOwn("", { name: "", lock: lockOf("", 0), shown: 0, participant: 1 })).toBe(false);
  expect(newSecret()).not.toBe(newSecret());
});
