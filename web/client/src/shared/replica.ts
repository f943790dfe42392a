/**
 * One program's copy of the shared data: the operations in the room's order, and on top of them the
 * pending operations: its own ones that are not ordered yet. It does no networking.
 *
 * When the server has lost the room, each copy remembers its state. The longest of these states
 * becomes the *base* of the room again, and the operations that the room has ordered meanwhile, the
 * *tail*, are applied on top of it once more.
 */

import { invalid } from "../errors.js";
import type { Part, Step } from "./history.js";
import {
  arrayOf,
  encodeActions,
  idAt,
  isCount,
  isKept,
  isLength,
  isName,
  MAX_DEPTH,
  parseOperation,
  PIECE,
  stampOf,
  type Action,
  type Operation,
} from "./operation.js";
import { Tables, type Effect, type Reducer } from "./tables.js";

/**
 * How many authors' last operations are remembered, to recognise repeated operations. That is
 * enough for all programs that are or recently were in the room. Each author takes 30 bytes of a
 * snapshot.
 */
const MAX_AUTHORS = 1000;

/**
 * After this many operations since the room began anew, no remembered state can become its base any
 * more: programs with such a state return within seconds, and until then snapshots contain each
 * operation of the tail.
 */
const MAX_TAIL = 1000;

/**
 * An operation whose actions have more characters than this takes no further ones: they become
 * another operation.
 */
const FULL = 12_000;

/**
 * How much greater than the author's last one the number of an operation may be. Programs count by
 * ones; but one that finds its own id in an operation of somebody else goes on after that number,
 * so that nobody may use up all numbers by a few operations.
 */
const MAX_STEP = 2 ** 32;

/**
 * The greatest number in a base, for the same reason. A greater one counts as this one, so that
 * every state can become a base.
 */
const MAX_NUMBER = 2 ** 52;

/**
 * The most states whose pieces are arriving: one, and those whose senders left before the end. Each
 * has 18 million characters at most.
 */
const MAX_ARRIVING = 4;

/** An operation as the room ordered it. Without text, the participant has left for good. */
type Entry = readonly [participant: number, text?: string];

/** A state that was valid before the server lost the room. */
interface Base {
  /** The number of operations in it. */
  readonly length: number;
  readonly text: string;
}

interface Pending {
  number: number;
  readonly actions: Action[];
  /** The message as it was sent. */
  text: string;
  /** True if somebody else has used this program's id and this number, or a higher one. */
  isTaken?: boolean;
  /** Holds the actions that undo the operation; they are replaced each time it is applied. */
  readonly part: Part;
  /** What it changed, while it is applied on top of the ordered operations. */
  effect: Effect | undefined;
}

export class Replica {
  readonly tables: Tables;
  readonly #lost: () => void;
  /** Own operations that are not ordered, in their order. */
  #pending: Pending[] = [];
  /**
   * Own operations that are being made: more than one if the actions do not fit into one message.
   */
  #drafts: Pending[] = [];
  /** The characters of the last draft's actions. */
  #size = 0;
  #count = 0;
  #length = 0;
  #marks = new Map<string, number>();
  /** The base that the room has. */
  #base: Base | undefined;
  /** The operations since the base; undefined once they are too many. */
  #tail: Entry[] | undefined = [];
  /** A longer base, which the room lacks. */
  #remembered: Base | undefined;
  /** Pieces of a state that are arriving, by their author. */
  readonly #pieces = new Map<string, { readonly length: number; readonly texts: string[] }>();
  /** False if operations are missing. */
  isComplete = true;

  /**
   * `author` is an id that no other program has. `lost` is called when the room can no longer
   * restore this program's whole state.
   */
  constructor(
    readonly author: string,
    reducers: ReadonlyMap<string, Reducer>,
    changed: (table: string, key: string) => void,
    lost: () => void,
  ) {
    this.#lost = lost;
    this.tables = new Tables(reducers, changed);
  }

  get pending(): number {
    return this.#pending.length;
  }

  /** The length of the remembered state; 0 if the room has it. */
  get remembered(): number {
    return this.#remembered?.length ?? 0;
  }

  /** True if an operation has been ordered. */
  has(author: string, number: number): boolean {
    return number <= this.#mark(author);
  }

  /** Begins an own operation. */
  begin(): void {
    this.refresh();
    this.#drafts = [];
  }

