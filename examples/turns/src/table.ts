/**
 * One program at a table: the game and the turns in a room, and the own seat, which outlives the
 * page.
 */

import type { Room } from "groupwire";
import { reducer, shared, turns, type Shared } from "groupwire/shared";
import { other, type Side } from "./board";
import { isFree, isGame, MAX_NAME, mover, play, START, type Deed, type Game, type Seat } from "./game";
import { isOwn, lockOf, newSecret, proofOf, type Memory } from "./secret";

const DEFINITIONS = { game: reducer(START, play), turns: turns() };

/** Whether a player is in the room. `away`: its connection is broken, and it may come back. */
export type Whereabouts = "here" | "away" | "gone";

export interface Person {
  readonly name: string;
}

export class Table {
  readonly #room: Room<Person>;
  readonly #data: Shared<typeof DEFINITIONS>;
  readonly #memory: Memory;
  readonly #key: string;
  #secret: string;
  /**
   * The participant for which this program has sent `return`. It sends that once: a copied tab has
   * the same secret.
   */
  #returnedAs: number | undefined;
  readonly #listeners = new Set<() => void>();
  #isTold = true;
  /**
   * False while the state of the room is arriving: a part of it would be an old position of the
   * game.
   */
  #isSynced = false;

  /** Call it in the task in which the room is made. `memory` is the tab's `sessionStorage`. */
  constructor(room: Room<Person>, memory: Memory, random?: () => number) {
    this.#room = room;
    this.#data = shared(DEFINITIONS, { previews: false, ...(random && { random }) }).open(room as Room);
    this.#memory = memory;
    this.#key = `groupwire-turns/${room.name}`;
    this.#secret = memory.getItem(this.#key) ?? "";
    const changed = (): void => this.#changed();
    this.#data.subscribe(changed);
    room.subscribe(changed);
    room.on("gap", () => (this.#isSynced = false));
    room.on("synced", () => {
      this.#isSynced = true;
      // After a gap this program may be another participant.
      this.#returnedAs = undefined;
      changed();
    });
  }

  get game(): Game {
    const { value } = this.#data.game;
    return isGame(value) ? value : START;
  }

  /** The side that this program plays; undefined: it watches. */
  get side(): Side | undefined {
    return ([0, 1] as const).find((side) => isOwn(this.#secret, this.game.seats[side]));
  }

  /**
   * Whether this program can drop a disc. It cannot while the opponent still has the turn, which
   * the room hands over. A program without a seat that has the turn cannot stop the game.
   */
  get isMyMove(): boolean {
    const { side, game } = this;
    if (side === undefined || game.winner !== null || mover(game) !== side) return false;
    const opponent = game.seats[other(side)];
    return opponent !== null && this.#data.turns.current !== opponent.participant;
  }

  /** Whether an own operation is not ordered by the room yet. */
  get isPending(): boolean {
    return this.#data.pending > 0;
  }

  /** The connection of the player of a seat: here, away or gone. */
  whereabouts({ participant }: Seat): Whereabouts {
    if (participant === this.#room.self?.id) return "here";
    const found = this.#room.participants.get(participant);
    return !found ? "gone" : found.away ? "away" : "here";
  }

  /** The names of those who have no seat. */
  get watchers(): string[] {
    const players = this.game.seats.map((seat) => seat?.participant);
    const others = [...this.#room.participants.values()].filter(({ id }) => !players.includes(id));
    return others.map(({ presence }) => nameOf(presence));
  }

  /** Calls `listener` after each change. Returns a function that removes it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes a free seat. */
  sit(side: Side): void {
    const { self } = this.#room;
    if (!self || this.side !== undefined || this.game.seats[side]) return;
    this.#secret = newSecret();
    this.#memory.setItem(this.#key, this.#secret);
    const name = nameOf(self.presence);
    this.#data.game.dispatch({ do: "sit", side, name, lock: lockOf(this.#secret, 0), participant: self.id });
  }

  drop(column: number): void {
    const { round, moves } = this.game;
    if (!this.isMyMove || !isFree(this.game, column)) return;
    this.#data.batch(() => {
      this.#act({ do: "drop", round, at: moves.length, column });
      this.#data.turns.next();
    });
  }

  resign(): void {
    this.#act({ do: "resign", round: this.game.round });
  }

  /** Starts another game. */
  again(): void {
    this.#act({ do: "again", round: this.game.round });
  }

  leave(): void {
    this.#data.batch(() => {
      this.#act({ do: "leave" });
      this.#data.turns.leave();
    });
  }

  /** Clears the seat of the opponent, who has left the room. */
  clear(): void {
    this.#act({ do: "clear" });
  }

  /** Sends an action for the own seat. */
  #act(deed: Deed): void {
    const { side } = this;
    const seat = side === undefined ? null : this.game.seats[side];
    if (side === undefined || !seat) return;
    const proof = proofOf(this.#secret, seat.shown);
    this.#data.game.dispatch({ ...deed, side, proof, lock: lockOf(this.#secret, seat.shown + 1) });
  }

  /** Tells listeners about all changes of a task once, at its end. */
  #changed(): void {
    if (!this.#isTold) return;
    this.#isTold = false;
    queueMicrotask(() => {
      this.#isTold = true;
      this.#tend();
      for (const listener of this.#listeners) listener();
    });
  }

  /**
   * Performs the other duties of a player, one at a time: the next one once the room has ordered
   * the last.
   */
  #tend(): void {
    const { side, game } = this;
    const { self, status } = this.#room;
    if (side === undefined || !self || status !== "connected" || !this.#isSynced || this.isPending) return;
    const { turns } = this.#data;
    if (game.seats[side]?.participant !== self.id) {
      if (this.#returnedAs === self.id) return;
      this.#returnedAs = self.id;
      return this.#act({ do: "return", participant: self.id });
    }
    if (!turns.value.includes(self.id)) return turns.join();
    // A player who comes back is last in the queue. A player who has the turn too early hands it
    // over.
    const opponent = game.seats[other(side)]?.participant;
    const isEarly = turns.isMine && game.winner === null && mover(game) !== side;
    if (isEarly && opponent !== undefined && turns.value.includes(opponent)) turns.next();
  }
}

/** A name that another program may have written. */
export function nameOf(presence: unknown): string {
  const { name } = (presence ?? {}) as { readonly name?: unknown };
  return typeof name === "string" && name.trim() ? name.trim().slice(0, MAX_NAME) : "Somebody";
}
