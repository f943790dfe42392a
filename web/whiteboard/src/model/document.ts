/**
 * The board as this window shows it, in three layers:
 *
 * 1. *confirmed*: what the room's order made, and nothing else. This is what a snapshot holds.
 * 2. *remembered*: only after the server lost the room: what this window had then, until the room has it again.
 * 3. *pending*: own operations that have no place in the order yet, on top, so that drawing feels immediate.
 *
 * The document knows no network: `onSend` hands operations out, `deliver` takes them in.
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

  /** `by` names this window in operations; a session's participant id would not outlive a restart of the server. */
  constructor(
    private readonly onSend: (operation: Operation) => void,
    readonly by = newId(),
  ) {}

  /** What is to be seen. */
  get shapes(): ReadonlyMap<string, Shape> {
    return this.shown;
  }

  /** Operations that wait for their place in the order. */
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

  /** For a new object: above everything. */
  nextZ(): number {
    return this.highest + 1;
  }

  onChanged(listener: ChangedListener): void {
    this.listeners.push(listener);
  }

  /** An own action: shown at once, sent, and on the undo list. */
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

  /** An operation at its place in the room's order, anybody's. */
  deliver(operation: Operation): void {
    const ids = this.confirmed.apply(operation);
    // While a restore is under way own operations stay pending: the objects they speak of may not be back yet. All
    // of them are sent again at its end; keeping only some would change their order.
    if (operation.by === this.by && !this.isRestoring) this.pending = this.pending.filter(({ n }) => n !== operation.n);
    this.refresh(ids);
  }

  /** The room's state up to some position, from another participant: it replaces what was confirmed. */
  replace(snapshot: string): void {
    this.confirmed = State.decode(snapshot);
    if (!this.isRestoring) this.pending = this.pending.filter((own) => !this.confirmed.has(own));
    this.refreshAll();
  }

  /** Exactly the operations delivered so far. */
  snapshot(): string {
    return this.confirmed.encode();
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

  /** Not an action, so not on the undo list. */
  sendMissing(): void {
    for (const restore of chunks(this.missing())) this.onSend({ by: this.by, n: ++this.count, restore });
  }

  endRestore(): void {
    this.remembered = undefined;
    this.refreshAll();
  }

  /**
   * Sends again what has no place in the order yet, under new numbers, so that it counts even where the first
   * sending arrived before the object it speaks of. Where both count, they set the same values.
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

  /** How objects look with all layers applied. */
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
