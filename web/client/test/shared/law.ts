/**
 * The law of shared data: what a program sees equals a reference reducer over the room's order, no
 * ordered operation is missing while anybody present has it, and none counts twice; whatever
 * happens to networks, programs and the server.
 */

import { expect } from "vitest";
import { counter, list, lock, map, reducer, shared, turns, type Shared } from "../../src/shared.js";
import { simulate, transaction, type Channel, type Room, type Simulation } from "../../src/testing.js";
import { hostileOperation } from "./hostile.js";
import { reference, type Ordered, type Seen } from "./reference.js";

const definitions = {
  shapes: map(),
  notes: map(),
  texts: list(),
  score: counter(),
  pen: lock(),
  game: turns(),
  ledger: reducer([] as readonly string[], (entries, entry: string) => [...entries, entry]),
};
type Data = Shared<typeof definitions>;

/** An older version of the application lacks some of the data. */
const older = { shapes: map(undefined, { version: 1 }), score: counter() };

interface Program {
  readonly name: string;
  readonly room: Room;
  readonly data: Data;
  /** True if the program knows all tables. */
  readonly isWhole: boolean;
  readonly mayWrite: boolean;
  isGone: boolean;
  /** Counts the times that the server lost the room, as far as this program knows. */
  epoch: number | undefined;
  /** The entries that this program has seen in the room's order. */
  readonly ordered: Set<string>;
  sent: number;
}

/** How often each of these happened, so that a test can say that they did. */
export type Tally = Record<string, number>;

export async function keepsLaw(seed: number, tally: Tally = {}): Promise<void> {
  const net = simulate({ seed, ...settings(seed) });
  await new Run(net, tally).run();
  net.end();
}

function settings(seed: number) {
  const isStored = seed % 3 === 0;
  return {
    durability: isStored ? ("local" as const) : ("memory" as const),
    loss: (seed % 4) * 0.05,
    jitter: (seed % 5) * 20,
    snapshotAfter: [5, 20, 2000][seed % 3 === 0 ? 0 : seed % 2] as number,
    away: [500, 3000][seed % 2] as number,
    maxFormer: seed % 5 === 0 ? 0 : 100,
  };
}

class Run {
  readonly #net: Simulation;
  readonly #tally: Tally;
  readonly #programs: Program[] = [];
  /** Where a program publishes that is no copy of the data. */
  #hostile: Channel | undefined;
  /** The room's order, by position, for each time that the server lost the room. */
  readonly #orders: Map<number, Ordered>[] = [new Map()];

  constructor(net: Simulation, tally: Tally) {
    this.#net = net;
    this.#tally = tally;
  }

