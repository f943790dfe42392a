/**
 * The law of the provider: whatever happens to networks, programs and the server, in the end all
 * participants, also those that join later, have the same document; no change is missing, and
 * everybody sees the awareness of those who are present.
 */

import { expect, test, vi } from "vitest";
import * as Y from "yjs";
import { forSeeds, type Simulation } from "groupwire/testing";
import { expectSame, program, start, type Program } from "./start.js";

vi.setConfig({ testTimeout: 100_000_000 });

/** How often each of these happened, so that a test can say that they did. */
type Tally = Record<string, number>;

test("documents and awareness converge, whatever happens (GROUPWIRE_SEEDS runs more)", async () => {
  const tally: Tally = {};
  await forSeeds(40, (seed) => keepsLaw(seed, tally));
  // All of it happened, unless few seeds were asked for.
  if ((tally["runs"] ?? 0) < 40) return;
  for (const what of [
    "partition",
    "crash",
    "restart",
    "late joiner",
    "freeze",
    "snapshot",
    "incarnation",
    "session",
    "pieces",
    "toggle",
  ])
    expect(tally, what).toHaveProperty(what);
  if (tally["runs"] !== 40) console.log(JSON.stringify(tally));
});

// Seeds that have found faults.
test.each([
  [
    9,
    "a state in a datagram came before the stream said that its sender had left and was back, and was forgotten by that",
  ],
  [222, "Yjs removed redundant formats while a provider took its document back, and nobody was told"],
  [494, "a participant that the room had forgotten waited for its claim, which had ended by that"],
])("documents and awareness converge with the seed %i: %s", (seed) => keepsLaw(seed, {}));

async function keepsLaw(seed: number, tally: Tally): Promise<void> {
  const net = start({
    seed,
    durability: seed % 3 === 0 ? "local" : "memory",
    loss: (seed % 4) * 0.05,
    jitter: (seed % 5) * 20,
    snapshotAfter: [5, 50, 2000][seed % 3] as number,
    away: [500, 3000][seed % 2] as number,
    maxFormer: seed % 5 === 0 ? 0 : 100,
  });
  const run = new Run(net, tally);
  try {
    await run.run();
  } finally {
    run.end();
  }
}

class Run {
  readonly #net: Simulation;
  readonly #tally: Tally;
  readonly #programs: Program[] = [];
  /** Programs that have crashed, whose documents are gone. */
  readonly #gone = new Set<Program>();
  /** The changes of programs that have not crashed, by their text. */
  readonly #made = new Map<string, Program>();

  constructor(net: Simulation, tally: Tally) {
    this.#net = net;
    this.#tally = tally;
  }

  async run(): Promise<void> {
    const net = this.#net;
    for (let at = 0; at < 2 + this.#below(3); at += 1) this.#join();
    if (this.#chance(0.5)) await net.settle();
    for (let left = 10 + this.#below(40); left > 0; left -= 1) {
      const here = this.#here;
      const writer = here[this.#below(here.length)] as Program;
      this.#edit(writer);
      if (this.#chance(0.15)) this.#disturb();
      if (this.#chance(0.6)) await net.run(this.#below(200));
    }
    for (const { provider } of this.#here) provider.connect();
    await net.settle();
    const late = this.#join();
    await net.settle();
    this.#check(late);
    this.#count("runs");
  }

  end(): void {
    for (const { doc } of this.#programs) doc.destroy();
    this.#net.end();
  }

  get #here(): Program[] {
    return this.#programs.filter((program) => !this.#gone.has(program));
  }

  #join(doc = new Y.Doc()): Program {
    // The client's number comes from the seed, as everything else.
    doc.clientID = this.#below(2 ** 32);
    const joined = program(this.#net, { name: `p${this.#programs.length}` }, {}, doc);
    joined.room.on("gap", ({ reason }) => this.#count(reason));
    joined.room.on("snapshot", () => this.#count("snapshot"));
    this.#programs.push(joined);
    return joined;
  }

  #edit(writer: Program): void {
    const { doc, text, provider } = writer;
    const [list, map] = [doc.getArray<unknown>("list"), doc.getMap<unknown>("map")];
    const id = `${this.#made.size}`;
    const edits: (() => void)[] = [
      () => text.insert(this.#below(text.length + 1), `${id} `),
      () => text.delete(this.#below(text.length), Math.min(3, text.length - this.#below(text.length))),
      () => text.length > 0 && text.format(this.#below(text.length), 1, { bold: this.#chance(0.5) }),
      () => map.set(`key ${this.#below(3)}`, { id }),
      () => map.delete(`key ${this.#below(3)}`),
      () => list.length > 0 && list.insert(this.#below(list.length + 1), [{ nested: [id, 1.5, null] }]),
    ];
    const attempt = (run: () => void): void => {
      try {
        run();
      } catch {
        // Outside of the text.
      }
    };
    doc.transact(() => {
      for (let at = this.#below(3); at >= 0; at -= 1) attempt(edits[this.#below(edits.length)] as () => void);
      // This entry is never deleted, so it has to be there in the end.
      doc.getMap("made").set(id, this.#chance(0.05) ? "large ".repeat(20_000) : 1);
    });
    if (doc.getMap("made").get(id) !== 1) this.#count("pieces");
    this.#made.set(id, writer);
    provider.awareness?.setLocalStateField(`field ${this.#below(2)}`, id);
  }

  #disturb(): void {
    const net = this.#net;
    const here = this.#here;
    const victim = here[this.#below(here.length)] as Program;
    const kinds: [string, () => void][] = [
      ["partition", () => net.partition(victim.room, this.#below(9000))],
      ["long partition", () => net.partition(victim.room, 12_000 + this.#below(5000))],
      ["break", () => net.breakConnection(victim.room)],
      ["freeze", () => net.suspendTab(victim.room, this.#below(5000))],
      ["late joiner", () => void this.#join()],
      ["crash", () => here.length > 2 && this.#crash(victim)],
      ["restart", () => net.restartServer({ downFor: this.#below(2000) })],
      ["toggle", () => (victim.provider.shouldConnect ? victim.provider.disconnect() : victim.provider.connect())],
    ];
    const [name, happen] = kinds[this.#below(kinds.length)] as (typeof kinds)[number];
    this.#count(name);
    happen();
  }

  /** The program ends. It comes back with its document, as if it had been kept, or it does not. */
  #crash(victim: Program): void {
    this.#gone.add(victim);
    this.#net.crashTab(victim.room);
    if (this.#chance(0.5)) {
      const kept = new Y.Doc();
      Y.applyUpdate(kept, Y.encodeStateAsUpdate(victim.doc));
      const again = this.#join(kept);
      for (const [id, writer] of this.#made) if (writer === victim) this.#made.set(id, again);
    }
    victim.doc.destroy();
  }

  #check(late: Program): void {
    const here = this.#here;
    expectSame(here);
    for (const [id, writer] of this.#made)
      if (!this.#gone.has(writer)) expect(late.doc.getMap("made").has(id), `what ${writer.room.name} made`).toBe(true);
    const states = new Map(here.map(({ doc, provider }) => [doc.clientID, provider.awareness?.getLocalState()]));
    for (const { provider, room } of here) {
      expect([provider.synced, provider.saved, provider.readOnly], room.name).toEqual([true, true, false]);
      expect(Object.fromEntries(provider.awareness?.getStates() ?? [])).toEqual(Object.fromEntries(states));
    }
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
