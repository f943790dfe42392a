/**
 * The game as a reducer, a function from a state and an action to the next state. All programs in
 * the room apply the same actions in the same order. So all have the same state, and ignore the
 * same actions: those that break the rules.
 *
 * A seat belongs to the program that knows its secret. The state has the SHA-256 of the seat's next
 * proof, its *lock*. Each action of a player shows that proof, and the lock of the one after it. So
 * nobody else can play for the seat, although everybody sees the state and all actions, and
 * although a malicious program can forge the author of an operation of shared data.
 */

import { COLUMNS, lineOf, other, ROWS, type Side } from "./board";
import { sha256 } from "./sha256";

export interface Seat {
  readonly name: string;
  /** The SHA-256 of the proof that the next action of this seat shows. */
  readonly lock: string;
  /** The number of proofs that were shown. */
  readonly shown: number;
  /** The id of the player's participant. A page that is loaded anew has another one. */
  readonly participant: number;
}

export interface Game {
  readonly seats: readonly [Seat | null, Seat | null];
  /** The number of the game at this table, from 1. */
  readonly round: number;
  /** The side that makes the first move. */
  readonly first: Side;
  /** The columns of the moves so far. */
  readonly moves: readonly number[];
  /** Null while the game is going on. */
  readonly winner: Side | "nobody" | null;
  /** The games that each seat has won. */
  readonly wins: readonly [number, number];
}

export const START: Game = {
  seats: [null, null],
  round: 1,
  first: 0,
  moves: [],
  winner: null,
  wins: [0, 0],
};

/** Takes a free seat. */
interface Sit {
  readonly do: "sit";
  readonly side: Side;
  readonly name: string;
  readonly lock: string;
  readonly participant: number;
}

/** The proof that an action comes from the player of a seat. */
interface Act {
  readonly side: Side;
  /** The secret of this action: its SHA-256 is the seat's lock. */
  readonly proof: string;
  /** The lock of the seat from now on. */
  readonly lock: string;
}

/** A player's action, without the proof. */
export type Deed =
  /**
   * Drops a disc. `round` and `at` name the position for which the move was made, so that it has no
   * effect in another one.
   */
  | { readonly do: "drop"; readonly round: number; readonly at: number; readonly column: number }
  /** Gives a game up. */
  | { readonly do: "resign"; readonly round: number }
  /** Starts another game after one has ended. */
  | { readonly do: "again"; readonly round: number }
  /** Comes back as another participant, for example after the page was loaded anew. */
  | { readonly do: "return"; readonly participant: number }
  /** Gets up from the seat. */
  | { readonly do: "leave" }
  /** Clears the seat of the other player, who has left. That ends the game. */
  | { readonly do: "clear" };

export type Action = Sit | (Act & Deed);

export const MAX_NAME = 24;
const LOCK = /^[0-9a-f]{64}$/;

/**
 * The game after an action; the same object if the action has no effect. Other programs made the
 * action, so it may be anything.
 */
export function play(game: Game, action: unknown): Game {
  const act = (typeof action === "object" && action !== null ? action : {}) as Action;
  if ((act.side !== 0 && act.side !== 1) || typeof act.lock !== "string" || !LOCK.test(act.lock)) return game;
  if (act.do === "sit") return sit(game, act);
  const seat = game.seats[act.side];
  if (!seat || typeof act.proof !== "string" || sha256(act.proof) !== seat.lock) return game;
  // Everybody knows this proof now, so the lock changes even if the rules forbid the action.
  const proven = seated(game, act.side, { ...seat, lock: act.lock, shown: seat.shown + 1 });
  return perform(proven, act.side, act);
}

/**
 * Whether a value has the shape of a game: the state that newcomers get was sent by another
 * program.
 */
export function isGame(value: Game): boolean {
  const { seats, round, first, moves, winner, wins } = value ?? {};
  return (
    isPair(seats, (seat) => seat === null || (isText(seat.name) && isText(seat.lock) && isId(seat.participant))) &&
    isPair(wins, Number.isSafeInteger) &&
    Array.isArray(moves) &&
    moves.length <= COLUMNS * ROWS &&
    moves.every((column) => Number.isInteger(column) && column >= 0 && column < COLUMNS) &&
    Number.isSafeInteger(round) &&
    [0, 1].includes(first) &&
    [0, 1, "nobody", null].includes(winner)
  );
}

/** The side whose move it is. */
export function mover({ first, moves }: Game): Side {
  return moves.length % 2 === 0 ? first : other(first);
}

/** Whether a disc can be dropped into a column now. */
export function isFree({ moves, winner }: Game, column: number): boolean {
  const isColumn = Number.isInteger(column) && column >= 0 && column < COLUMNS;
  return winner === null && isColumn && moves.filter((move) => move === column).length < ROWS;
}

function sit(game: Game, { side, name, lock, participant }: Sit): Game {
  if (game.seats[side] || !isId(participant) || typeof name !== "string" || name.length > MAX_NAME) return game;
  // Another player at the table begins another game.
  const table = game.winner === null ? game : nextRound({ ...game, wins: [0, 0] });
  return seated(table, side, { name, lock, shown: 0, participant });
}

function perform(game: Game, side: Side, deed: Deed): Game {
  const seat = game.seats[side] as Seat;
  switch (deed.do) {
    case "drop":
      return drop(game, side, deed);
    case "resign":
      return deed.round === game.round && isRunning(game) ? won(game, other(side)) : game;
    case "again":
      return deed.round === game.round && game.winner !== null ? nextRound(game) : game;
    case "return":
      return isId(deed.participant) ? seated(game, side, { ...seat, participant: deed.participant }) : game;
    case "leave":
      return seated(isRunning(game) ? won(game, other(side)) : game, side, null);
    case "clear":
      return seated(isRunning(game) ? won(game, side) : game, other(side), null);
    default:
      return game;
  }
}

function drop(game: Game, side: Side, { round, at, column }: Extract<Deed, { do: "drop" }>): Game {
  const isInTurn = round === game.round && at === game.moves.length && side === mover(game);
  if (!isInTurn || !isFree(game, column) || game.seats.includes(null)) return game;
  const moves = [...game.moves, column];
  if (lineOf(moves, game.first).length > 0) return won({ ...game, moves }, side);
  return { ...game, moves, winner: moves.length === COLUMNS * ROWS ? "nobody" : null };
}

/** True once a disc lies on the board, until the game ends. */
function isRunning({ moves, winner }: Game): boolean {
  return moves.length > 0 && winner === null;
}

function won(game: Game, winner: Side): Game {
  const wins = game.wins.map((count, side) => (side === winner ? count + 1 : count));
  return { ...game, winner, wins: wins as [number, number] };
}

/** The other side begins. */
function nextRound(game: Game): Game {
  return { ...game, round: game.round + 1, first: other(game.first), moves: [], winner: null };
}

function seated(game: Game, side: Side, seat: Seat | null): Game {
  return { ...game, seats: side === 0 ? [seat, game.seats[1]] : [game.seats[0], seat] };
}

function isPair<Item>(value: readonly Item[] | undefined, isItem: (item: Item) => boolean): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(isItem);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