  async run(): Promise<void> {
    const net = this.#net;
    for (let at = 0; at < 2 + this.#below(2); at += 1) this.#join(true, true);
    if (this.#chance(0.3)) this.#join(false, true);
    if (this.#chance(0.3)) this.#join(true, false);
    if (this.#chance(0.3)) this.#hostile = net.join().channel("shared", transaction({ departures: true }));
    await net.settle();
    const steps = 10 + this.#below(30);
    for (let step = 0; step < steps; step += 1) {
      const writers = this.#programs.filter(({ isGone, mayWrite }) => !isGone && mayWrite);
      const writer = writers[this.#below(writers.length)];
      if (writer) this.#edit(writer);
      if (this.#hostile && this.#chance(0.5)) this.#attack(this.#hostile);
      if (this.#chance(0.1)) await this.#disturb();
      if (this.#chance(0.6)) await net.run(this.#below(150));
    }
    await this.#settle();
    this.#check();
  }

  #join(isWhole: boolean, mayWrite: boolean): void {
    const name = `p${this.#programs.length}`;
    const rights = mayWrite ? {} : { user: "reader", rights: { publish: [], snapshot: ["shared"], qos: ["*"] } };
    const room = this.#net.join({ name, ...rights });
    room.on("error", () => {});
    const chosen = isWhole ? definitions : older;
    const data = shared(chosen, { random: this.#net.random }).open(room) as Data;
    const ordered = new Set<string>();
    const program: Program = { name, room, data, isWhole, mayWrite, isGone: false, epoch: undefined, ordered, sent: 0 };
    this.#programs.push(program);
    room.on("gap", ({ reason }) => {
      this.#count(reason);
      if (reason === "incarnation") program.epoch = this.#orders.length - 1;
    });
    data.onLost((why) => this.#count(`lost ${why}`));
    room.on("snapshot", () => this.#count("snapshot"));
    room.channel("shared").on("message", (message) => {
      const { sender, data: text, position, departed } = message;
      program.epoch ??= this.#orders.length - 1;
      const order = this.#orders[program.epoch] as Map<number, Ordered>;
      const entry = { sender, text: String(text), departed };
      // An own operation whose place is not told: a part of the snapshot with it follows.
      if (position > 0) {
        expect(order.get(position) ?? entry).toEqual(entry);
        order.set(position, entry);
      }
      for (const [, ledger] of String(text).matchAll(/"ledger","a","([^"]*)"/g)) {
        // An operation does not count if somebody else has used its number before. It is then sent
        // again with another one.
        const counts = isWhole ? data.ledger.value.includes(ledger ?? "") : !this.#hostile;
        if (ledger && counts) ordered.add(ledger);
      }
    });
  }

  #edit(program: Program): void {
    const { data, isWhole, name } = program;
    const keys = ["one", "two", "three"];
    const key = keys[this.#below(keys.length)] as string;
    const value = this.#below(100);
    if (!isWhole) {
      if (this.#chance(0.5)) data.shapes.set(key, { x: value });
      else data.batch(() => (data.shapes.patch(key, { y: value }), data.score.add(1)));
      return;
    }
    const { ids } = data.texts;
    const id = ids[this.#below(Math.max(1, ids.length))] ?? "none";
    const edits: (() => void)[] = [
      () => data.shapes.set(key, { x: value }),
      () => data.shapes.patch(key, { x: value }),
      () => data.shapes.patch(key, { y: value, x: undefined }),
      () => data.shapes.delete(key),
      () => data.notes.set(key, value),
      () => data.notes.delete(key),
      () => void data.texts.insert(this.#below(ids.length + 1), `${name} ${value}`),
      () => data.texts.move(id, this.#below(ids.length + 1)),
      () => data.texts.set(id, `${name} ${value}`),
      () => data.texts.delete(id),
      () => data.score.add(value),
      () => data.pen.acquire(),
      () => data.pen.release(),
      () => data.game.join(),
      () => data.game.next(),
    ];
    if (this.#chance(0.25)) return void data.undo();
    if (this.#chance(0.1)) return void data.redo();
    data.batch(() => {
      for (let at = 0; at <= this.#below(3); at += 1) edits[this.#below(edits.length)]?.();
      data.ledger.dispatch(`${name}/${(program.sent += 1)}`);
    });
  }

  /**
   * Somebody sends an operation with numbers that no program would send, or with the id and the
   * number of another program.
   */
  #attack(channel: Channel): void {
    const authors = [...this.#programs.map(({ data }) => data.author), "hostile"];
    const author = authors[this.#below(authors.length)] as string;
    const last = [...(this.#orders.at(-1) as Map<number, Ordered>).values()].reduce((most, { text }) => {
      const number = text.startsWith(`["${author}",`) ? Number(/,(\d+),/.exec(text)?.[1] ?? 0) : 0;
      return Number.isSafeInteger(number) ? Math.max(most, number) : most;
    }, 0);
    const operation = hostileOperation(author, last, (limit) => this.#below(limit));
    if (channel.send(operation) !== "not-now") this.#count("attack");
  }

  async #disturb(): Promise<void> {
    const net = this.#net;
    const here = this.#programs.filter(({ isGone }) => !isGone);
    const victim = here[this.#below(here.length)] as Program;
    const kinds: [string, () => void | Promise<void>][] = [
      ["partition", () => net.partition(victim.room, this.#below(9000))],
      ["long partition", () => net.partition(victim.room, 12_000 + this.#below(5000))],
      ["break", () => net.breakConnection(victim.room)],
      ["freeze", () => net.suspendTab(victim.room, this.#below(5000))],
      ["late joiner", () => this.#join(this.#chance(0.8), this.#chance(0.8))],
      [
        "crash",
        () => {
          // A program with the whole state stays: while the server is gone, a newcomer has nothing.
          const whole = here.filter(({ isWhole, mayWrite }) => isWhole && mayWrite);
          const ordered = here.flatMap((program) => [...program.ordered]);
          const hasAll = ({ data }: Program) => ordered.every((entry) => data.ledger.value.includes(entry));
          if (whole.length < 3 || !whole.some((other) => other !== victim && hasAll(other))) return;
          victim.isGone = true;
          if (this.#chance(0.5)) net.crashTab(victim.room);
          else net.closeTab(victim.room);
        },
      ],
      ["restart", () => this.#restart()],
    ];
    const [name, happen] = kinds[this.#below(kinds.length)] as (typeof kinds)[number];
    this.#count(name);
    await happen();
  }

  /** The server is killed. A room in memory is lost. */
  async #restart(): Promise<void> {
    const net = this.#net;
    const isLost = this.#programs.some(({ room }) => room.durability === "memory");
    // Between two losses of the room, everybody comes back: docs/shared.md.
    if (isLost) await this.#settle();
    if (isLost) this.#orders.push(new Map());
    net.restartServer({ downFor: this.#below(2000) });
  }

  async #settle(): Promise<void> {
    await this.#net.settle();
  }

  #check(): void {
    const last = this.#orders.at(-1) as Map<number, Ordered>;
    const log = [...last].sort(([a], [b]) => a - b).map(([, entry]) => entry);
    const expected = reference(log);
    expect(new Set(expected.ledger).size, "an operation counts twice").toBe(expected.ledger.length);
    for (const { data, isWhole, isGone, ordered, name } of this.#programs) {
      if (isGone) continue;
      expect(data.isComplete, `${name} is complete`).toBe(true);
      expect([data.isRestoring, data.pending], `${name} has settled`).toEqual([false, 0]);
      expect(seen(data, isWhole), name).toEqual(isWhole ? expected : partly(expected));
      if (isWhole && data.pen.holder !== undefined) {
        const { room } = data;
        const isHere = data.pen.holder === room.self?.id || room.participants.has(data.pen.holder);
        expect(isHere, `${name} knows who holds the lock`).toBe(true);
      }
      for (const entry of ordered) expect(expected.ledger, `${name} had it`).toContain(entry);
    }
    this.#count("runs");
  }

  #count(what: string): void {
    this.#tally[what] = (this.#tally[what] ?? 0) + 1;
  }

  #below(limit: number): number {
    return Math.floor(this.#net.random() * limit);
  }

  #chance(share: number): boolean {
    return this.#net.random() < share;
  }
}

function seen({ shapes, notes, texts, score, ledger, pen, game }: Data, isWhole: boolean): Partial<Seen> {
  const cells: Record<string, unknown> = {};
  for (const [key, value] of shapes.value) cells[`shapes/${key}`] = value;
  if (!isWhole) return { cells, score: score.value };
  for (const [key, value] of notes.value) cells[`notes/${key}`] = value;
  const lists = texts.value.length > 0 ? { texts: texts.value } : {};
  return { cells, lists, score: score.value, ledger: ledger.value, holder: pen.holder, line: game.value };
}

/** What an older version of the application sees. */
function partly({ cells, score }: Seen): Partial<Seen> {
  const shapes = Object.entries(cells).filter(([key]) => key.startsWith("shapes/"));
  return { cells: Object.fromEntries(shapes), score };
}
