/**
 * The puzzle as this window shows it, in three layers:
 *
 * 1. *confirmed*: what the room's order made, and nothing else. This is what a snapshot holds.
 * 2. *remembered*: only after the server lost the room: what this window had then, until the room has it again.
 * 3. *pending*: own operations that have no place in the order yet, on top, so that playing feels immediate.
 *
 * The document knows no network: `onSend` hands operations out, `deliver` takes them in.
 */

import { newId } from "../../../common/id";
import type { Restorable } from "../../../common/net/restore";
import type { Action, Operation } from "./operations";
import { firstSpec } from "./spec";
import { State } from "./state";

export interface DocumentListener {
  changed(): void;
  /** What this window held is not its own any more: somebody was first, or the puzzle is another one. */
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

  /** `by` names this window in operations; a session's participant id would not outlive a restart of the server. */
  constructor(
    private readonly room: string,
    private readonly onSend: (operation: Operation) => void,
    readonly by = newId(),
  ) {
    this.confirmed = new State(firstSpec(room));
    this.shown = this.confirmed.clone();
  }

  /** What is to be seen. */
  get state(): State {
    return this.shown;
  }

  /** The piece that this window has in hand. */
  get holding(): number | undefined {
    return this.held;
  }

  /** Operations that wait for their place in the order. */
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

  /** Takes a piece up; false if somebody else has it. */
  grab(piece: number): boolean {
    if (this.state.group(piece).holder !== undefined) return false;
    this.held = piece;
    this.issue({ grab: piece });
    return true;
  }

  /** Lets go of what this window holds. */
  drop(x: number, y: number): void {
    const piece = this.held;
    this.held = undefined;
    if (piece !== undefined) this.issue({ drop: piece, x, y });
  }

  perform(action: Action): void {
    this.issue(action);
  }

  /** An operation at its place in the room's order, anybody's. */
  deliver(operation: Operation): void {
    this.confirmed = this.confirmed.apply(operation);
    // While a restore is under way own operations stay pending: what they speak of may not be back yet.
    if (operation.by === this.by && !this.isRestoring) this.pending = this.pending.filter(({ n }) => n !== operation.n);
    this.refresh();
  }

  /** The room's state up to some position, from another participant: it replaces what was confirmed. */
  replace(snapshot: string): void {
    this.confirmed = State.decode(JSON.parse(snapshot));
    if (!this.isRestoring) this.pending = this.pending.filter((own) => !this.confirmed.has(own));
    this.refresh();
  }

  /** Exactly the operations delivered so far. */
  snapshot(): string {
    return JSON.stringify(this.confirmed.encode());
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

  /** Under new numbers, so that it counts even where the first sending arrived before the room was restored. */
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

  /** Not an action, so not pending. */
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
