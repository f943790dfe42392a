/**
 * The puzzle as this window shows it, in three layers:
 *
 * 1. *confirmed*: the operations that the room has ordered. A snapshot contains exactly these.
 * 2. *remembered*: after the server has lost the room, the state that this window had, until the room has it again.
 * 3. *pending*: own operations that are not ordered yet, on top, so that playing feels immediate.
 *
 * The document does no networking: `onSend` is called with operations to send, `deliver` takes received ones.
 */

import { newId } from "../../../common/id";
import type { Restorable } from "../../../common/net/restore";
import type { Action, Operation } from "./operations";
import { firstSpec } from "./spec";
import { State } from "./state";

export interface DocumentListener {
  changed(): void;
  /** This window has lost the piece it held: another window was first, or a new puzzle was started. */
  lost(piece: number, holder: string | undefined): void;
}

export class Document implements Restorable {
  private confirmed: State;
  private remembered: State | undefined;
  private pending: Operation[] = [];
  private shown: State;
  private count = 0;
  private held: number | undefined;
  private readonly listeners: DocumentListener[] = [];

  /** `by` is the id of this window in operations. A participant id would not outlive a restart of the server. */
  constructor(
    private readonly room: string,
    private readonly onSend: (operation: Operation) => void,
    readonly by = newId(),
  ) {
    this.confirmed = new State(firstSpec(room));
    this.shown = this.confirmed.clone();
  }

  /** The state to show. */
  get state(): State {
    return this.shown;
  }

  /** The piece that this window holds. */
  get holding(): number | undefined {
    return this.held;
  }

  /** The number of operations that are not ordered yet. */
  get waiting(): number {
    return this.pending.length;
  }

  get isRestoring(): boolean {
    return this.remembered !== undefined;
  }

  get isMissing(): boolean {
    return this.remembered?.isNewerThan(this.confirmed) ?? false;
  }

  onChanged(listener: DocumentListener): void {
    this.listeners.push(listener);
  }

  /** Grabs a piece. Returns false if another window holds it. */
  grab(piece: number): boolean {
    if (this.state.group(piece).holder !== undefined) return false;
    this.held = piece;
    this.issue({ grab: piece });
    return true;
  }

  /** Drops the piece that this window holds. */
  drop(x: number, y: number): void {
    const piece = this.held;
    this.held = undefined;
    if (piece !== undefined) this.issue({ drop: piece, x, y });
  }

  perform(action: Action): void {
    this.issue(action);
  }

  /** Applies an operation of any window at its place in the room's order. */
  deliver(operation: Operation): void {
    this.confirmed = this.confirmed.apply(operation);
    // During a restore own operations stay pending, because the state that they refer to may still be missing.
    if (operation.by === this.by && !this.isRestoring) this.pending = this.pending.filter(({ n }) => n !== operation.n);
    this.refresh();
  }

  /** Replaces the confirmed state by a snapshot of another participant. */
  replace(snapshot: string): void {
    this.confirmed = State.decode(JSON.parse(snapshot));
    if (!this.isRestoring) this.pending = this.pending.filter((own) => !this.confirmed.has(own));
    this.refresh();
  }

  /** Contains exactly the operations delivered so far. */
  snapshot(): string {
    return JSON.stringify(this.confirmed.encode());
  }

  /** Begins anew: an administrator reset the table. */
  clear(): void {
    this.remembered = undefined;
    this.confirmed = new State(firstSpec(this.room));
    this.refresh();
  }

  startRestore(): void {
    const known = this.isMissing ? this.remembered : this.confirmed;
    this.remembered = known?.isFresh ? undefined : known;
    this.confirmed = new State(firstSpec(this.room));
    this.refresh();
  }

  sendMissing(): void {
    if (this.isMissing) this.send({ restore: this.remembered?.encode() });
  }

  endRestore(): void {
    this.remembered = undefined;
    this.refresh();
  }

  /** Sends pending operations under new numbers, because the first copy may arrive before the room is restored. */
  resend(): void {
    this.pending = this.pending.map((operation) => ({ ...operation, n: ++this.count }));
    for (const operation of this.pending) this.onSend(operation);
  }

  private issue(action: Action): void {
    const operation = { by: this.by, n: ++this.count, game: this.shown.game, ...action };
    this.pending.push(operation);
    this.refresh();
    this.onSend(operation);
  }

  /** Sends an operation that is not an action of the user, so it is not pending. */
  private send(action: Action): void {
    this.onSend({ by: this.by, n: ++this.count, game: this.confirmed.game, ...action });
  }

  private refresh(): void {
    const base = this.isMissing ? this.remembered : this.confirmed;
    this.shown = this.pending.reduce((state, operation) => state.apply(operation), (base ?? this.confirmed).clone());
    for (const listener of this.listeners) listener.changed();
    this.checkHand();
  }

  private checkHand(): void {
    const piece = this.held;
    if (piece === undefined) return;
    const holder = piece < this.shown.spec.columns * this.shown.spec.rows ? this.shown.group(piece).holder : undefined;
    if (holder === this.by) return;
    this.held = undefined;
    for (const listener of this.listeners) listener.lost(piece, holder);
  }
}
