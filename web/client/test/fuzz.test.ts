/**
 * Calls all public functions with any values, in any order, in simulated rooms and over WebSockets
 * that do anything. Nothing but a GroupwireError, or what the application's own functions have
 * thrown, reaches the application; nothing is rejected without a handler, and no call fails within
 * WebAssembly. `GROUPWIRE_CALLS` is the number of calls, the random numbers come from
 * `GROUPWIRE_SEED`.
 */

import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { GroupwireError, type Room, type RoomError } from "../src/index.js";
import { forSeeds, simulate } from "../src/testing.js";
import { Random } from "../src/testing/random.js";
import { join, settled, SocketDouble } from "./double.js";
import { CALLS, ENDINGS, NOTHING, populate, resolved, type Call, type World } from "./fuzz/calls.js";
import * as v from "./fuzz/values.js";
import * as wire from "./wire.js";

const { process } = globalThis as unknown as {
  readonly process: {
    readonly env: Readonly<Record<string, string | undefined>>;
    on(event: string, listener: (error: unknown) => void): void;
    off(event: string, listener: (error: unknown) => void): void;
  };
};

/** The default takes a few seconds of `make test`. */
const WANTED = Number(process.env["GROUPWIRE_CALLS"] ?? 3000);
const SEED = Number(process.env["GROUPWIRE_SEED"] ?? 1);

/** The most calls in one world, and about how many there are. */
const [LONGEST, USUAL] = [60, 25];

vi.setConfig({ testTimeout: 3_600_000 });

/** A call with its arguments. */
interface Step {
  readonly call: Call;
  readonly args: readonly unknown[];
  readonly [fc.toStringMethod]: () => string;
}

