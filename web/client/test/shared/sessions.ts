/**
 * Random sessions of shared data for other implementations: several programs edit, their operations
 * are ordered and delivered, refused or sent again, people leave and join late, the server loses
 * the room, and hostile programs send what no program would. Each line that is written is what one
 * program was told or did, and what it answered: `[seed, program, step, [result, sent]]`.
 */

import { randomOf } from "../random.js";
import { hostileOperation } from "./hostile.js";
import { exoticOperation, exoticState, exoticValue, one } from "./exotic.js";
import { Player, type Data, type Mode, type Step } from "./world.js";

/** What the room ordered: an operation, or that a participant has left for good. */
type Entry = readonly [sender: number, text: string] | readonly [departed: number];

interface Seat {
  readonly player: Player;
  /** The place in the room's order up to which the program was told. */
  cursor: number;
  /** Own operations that were not delivered. */
  waiting: number;
  isHere: boolean;
  mayWrite: boolean;
}

/** Plays the session of a seed, and writes its lines. */
export async function play(seed: number, write: (line: string) => void): Promise<void> {
  await new Session(seed, write).run();
}

class Session {
  readonly #seed: number;
  readonly #write: (line: string) => void;
  readonly #below: (limit: number) => number;
  readonly #seats: Seat[] = [];
  #log: Entry[] = [];
  #nextId = 1;

