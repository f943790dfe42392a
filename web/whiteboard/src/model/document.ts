/**
 * The board as this window shows it, in three layers:
 *
 * 1. *confirmed*: the operations that the room has ordered. A snapshot contains exactly these.
 * 2. *remembered*: after the server has lost the room, the objects that this window had, until the room has them again.
 * 3. *pending*: own operations that are not ordered yet, on top, so that drawing feels immediate.
 *
 * The document does no networking: `onSend` is called with operations to send, `deliver` takes received ones.
 */

import { History } from "./history";
import { newId } from "../../../common/id";
import type { Restorable } from "../../../common/net/restore";
import { chunks, isNewer, split, touched, type Change, type Entry, type Operation } from "./operations";
import { patched, type Shape } from "./shapes";
import { State } from "./state";

type ChangedListener = (ids: Iterable<string>) => void;

export class Document implements Restorable {
  private confirmed = new State();
  private remembered: State | undefined;
  private pending: Operation[] = [];
  private readonly shown = new Map<string, Shape>();
  private readonly history = new History();
  private readonly listeners: ChangedListener[] = [];
  private count = 0;
  private highest = 0;

  /** `by` is the id of this window in operations. A participant id would not outlive a restart of the server. */
  constructor(
    private readonly onSend: (operation: Operation) => void,
    readonly by = newId(),
  ) {}

  /** The objects to show. */
  get shapes(): ReadonlyMap<string, Shape> {
    return this.shown;
  }

  /** The number of operations that are not ordered yet. */
  get waiting(): number {
    return this.pending.length;
  }

  get isRestoring(): boolean {
    return this.remembered !== undefined;
  }

  get canUndo(): boolean {
    return this.history.canUndo;
  }

  get canRedo(): boolean {
    return this.history.canRedo;
  }

  /** The position above all other objects, for a new object. */
  nextZ(): number {
    return this.highest + 1;
  }

  onChanged(listener: ChangedListener): void {
    this.listeners.push(listener);
  }

  /** Performs an action of this window: applies it at once, sends it, and adds it to the undo history. */
  perform(change: Change): void {
    this.history.record(change, (id) => this.shown.get(id));
    this.issue(change);
  }

  undo(): Change | undefined {
    return this.issueStep(this.history.undo((id) => this.shown.get(id)));
  }

  redo(): Change | undefined {
    return this.issueStep(this.history.redo((id) => this.shown.get(id)));
  }

  /** Applies an operation of any window at its place in the room's order. */
  deliver(operation: Operation): void {
    const ids = this.confirmed.apply(operation);
    // During a restore own operations stay pending, because the objects that they change may still be missing. All are
    // sent again at its end; keeping only some would change their order.
    if (operation.by === this.by && !this.isRestoring) this.pending = this.pending.filter(({ n }) => n !== operation.n);
    this.refresh(ids);
  }

  /** Replaces the confirmed state by a snapshot of another participant. */
  replace(snapshot: string): void {
    this.confirmed = State.decode(snapshot);
    if (!this.isRestoring) this.pending = this.pending.filter((own) => !this.confirmed.has(own));
    this.refreshAll();
  }

  /** Contains exactly the operations delivered so far. */
  snapshot(): string {
    return this.confirmed.encode();
  }

  /** Forgets everything: an administrator reset the board. */
  clear(): void {
    this.remembered = undefined;
    this.confirmed = new State();
    this.refreshAll();
  }

  startRestore(): void {
    const known = this.remembered ?? new State();
    known.merge(this.confirmed);
    this.remembered = known.isEmpty ? undefined : known;
    this.confirmed = new State();
    this.refreshAll();
  }

  get isMissing(): boolean {
    return this.missing().length > 0;
  }

  /** Not an action of the user, so it is not added to the undo history. */
  sendMissing(): void {
    for (const restore of chunks(this.missing())) this.onSend({ by: this.by, n: ++this.count, restore });
  }

  endRestore(): void {
    this.remembered = undefined;
    this.refreshAll();
  }

  /**
   * Sends again all operations that are not ordered, under new numbers: the first copy may arrive before the object
   * that it changes. If both copies are applied, they set the same values.
   */
  resend(): void {
    this.pending = this.pending.map((operation) => ({ ...operation, n: ++this.count }));
    for (const operation of this.pending) this.onSend(operation);
  }

  private missing(): Entry[] {
    const remembered = this.remembered?.entries() ?? [];
    return [...remembered].filter((entry) => isNewer(entry, this.confirmed.entry(entry[0])));
  }

  private issueStep(change: Change | undefined): Change | undefined {
    if (change) this.issue(change);
    return change;
  }

  private issue(change: Change): void {
    const operations = split(change).map((part) => ({ by: this.by, n: ++this.count, ...part }));
    this.pending.push(...operations);
    this.refresh(operations.flatMap(touched));
    for (const operation of operations) this.onSend(operation);
  }

  private refreshAll(): void {
    const ids = new Set([...this.shown.keys(), ...this.confirmed.ids(), ...(this.remembered?.ids() ?? [])]);
    for (const id of this.pending.flatMap(touched)) ids.add(id);
    this.refresh(ids);
  }

  private refresh(ids: Iterable<string>): void {
    const changed = new Set<string>();
    for (const [id, shape] of this.overlaid(ids)) {
      if (shape === this.shown.get(id)) continue;
      if (shape) this.shown.set(id, shape);
      else this.shown.delete(id);
      this.highest = Math.max(this.highest, shape?.z ?? 0);
      changed.add(id);
    }
    if (changed.size > 0) for (const listener of this.listeners) listener(changed);
  }

  /** The objects with all layers applied. */
  private overlaid(ids: Iterable<string>): Map<string, Shape | undefined> {
    const looks = new Map<string, Shape | undefined>();
    for (const id of ids) looks.set(id, this.base(id));
    for (const { add = [], revive = [], set = [], del = [] } of this.pending) {
      for (const [id, shape] of [...add, ...revive]) if (looks.has(id)) looks.set(id, looks.get(id) ?? shape);
      for (const [id, patch] of set) {
        const shape = looks.get(id);
        if (shape) looks.set(id, patched(shape, patch));
      }
      for (const id of del) if (looks.has(id)) looks.set(id, undefined);
    }
    return looks;
  }

  private base(id: string): Shape | undefined {
    const confirmed = this.confirmed.entry(id);
    const remembered = this.remembered?.entry(id);
    const entry = remembered && isNewer(remembered, confirmed) ? remembered : confirmed;
    return entry?.[3] ?? undefined;
  }
}