/** A value in a failing example, which is cut because some are long. */
function shown(value: unknown): string {
  const text = fc.stringify(value).replace(/\s+/g, " ");
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function steps(calls: readonly Call[]): fc.Arbitrary<Step[]> {
  const each = calls.map((call) =>
    fc
      .tuple(fc.tuple(...call.of.map(v.mostly)), fc.oneof({ weight: 9, arbitrary: fc.constant(9) }, fc.nat(3)), v.any)
      .map(([right, count, more]): Step => {
        const args = [...right, more].slice(0, Math.min(count, right.length + Number(count < 9)));
        return { call, args, [fc.toStringMethod]: () => `${call.name}(${args.map(shown).join(", ")})` };
      }),
  );
  return fc.array(fc.oneof(...each), { minLength: 1, maxLength: LONGEST, size: "max" });
}

/** Errors that must not occur. */
let problems: unknown[] = [];

/** Takes what a function has thrown, or a promise was rejected with. */
function judge(error: unknown): void {
  if (error instanceof v.Mine) return;
  if (!(error instanceof GroupwireError)) problems.push(error);
  else if (error.code === "internal") judgeCode(error);
}

/**
 * An error of the application's own function is told as `internal`, and so is a failure of the
 * core.
 */
function judgeCode({ code, message }: Pick<RoomError, "code" | "message">): void {
  if (code === "internal" && !message.includes(v.mine.message)) problems.push(new Error(`internal: ${message}`));
}

async function perform(world: World, { call, args }: Step): Promise<void> {
  try {
    const result = call.run(world, resolved(world, args));
    if (result === NOTHING) made -= 1;
    // Many promises wait for what never comes.
    if (result instanceof Promise) result.catch(judge);
  } catch (error) {
    judge(error);
  }
  await Promise.resolve();
}

let made = 0;

function worldOf(seed: number, connect: World["connect"]): World {
  const random = new Random(seed);
  const rooms: Room[] = [];
  return {
    rooms,
    made: new Map(),
    pick: (from) => from[random.below(from.length)],
    connect: (...args) => {
      const room = connect(...args);
      room.on("error", judgeCode);
      return room;
    },
  };
}

async function isClean(): Promise<void> {
  await settled();
  const found = problems;
  problems = [];
  if (found.length > 0) throw found[0];
}

const before = Object.getOwnPropertyDescriptor(globalThis, "reportError");

beforeAll(() => {
  process.on("unhandledRejection", judge);
  Object.defineProperty(globalThis, "reportError", { value: judge, configurable: true, writable: true });
});

afterAll(() => {
  process.off("unhandledRejection", judge);
  if (before) Object.defineProperty(globalThis, "reportError", before);
  else delete (globalThis as { reportError?: unknown }).reportError;
});

beforeEach(() => {
  made = 0;
  vi.spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => vi.restoreAllMocks());

async function fuzz(
  seed: number,
  calls: readonly Call[],
  run: (all: readonly Step[], seed: number) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(steps(calls), fc.nat(), async (all, seed) => {
    made += all.length;
    await run(all, seed);
    await isClean();
  });
  await fc.assert(property, { numRuns: Math.ceil(WANTED / 2 / USUAL), seed });
  expect(made).toBeGreaterThan(WANTED / 2 / 2);
}

const url = fc.constantFrom("ws://host", "https://host/a");
const connectOptions = v.options({
  token: v.token,
  presence: v.presence,
  channels: fc.dictionary(v.name, v.mostly(v.channelOptions), { maxKeys: 2 }),
  transports: v.transports,
});
const JOINING: Call = {
  name: "connect",
  of: [url, v.name, connectOptions],
  run: (world, args) => {
    const room = world.connect(...args);
    if (world.rooms.length < 4) world.rooms.push(room);
    else room.leave();
  },
};

const network = { delay: v.whole, jitter: v.whole, loss: fc.double({ min: 0, max: 0.5 }), rate: v.whole };
const settings = {
  ...network,
  durability: fc.constantFrom("memory", "local", "cluster"),
  snapshotAfter: v.whole,
  maxFormer: v.whole,
  away: v.soon,
};
const simulation = v.options({ ...settings, seed: v.whole, transports: v.transports, authenticate: v.callback });

const participant = v.options({ ...network, name: v.name, user: v.name, presence: v.presence, token: v.token });

/** Calls of the simulation in which the rooms are. */
function simulated(): readonly Call[] {
  type Net = ReturnType<typeof simulate>;
  const call = (name: string, of: Call["of"], run: (net: Net, args: readonly unknown[]) => unknown): Call => ({
    name: `net.${name}`,
    of,
    run: ({ made }, args) => run((made.get("net") as [Net])[0], args),
  });
  const who = fc.constantFrom("a", "b", "c");
  const method = (name: string, ...of: readonly fc.Arbitrary<unknown>[]): Call =>
    call(name, of, (net, args) =>
      (net as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[name]?.(...args),
    );
  const small = (value: unknown): unknown =>
    typeof value === "number" && value > 3000 && value <= 1e12 ? 3000 : value;
  const limits = (options: unknown): unknown =>
    typeof options === "object" && options !== null && !Array.isArray(options)
      ? {
          limit: 3000,
          quiet: 100,
          ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, small(value)])),
        }
      : options;
  return [
    call("join", [fc.oneof(participant, fc.nat(2)), v.options(network)], (net, args) => {
      const [count] = args;
      if (typeof count === "number" && count > 2 && count <= 10_000) return;
      const joined = net.join(...(args as [number])) as Room | Room[];
      for (const room of [joined].flat()) room.leave();
    }),
    call("run", [v.soon], (net, [ms]) => net.run(small(ms) as number)),
    call("run", [v.soon], (net, [ms]) => net.run(small(ms) as number)),
    call("until", [v.callback, v.options({ limit: v.soon })], (net, [done, options]) =>
      net.until(done as never, limits(options) as never),
    ),
    call("settle", [v.options({ quiet: v.soon, limit: v.soon })], (net, [options]) =>
      net.settle(limits(options) as never),
    ),
    method("change", who, v.options(network)),
    method("partition", who, v.soon),
    ...["heal", "breakConnection", "expireToken"].map((name) => method(name, who)),
    method("restartServer", v.options({ downFor: v.soon, keepsState: v.flag, goodbye: v.flag })),
    method("suspendTab", who, v.soon),
    method("log", v.whole),
    call("closeTab", [], (net) => net.random() < 0.2 && net.closeTab("b")),
    call("crashTab", [], (net) => net.random() < 0.2 && net.crashTab("b")),
    call("end", [], (net) => net.random() < 0.1 && net.end()),
    // Fake timers would stop those of the test itself.
    call("simulate", [simulation], (_, [options]) => simulate(options as never).end()),
    call("forSeeds", [v.whole, v.callback], (_, [count, run]) => {
      const few = typeof count === "number" && count > 3 ? 3 : count;
      return forSeeds(few as number, run as never);
    }),
  ];
}

