/** The puzzle as this window shows it: shared data, and the piece in the user's hand. */

import type { Room } from "groupwire";
import { reducer, shared, type Definition, type Shared, type SharedReducer } from "groupwire/shared";
import { newId } from "../../../common/id";
import { type RestoringListener, watchRestoring } from "../../../common/net/restoring";
import type { Action, Move } from "./moves";
import { firstSpec } from "./spec";
import { isSound, play, scattered, State, type Pieces } from "./state";

export interface DocumentListener extends RestoringListener {
  /** Another state is shown than `before`. */
  changed?(before: State): void;
  /**
   * This window has lost the piece it held: another window was first, or a new puzzle was started.
   */
  lost?(piece: number, holder: string | undefined): void;
}

export class Document {
  private readonly fresh: Pieces;
  private data: Shared<{ puzzle: Definition<SharedReducer<Pieces, Move>> }> | undefined;
  private shown: State;
  private held: number | undefined;
  private readonly listeners: DocumentListener[] = [];

  /**
   * `by` is the id of this window as the author of moves. A participant id would not outlive a
   * restart of the server.
   */
  constructor(
    room: string,
    readonly by = newId(),
  ) {
    this.fresh = scattered(firstSpec(room));
    this.shown = State.of(this.fresh);
  }

  /** Opens the puzzle in a room. To be called once, in the task in which the room was made. */
  open(room: Room): void {
    // The drop ends a drag, so it has precedence.
    const options = { name: "puzzle", operations: { priority: 200 }, previews: false } as const;
    const puzzle = reducer(this.fresh, (pieces: Pieces, move: Move, by) => play(this.sound(pieces), move, by));
    this.data = shared({ puzzle }, options).open(room, { author: this.by });
    this.data.subscribe(() => this.look());
    watchRestoring(this.data, this.listeners);
  }

  /**
   * The state to show: the room's state, and on top of it this window's moves that the room has not
   * ordered yet.
   */
  get state(): State {
    return State.of(this.sound(this.data?.puzzle.value));
  }

  /** The piece that this window holds. */
  get holding(): number | undefined {
    return this.held;
  }

  /** The number of moves that are not ordered yet. */
  get waiting(): number {
    return this.data?.pending ?? 0;
  }

  listen(listener: DocumentListener): void {
    this.listeners.push(listener);
  }

  /** Grabs a piece. Returns false if another window holds it. */
  grab(piece: number): boolean {
    if (this.state.group(piece).holder !== undefined) return false;
    this.held = piece;
    this.perform({ grab: piece });
    return true;
  }

  /** Drops the piece that this window holds. */
  drop(x: number, y: number): void {
    const piece = this.held;
    this.held = undefined;
    if (piece !== undefined) this.perform({ drop: piece, x, y });
  }

  perform(action: Action): void {
    this.data?.puzzle.dispatch({ game: this.state.game, ...action });
    this.look();
  }

  /**
   * The pieces of the room. Those of a program that is not this puzzle, and has written an unsound
   * snapshot, count as untouched ones.
   */
  private sound(pieces: Pieces | undefined): Pieces {
    return pieces && (State.isKnown(pieces) || isSound(pieces)) ? pieces : this.fresh;
  }

  private look(): void {
    const [before, after] = [this.shown, this.state];
    this.shown = after;
    if (after !== before) this.notify((listener) => listener.changed?.(before));
    this.checkHand();
  }

  private checkHand(): void {
    const piece = this.held;
    if (piece === undefined) return;
    const { spec } = this.shown;
    const holder = piece < spec.columns * spec.rows ? this.shown.group(piece).holder : undefined;
    if (holder === this.by) return;
    this.held = undefined;
    this.notify((listener) => listener.lost?.(piece, holder));
  }

  private notify(what: (listener: DocumentListener) => void): void {
    for (const listener of this.listeners) what(listener);
  }
}