  constructor(seed: number, write: (line: string) => void) {
    [this.#seed, this.#write, this.#below] = [seed, write, randomOf(seed)];
  }

  async run(): Promise<void> {
    for (let at = 0; at < 2 + this.#below(2); at += 1) this.#join(true);
    if (this.#chance(0.3)) this.#join(false);
    this.#meet();
    const isHostile = this.#chance(0.5);
    const steps = 20 + this.#below(60);
    for (let step = 0; step < steps; step += 1) {
      const seat = one(this.#seats, this.#below);
      if (this.#chance(0.6)) this.#edit(seat);
      if (this.#chance(0.5)) this.#order(one(this.#seats, this.#below));
      if (this.#chance(0.6)) this.#deliver(one(this.#seats, this.#below), 1 + this.#below(4));
      if (isHostile && this.#chance(0.3)) this.#attack();
      if (this.#chance(0.12)) this.#disturb(seat);
      if (this.#chance(0.4)) await this.#tell();
      if (this.#chance(0.15)) seat.player.run(["look"]);
    }
    await this.#settle();
  }

  /** The room orders all operations and delivers them. */
  async #settle(): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      for (const seat of this.#seats) {
        this.#mode(seat, "yes");
        seat.player.run(["drain"]);
        while (seat.player.uplink.length > 0) this.#order(seat);
      }
      for (const seat of this.#seats) this.#deliver(seat, Infinity);
      await this.#tell();
    }
    for (const { player } of this.#seats) {
      player.run(["look"]);
      player.snapshot();
    }
  }

  async #tell(): Promise<void> {
    // All listeners are called at the end of the task.
    for (let at = 0; at < 4; at += 1) await Promise.resolve();
    for (const { player } of this.#seats) player.told();
  }

  #join(isWhole: boolean): Seat {
    const at = this.#seats.length;
    // Now and then two programs have the same id.
    const taken = this.#seats[0]?.player.author;
    const author = taken !== undefined && this.#chance(0.03) ? taken : this.#chance(0.05) ? `ö.${at}` : `p${at}`;
    const line = (step: Step, outcome: unknown): void => this.#write(JSON.stringify([this.#seed, at, step, outcome]));
    const player = new Player(author, this.#nextId++, isWhole, line);
    const seat = { player, cursor: 0, waiting: 0, isHere: true, mayWrite: !this.#chance(0.05) };
    this.#seats.push(seat);
    if (!seat.mayWrite) this.#mode(seat, "refuse");
    return seat;
  }

  /** Each program gets the list of participants. */
  #meet(): void {
    for (const { player, isHere } of this.#seats) {
      const others = this.#seats.filter((other) => other.player !== player);
      const list = others.map((other) => [other.player.id, other.isHere]);
      player.run(["participants", player.id, list, isHere]);
    }
  }

  #mode(seat: Seat, mode: Mode): void {
    if (mode === "yes" && !seat.mayWrite) mode = "refuse";
    if (seat.player.mode !== mode) seat.player.run(["mode", mode]);
  }

  /** The room orders a program's next operation. */
  #order({ player }: Seat): void {
    const text = player.uplink.shift();
    if (text !== undefined) this.#log.push([player.id, text]);
  }

  #deliver(seat: Seat, count: number): void {
    const { player } = seat;
    for (const entry of this.#log.slice(seat.cursor, seat.cursor + count)) {
      seat.cursor += 1;
      const [sender, text] = entry;
      player.run(text === undefined ? ["departed", sender] : ["message", sender, text]);
      // An undo in the same task as deliveries, before anything is read.
      if (this.#chance(0.03)) player.run([this.#chance(0.7) ? "undo" : "redo"]);
    }
    const isWaiting = player.uplink.length > 0 || this.#log.slice(seat.cursor).some(([sender]) => sender === player.id);
    // The room tells when all own operations are confirmed.
    if (!isWaiting) player.run(["unconfirmed", 0]);
  }

  #edit({ player }: Seat): void {
    const isWhole = (player.data as Partial<Data>).texts !== undefined;
    // To read something applies own operations again, so that it is a step, too.
    if (isWhole) player.run(["ids"]);
    const texts = player.ids;
    const step = this.#step(texts, player);
    const knows = ([what, name]: Step): boolean =>
      isWhole || ["shapes", "score"].includes(String(name)) || /do$/.test(what);
    if (!knows(step)) return;
    if (this.#chance(0.05)) return this.#bringBack(player, one(["one", "two", "three"], this.#below));
    if (this.#chance(0.2)) return void player.run([this.#chance(0.7) ? "undo" : "redo"]);
    if (!this.#chance(0.3)) return void player.run(step);
    const steps = Array.from({ length: 1 + this.#below(4) }, () => this.#step(texts, player)).filter(knows);
    player.run(["batch", steps, this.#chance(0.1)]);
  }

  /** A value whose fields were set one by one is deleted, brought back, and deleted once more. */
  #bringBack(player: Player, key: string): void {
    player.run(["set", "shapes", key, { x: 1 }]);
    for (const field of ["y", "a b", "a", "3"]) player.run(["patch", "shapes", key, { [field]: this.#below(9) }, []]);
    player.run(["delete", "shapes", key]);
    player.run(["undo"]);
    player.run(["redo"]);
  }

  /** A change that an application makes. */
  #step(ids: readonly string[], { author }: Player): Step {
    const below = this.#below;
    const key = one(["one", "two", "three", "7", "10", "é"], below);
    const name = one(["shapes", "shapes", "notes"], below);
    const id = ids.length > 0 ? one(ids, below) : "none";
    const index = below(ids.length + 2);
    const value = exoticValue(below, 2);
    const fields = { [one(["x", "y", "2", "1", "a b"], below)]: below(100), [one(["y", "z", "a"], below)]: value };
    const long = "long ".repeat(this.#chance(0.03) ? 3000 : 1);
    const steps: Step[] = [
      ["set", name, key, fields],
      ["set", name, key, value],
      ["patch", name, key, fields, []],
      ["patch", name, key, { x: below(9) }, [one(["y", "z", "2"], below)]],
      ["delete", name, key],
      ["insert", "texts", index, `${author} ${long}`],
      ["insert", "texts", Math.min(1, ids.length), value],
      ["push", "texts", value],
      ["set", "texts", id, value],
      ["move", "texts", id, index],
      ["delete", "texts", id],
      ["add", "score", one([1, -1, 42, 0, 2 ** 53 - 1, 1 - 2 ** 53], below)],
      ["acquire", "pen"],
      ["release", "pen"],
      ["join", "game"],
      ["next", "game"],
      ["leave", "game"],
      ["dispatch", "ledger", value],
      ["dispatch", "total", one([1, -2.5, 1e308, "text"], below)],
      ["preview", "shapes", key, this.#chance(0.8) ? fields : null],
    ];
    return one(steps, below);
  }

  /** Somebody sends an operation that no program would send. */
  #attack(): void {
    const authors = [...this.#seats.map(({ player }) => player.author), "hostile"];
    const author = one(authors, this.#below);
    const last = this.#log.reduce((most, [, text = ""]) => {
      const number = text.startsWith(`["${author}",`) ? Number(/,(\d+),/.exec(text)?.[1] ?? 0) : 0;
      return Number.isSafeInteger(number) ? Math.max(most, number) : most;
    }, 0);
    const ids = this.#seats.flatMap(({ player }) => player.ids);
    const text = this.#chance(0.3)
      ? hostileOperation(author, last, this.#below)
      : exoticOperation(author, last, ids, this.#below);
    this.#log.push([90 + this.#below(3), text]);
  }

  #disturb(seat: Seat): void {
    const { player } = seat;
    const kinds: (() => void)[] = [
      () => this.#mode(seat, one(["not-now", "refuse", "yes"], this.#below)),
      () => (this.#mode(seat, "yes"), void player.run(["drain"])),
      () => this.#away(seat),
      () => this.#leave(seat),
      () => this.#joinLate(),
      () => this.#joinLate(),
      () => this.#restart(),
      () => this.#restart(),
      () => this.#preview(seat),
      () => this.#preview(seat),
      () => this.#preview(seat),
      () => this.#lose(seat),
      () => void player.snapshot(),
    ];
    one(kinds, this.#below)();
  }

  #away(seat: Seat): void {
    seat.isHere = !seat.isHere;
    this.#meet();
  }

  /** A participant leaves for good. It comes back with another number, and sends again. */
  #leave(seat: Seat): void {
    const { player } = seat;
    const own = this.#log.slice(seat.cursor).filter(([sender, text]) => sender === player.id && text !== undefined);
    this.#log.push([player.id]);
    player.uplink.unshift(...own.map(([, text]) => text as string));
    player.id = this.#nextId++;
    this.#meet();
  }

  /** A program joins, and begins with another one's state. */
  #joinLate(): void {
    const source = one(this.#seats, this.#below);
    const seat = this.#join(this.#chance(0.8));
    this.#meet();
    if (this.#chance(0.15)) return void seat.player.run(["snapshot", exoticState(this.#below)]);
    const snapshot = source.player.snapshot();
    if (snapshot === undefined) return;
    seat.player.run(["snapshot", snapshot]);
    seat.cursor = source.cursor;
    seat.player.run(["synced"]);
    // A program that comes back gets a state, too.
    const other = one(this.#seats, this.#below);
    if (!this.#chance(0.3) || other.cursor > source.cursor) return;
    other.player.run(["snapshot", snapshot]);
    other.cursor = source.cursor;
  }

  /** The server has lost the room. Some programs come back later than others. */
  #restart(): void {
    const lost = this.#log;
    this.#log = [];
    for (const seat of this.#seats) {
      const { player } = seat;
      // Own operations that nobody has confirmed are sent again.
      const own = lost.slice(seat.cursor).filter(([sender, text]) => sender === player.id && text !== undefined);
      player.uplink.unshift(...own.map(([, text]) => text as string));
      seat.cursor = 0;
      player.id = this.#nextId++;
      player.run(["gap", "incarnation"]);
    }
    this.#meet();
    for (const { player } of this.#seats) if (this.#chance(0.9)) player.run(["synced"]);
    // Somebody claims to have more, or sends a state of the own making.
    if (this.#chance(0.2)) this.#log.push([91, JSON.stringify(["hostile", 1, 0, this.#below(300)])]);
    for (let author = 0; this.#chance(0.3); author += 1) this.#bringState(`hostile${author}`);
  }

  /** Somebody brings a state in pieces, of which one may be missing or come twice. */
  #bringState(author: string): void {
    const length = this.#below(500);
    const [state = ""] = /(?<=^\[[^,]*,).*(?=\]$)/s.exec(exoticState(this.#below)) ?? [];
    const count = 1 + this.#below(3);
    const size = Math.ceil(state.length / count);
    for (let index = 0; index < count; index += 1) {
      const piece = state.slice(index * size, (index + 1) * size);
      const times = this.#chance(0.8) ? 1 : this.#below(3);
      const text = JSON.stringify([author, 2 + index, 1, length, index, count, piece]);
      for (let time = 0; time < times; time += 1) this.#log.push([92, text]);
    }
  }

  #preview({ player }: Seat): void {
    const key = one(["one", "two", "three", "7"], this.#below);
    const fields = { [one(["x", "y", "2"], this.#below)]: exoticValue(this.#below, 2) };
    const sender = this.#chance(0.8) ? one(this.#seats, this.#below).player.id : this.#below(100);
    const text = one(
      [JSON.stringify(fields), JSON.stringify(fields), "null", "{", "[1]", '{"x":1e400}', null],
      this.#below,
    );
    player.run(["preview-in", sender, `${one(["shapes", "notes"], this.#below)}/${key}`, text, this.#chance(0.1)]);
  }

  #lose(seat: Seat): void {
    const why = one(["history", "reset", "session"], this.#below);
    if (why === "history" && !this.#chance(0.2)) return;
    if (why !== "reset") return void seat.player.run(["gap", why]);
    for (const other of this.#seats) {
      other.cursor = this.#log.length;
      other.player.run(["gap", "reset"]);
    }
  }

  #chance(share: number): boolean {
    return this.#below(1 << 20) < share * (1 << 20);
  }
}