test("in simulated rooms, no call with any arguments does anything but what it says", async () => {
  const calls = [...CALLS, ...ENDINGS, ...simulated(), ...simulated(), JOINING];
  await fuzz(SEED, calls, async (all, seed) => {
    const random = new Random(seed);
    const durability = random.chance(0.5) ? "local" : "memory";
    const net = simulate({ seed, durability, snapshotAfter: 5, away: 2000, loss: random.chance(0.3) ? 0.1 : 0 });
    const world = worldOf(seed, (...args) => net.connect(...(args as Parameters<typeof net.connect>)));
    world.made.set("net", [net]);
    world.rooms.push(...net.join(2), world.connect("ws://host", "room"));
    populate(world);
    for (const step of all) {
      await perform(world, step);
      if (random.chance(0.3)) await net.run(random.below(200)).catch(judge);
    }
    await net.run(3000).catch(judge);
    net.end();
    // The last calls are on objects that have ended.
    for (const step of all.slice(0, 10)) await perform(world, step);
  });
  console.info(`${made} calls in simulated rooms`);
});

/** What a server, or anything else behind an address, may send. */
function packetOf(random: Random): Uint8Array | string {
  const parts: readonly (() => readonly number[])[] = [
    () => wire.opened(random.below(3), 1 + random.below(3), "chat", random.chance(0.5) ? 0 : 1),
    () => wire.refused(random.below(3)),
    () => wire.synced(),
    () => wire.expired(),
    () => wire.tokenWanted(),
    () => wire.snapshotWanted(random.below(3)),
    () => wire.codecs(0, 1, 2),
    () => wire.count(random.chance(0.5), random.below(300)),
    () => wire.participants(true, [{ id: 2, state: 1, presence: '{"name":"Bo"}' }]),
    () => wire.messages({ channel: 1, sender: 2, text: '{"x":1}' }, { channel: 2, sender: 2, data: [1, 2], key: "k" }),
  ];
  const noise = (): number[] => Array.from({ length: random.below(30) }, () => random.below(256));
  if (random.chance(0.05)) return "<html>";
  if (random.chance(0.1)) return Uint8Array.from(noise());
  const count = random.below(4);
  return wire.packet(...Array.from({ length: count }, () => parts[random.below(parts.length)]?.() ?? []));
}

test("over WebSockets that do anything, no call with any arguments does anything but what it says", async () => {
  await fuzz(~SEED, [...CALLS, ...ENDINGS, JOINING], async (all, seed) => {
    const random = new Random(seed);
    const sockets: SocketDouble[] = [];
    class Socket extends SocketDouble {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }
    }
    const world = worldOf(seed, (_, room, options) => {
      return join({ WebSocket: Socket, ...(options as object) }, room as string).room;
    });
    world.rooms.push(world.connect("", "room"), world.connect("", "room"));
    populate(world);
    await settled();
    for (const step of all) {
      await perform(world, step);
      const socket = sockets[random.below(sockets.length)];
      if (!socket || random.chance(0.5)) continue;
      if (random.chance(0.3)) socket.open();
      else if (random.chance(0.3)) socket.serverSends(wire.welcome());
      else if (random.chance(0.1)) socket.drop();
      else socket.serverSends(packetOf(random));
      if (random.chance(0.3)) await settled();
    }
    await settled();
    for (const room of world.rooms) room.leave();
  });
  console.info(`${made} calls over WebSockets`);
});