  /** Adds an action to the operation that is being made, and applies it. */
  act(action: Action): void {
    const text = JSON.stringify(action);
    // Others will read this JSON; the copy also protects it from later changes by the application.
    const copy = JSON.parse(text) as Action;
    // What undoes an operation contains the values of before, with a few levels around them.
    const isUndo = copy[1] === "r" || copy[1] === "q";
    if (!isUndo && !isKept(copy))
      throw invalid(`the value for "${copy[0]}"`, `JSON of at most ${MAX_DEPTH} levels`, action.at(-1));
    if (this.#isFull) {
      const number = this.#count + this.#drafts.length + 1;
      this.#drafts.push({ number, actions: [], text: "", part: { inverse: [] }, effect: reversible() });
      this.#size = 0;
    }
    const { number, actions, effect } = this.#drafts.at(-1) as Pending;
    actions.push(copy);
    this.#size += text.length;
    this.tables.apply(actions, stampOf(this.author, number), undefined, effect as Effect, actions.length - 1);
  }

  /** The id of an item that the next action inserts. */
  get nextId(): string {
    const drafts = this.#drafts;
    const [before, at] = this.#isFull ? [drafts.length, 0] : [drafts.length - 1, drafts.at(-1)?.actions.length ?? 0];
    return idAt(stampOf(this.author, this.#count + before + 1), at);
  }

  /** True if the next action begins another message. */
  get #isFull(): boolean {
    return this.#drafts.length === 0 || this.#size > FULL;
  }

  /** Whether the operation that is being made has changed anything. */
  get hasChanged(): boolean {
    return this.#drafts.some(({ effect }) => (effect?.journal?.length ?? 0) > 0);
  }

  /**
   * Sends the operation under construction. If it cannot be sent, its changes are reverted, and the
   * error is thrown.
   */
  commit(send: (text: string) => void): Step {
    const step: Step = [];
    while (this.#drafts[0]) {
      const draft = this.#drafts[0];
      draft.text = encodeActions(this.author, draft.number, draft.actions);
      try {
        send(draft.text);
      } catch (error) {
        this.abort();
        throw error;
      }
      this.#drafts.shift();
      this.#count = draft.number;
      this.#pending.push(draft);
      draft.part.inverse = draft.effect?.inverse ?? [];
      step.push(draft.part);
    }
    return step;
  }

  /** Reverts the operation under construction. */
  abort(): void {
    for (const { effect } of this.#drafts.toReversed()) if (effect) takeBack(effect);
    this.#drafts = [];
  }

  /**
   * Applies own operations again that are not applied, on top of the ordered ones. Called before
   * anything is read.
   */
  refresh(): void {
    // Own operations are taken back together, so if the last one is applied, all are.
    if (this.#pending.at(-1)?.effect) return;
    for (const own of this.#pending) {
      if (own.effect) continue;
      own.effect = reversible();
      this.tables.apply(own.actions, stampOf(this.author, own.number), undefined, own.effect);
      own.part.inverse = own.effect.inverse;
    }
  }

  /** Takes an operation at its place in the room's order. Returns it if it is new. */
  deliver(sender: number, text: string): Operation | undefined {
    const operation = parseOperation(text);
    if (!operation) return undefined;
    const { author, number, content } = operation;
    if ("restore" in content) this.#collect(author, content);
    if (!("actions" in content)) return operation;
    // An operation that comes again after a gap counts once.
    const isNew = this.#isNext(author, number);
    if (isNew) this.#order(sender, text, operation, content.actions);
    this.#follow([sender, text]);
    return isNew ? operation : undefined;
  }

  /**
   * Gives operations whose numbers somebody else has used other ones, because the room takes them
   * for repeated ones. Returns what has to be sent.
   */
  renumbered(): string[] {
    const taken = this.#pending.filter(({ isTaken }) => isTaken);
    if (taken.length === 0) return [];
    this.#rollBack();
    for (const own of taken) own.text = encodeActions(this.author, (own.number = ++this.#count), own.actions);
    this.#pending = [...this.#pending.filter(({ isTaken }) => !isTaken), ...taken];
    for (const own of taken) own.isTaken = false;
    return taken.map(({ text }) => text);
  }

  /** A participant has left the room for good. */
  departed(participant: number): void {
    this.#rollBack();
    this.#apply([participant]);
    this.#follow([participant]);
  }

  /** Drops the pending operations, which the room has refused. */
  refuse(): void {
    this.#rollBack();
    for (const { part } of this.#pending) part.inverse = [];
    this.#pending = [];
  }

  /** The state for late joiners; undefined if this program's state is incomplete. */
  snapshot(): string | undefined {
    this.#rollBack();
    if (!this.isComplete || this.#remembered || this.tables.isPartial || this.#pieces.size > 0) return undefined;
    if (this.#tail) return `[${this.#base?.length ?? 0},${this.#base?.text ?? 0},${JSON.stringify(this.#tail)}]`;
    return `[${this.#length},${this.#encode()}]`;
  }

  /**
   * Replaces the ordered operations by a snapshot of another participant. Returns false if it is
   * malformed.
   */
  load(snapshot: string): boolean {
    this.#rollBack();
    try {
      const [length, state, entries] = arrayOf(JSON.parse(snapshot));
      const tail = entries === undefined ? undefined : (arrayOf(entries) as readonly Entry[]);
      if (!isLength(length)) throw new TypeError("the length is malformed");
      const base = state === 0 ? undefined : { length, text: JSON.stringify(state) };
      this.#begin(base, !tail);
      this.#base = tail ? base : undefined;
      this.#tail = tail && [];
      for (const entry of tail ?? []) this.#applyAgain(entry);
      if (tail) this.#tail = [...tail];
    } catch {
      this.isComplete = false;
      return false;
    }
    this.isComplete = true;
    this.#pieces.clear();
    this.#dropOrdered();
    this.#settleBases();
    return true;
  }

  /** The server has lost the room: this program remembers what it has. */
  restart(): void {
    this.#rollBack();
    // A state without some reducer's actions counts less than one operation, so that a whole one
    // wins.
    const length = this.tables.isPartial ? this.#length / 2 ** 32 : this.#length;
    this.#remembered = length > 0 && this.isComplete ? { length, text: this.#encode() } : this.#remembered;
    this.tables.dropHolders();
    this.#base = undefined;
    this.#tail = [];
    this.#pieces.clear();
  }

  /** An administrator has emptied the channel. */
  clear(): void {
    this.#rollBack();
    this.#remembered = undefined;
    this.#base = undefined;
    this.#tail = [];
    this.#pieces.clear();
    this.#begin(undefined, false);
    this.isComplete = true;
  }

  /** An operation that says how much this program remembers. */
  claim(): string {
    return JSON.stringify([this.author, ++this.#count, 0, this.remembered]);
  }

  /** Operations that make the remembered state the base of the room. */
  restore(): string[] {
    const { length, text } = this.#remembered ?? { length: 0, text: "" };
    const count = Math.ceil(text.length / PIECE);
    return Array.from({ length: count }, (_, index) => {
      const piece = text.slice(index * PIECE, (index + 1) * PIECE);
      return JSON.stringify([this.author, ++this.#count, 1, length, index, count, piece]);
    });
  }

  #order(sender: number, text: string, operation: Operation, actions: readonly Action[]): void {
    const isOwn = operation.author === this.author;
    const first = this.#pending[0];
    if (isOwn && first?.text === text && first.effect) {
      // The operation is applied already, right after the ordered ones, and the pending ones follow
      // it.
      this.#pending.shift();
      this.#note(operation);
      this.tables.settle(first.effect.deleted);
      this.tables.hold(actions, sender, { inverse: [], deleted: [] });
      return;
    }
    this.#rollBack();
    const effect = this.#apply([sender, text]);
    if (!isOwn) return;
    const own = this.#pending.find((one) => one.text === text);
    if (own && effect) own.part.inverse = effect.inverse;
    if (own) return this.#dropOrdered();
    for (const one of this.#pending) one.isTaken ||= one.number <= operation.number;
    this.#count = Math.max(this.#count, operation.number);
  }

  /** Applies an entry to the ordered state. */
  #apply([participant, text]: Entry): Effect | undefined {
    const effect: Effect = { inverse: [], deleted: [] };
    if (text === undefined) {
      this.tables.departed(participant, effect);
      return effect;
    }
    const operation = parseOperation(text);
    if (!operation || !("actions" in operation.content)) return undefined;
    const { author, number, content } = operation;
    if (!this.#isNext(author, number)) return undefined;
    this.#note(operation);
    this.tables.apply(content.actions, stampOf(author, number), participant, effect);
    this.tables.settle(effect.deleted);
    return effect;
  }

  #applyAgain(entry: Entry): void {
    const [participant, text = "", ...more] = arrayOf(entry);
    const isEntry = isCount(participant) && typeof text === "string" && more.length === 0;
    if (!isEntry) throw new TypeError("an entry is malformed");
    this.#apply(entry);
  }

  /** Adds an entry to the tail, if there is one. */
  #follow(entry: Entry): void {
    this.#tail?.push(entry);
    if (!this.#tail || this.#tail.length < MAX_TAIL) return;
    if (this.#remembered) {
      // The remembered state comes too late to become the base.
      this.#replay(this.#base);
      this.#forgetRemembered();
    }
    this.#base = undefined;
    this.#tail = undefined;
    this.#pieces.clear();
  }

  #collect(author: string, piece: Extract<Operation["content"], { readonly restore: number }>): void {
    const { restore: length, index, count, text } = piece;
    if (!this.#tail || length <= (this.#base?.length ?? 0)) return;
    if (index === 0) this.#arrives(author, length);
    const pieces = this.#pieces.get(author);
    if (pieces?.length !== length || pieces.texts.length !== index) return void this.#pieces.delete(author);
    pieces.texts.push(text);
    if (pieces.texts.length < count) return;
    this.#pieces.delete(author);
    this.#rebase({ length, text: pieces.texts.join("") });
  }

  /** The first piece of a state arrives. */
  #arrives(author: string, length: number): void {
    this.#pieces.delete(author);
    this.#pieces.set(author, { length, texts: [] });
    if (this.#pieces.size > MAX_ARRIVING) this.#pieces.delete(this.#pieces.keys().next().value as string);
  }

  /** The room has a longer base. */
  #rebase(base: Base): void {
    const before = this.#base;
    try {
      this.#replay(base);
    } catch {
      // The base is malformed, which all programs notice in the same way.
      return this.#replay(this.#remembered ?? before);
    }
    // Written anew: its author may have left halves of characters in it, which no snapshot carries.
    this.#base = { length: base.length, text: JSON.stringify(JSON.parse(base.text)) };
    this.#settleBases();
  }

  /** Chooses between the base of the room and the remembered state. */
  #settleBases(): void {
    if (!this.#remembered) return;
    if (this.#tail && this.#remembered.length > (this.#base?.length ?? 0)) this.#replay(this.#remembered);
    else this.#forgetRemembered();
  }

  /** Called when the room has the remembered state, or can never have it. */
  #forgetRemembered(): void {
    const [, marks] = JSON.parse(this.#remembered?.text ?? "[0,[]]") as [unknown, [string, number][]];
    this.#remembered = undefined;
    if (marks.some(([author, number]) => !this.has(author, Math.min(number, MAX_NUMBER)))) this.#lost();
  }

  /** Builds the ordered state anew, from a base and the tail. */
  #replay(base: Base | undefined): void {
    this.#rollBack();
    this.#begin(base, false);
    for (const entry of this.#tail ?? []) this.#apply(entry);
    this.#dropOrdered();
  }

  /** Removes operations from the pending ones that the ordered state contains. */
  #dropOrdered(): void {
    this.#pending = this.#pending.filter(({ number, isTaken }) => isTaken || !this.has(this.author, number));
    this.#count = Math.max(this.#count, this.#mark(this.author));
  }

  #begin(base: Base | undefined, keepsHolders: boolean): void {
    const state = (base ? JSON.parse(base.text) : [[[], []], []]) as unknown;
    if (!isKept(state, 2 * MAX_DEPTH)) throw new TypeError("a value is malformed");
    const [tables, numbers] = arrayOf(state);
    const marks = arrayOf(numbers).map(arrayOf) as unknown as readonly [author: string, number: number][];
    if (!marks.every(([author, number]) => isName(author) && isCount(number)))
      throw new TypeError("an author is malformed");
    this.tables.decode(tables);
    if (!keepsHolders) this.tables.dropHolders();
    const most = keepsHolders ? Infinity : MAX_NUMBER;
    this.#marks = new Map(marks.map(([author, number]) => [author, Math.min(number, most)]));
    this.#length = base?.length ?? 0;
  }

  #encode(): string {
    return JSON.stringify([this.tables.encode(), [...this.#marks]]);
  }

  /** The number of the author's last operation. */
  #mark(author: string): number {
    return this.#marks.get(author) ?? 0;
  }

  /**
   * True if an author's operation with this number has not been ordered yet, and can be the next
   * one.
   */
  #isNext(author: string, number: number): boolean {
    const step = number - this.#mark(author);
    return step > 0 && step <= MAX_STEP;
  }

  /**
   * Remembers that an operation was ordered. The authors are in the order of their last operations.
   */
  #note({ author, number }: Operation): void {
    this.#length = Math.min(this.#length + 1, Number.MAX_SAFE_INTEGER);
    this.#marks.delete(author);
    this.#marks.set(author, number);
    if (this.#marks.size > MAX_AUTHORS) this.#marks.delete(this.#marks.keys().next().value as string);
  }

  /** Reverts the pending operations, so that the tables contain ordered operations only. */
  #rollBack(): void {
    for (const own of this.#pending.toReversed()) {
      if (own.effect) takeBack(own.effect);
      own.effect = undefined;
    }
  }
}

function reversible(): Effect & { readonly journal: (() => void)[] } {
  return { journal: [], inverse: [], deleted: [] };
}

function takeBack({ journal = [] }: Effect): void {
  for (const undo of journal.toReversed()) undo();
}
