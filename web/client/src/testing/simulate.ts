/** A server, its rooms and their participants in simulated time, over simulated networks. */

import { serverOf } from "../address.js";
import type { ConnectOptions, Room, TransportName } from "../api.js";
import { check, checkOptions } from "../arguments.js";
import type { LoadedCore } from "../core.js";
import { failure, shown } from "../errors.js";
import { checkConnect } from "../options.js";
import { ClientRoom, type connect } from "../room.js";
import { SimulatedClock } from "./clock.js";
import { Log } from "./log.js";
import { modules, otherTasks, throwsReports } from "./modules.js";
import {
  ANY_DURATION,
  COUNT,
  DURATION,
  IDENTITY,
  JOIN,
  NETWORK,
  PARTICIPANTS,
  RESTART,
  SETTLE,
  SIMULATION,
} from "./options.js";
import { Path, type NetworkConditions } from "./path.js";
import { Random } from "./random.js";
import type { RoomModule, RoomSettings } from "./room-module.js";
import { firstSeed, note } from "./seeds.js";
import { SimulatedServer, type Identity, type RestartOptions } from "./server.js";
import { Tab, TRANSPORTS } from "./tab.js";
import { replaceTimers } from "./timers.js";
import { SimulatedTransport, type Packet } from "./transport.js";

/** The options of {@link simulate}. */
export interface SimulationOptions extends NetworkConditions, RoomSettings {
  /**
   * All chance comes from this whole number: the same seed repeats a run exactly. Default:
   * `GROUPWIRE_SEED`, or 1.
   */
  readonly seed?: number;
  /**
   * The transports that the networks let through. `webtransport` has datagrams, `websocket` has
   * none. Default: both, of which a room takes the first that works.
   */
  readonly transports?: readonly TransportName[];
  /**
   * Decides who may join, by the token of `connect`: returns who it is, and throws an error with
   * the reason to refuse. Default: everybody may do everything.
   */
  readonly authenticate?: (token: string) => Identity;
  /**
   * Replaces `setTimeout`, `setInterval`, `Date` and `performance.now` of the program by simulated
   * time until `end`, for applications that have timers. Default: false.
   */
  readonly fakeTimers?: boolean;
  /** Called for each packet and each datagram that an end sends, also for those that are lost. */
  readonly onPacket?: (packet: Packet) => void;
}

/** A participant that joins: its name, network and user, and the options of `connect`. */
export interface JoinOptions<Presence = unknown> extends NetworkConditions, Identity {
  /** The name in the log, by which other methods take it, too. Default: a, b, c and so on. */
  readonly name?: string;
  /** The name of the room. Default: "room". */
  readonly room?: string;
  readonly presence?: Presence;
  readonly token?: ConnectOptions["token"];
  readonly transports?: readonly TransportName[];
}

/** A participant: its room object, or its name. */
export type Who = Room<never> | Room | string;

export interface SettleOptions {
  /** How long nothing may happen, in simulated milliseconds. Default: 3,000. */
  readonly quiet?: number;
  /** Simulated milliseconds after which `settle` gives up with an error. Default: 600,000. */
  readonly limit?: number;
}

/**
 * A tuple of `Count` items, so that for the compiler, too, `const [a, b] = net.join(2)` has two
 * rooms.
 */
type Times<Item, Count extends number, All extends Item[] = []> = number extends Count
  ? Item[]
  : All["length"] extends Count
    ? All
    : Times<Item, Count, [...All, Item]>;

/**
 * Longer than any timer that a room runs after the last message: the tick, housekeeping, repeats of
 * datagrams, the choice of another transport.
 */
const QUIET_MS = 3000;
const LIMIT_MS = 600_000;

/** More events than this at one time are an endless loop. */
const MOST_AT_ONCE = 100_000;

/** The number of log lines in an error. */
const TOLD = 40;

/** What the room counts for each transaction in its log, beside the bytes of the message. */
const LOG_ENTRY = 128;

/**
 * Starts a simulated server. Nothing happens until `run`, `until` or `settle` is awaited, and all
 * of it happens in simulated time, in the same way whenever the seed is the same.
 *
 * @example
 * ```ts
 * const net = simulate({ seed: 7, loss: 0.1, jitter: 40 });
 * const [a, b] = net.join(2);
 * const chat = [a, b].map((room) => room.channel("chat", transaction()));
 * chat[0].send("hello");
 * net.partition(b, 2000);
 * await net.settle();
 * ```
 */
export function simulate(options: SimulationOptions = {}): Simulation {
  checkOptions(options, SIMULATION, "`simulate`");
  return note(new Simulation(options));
}

export class Simulation {
  readonly seed: number;
  readonly #options: SimulationOptions;
  readonly #clock = new SimulatedClock();
  readonly #random: Random;
  readonly #own: Random;
  readonly #log = new Log();
  readonly #server: SimulatedServer;
  readonly #tabs: Tab[] = [];
  readonly #identities = new Map<Tab, Identity>();
  readonly #transports = new Map<number, { readonly transport: SimulatedTransport; readonly tab: Tab }>();
  #modules: { readonly core: LoadedCore; readonly room: RoomModule } | undefined;
  #isRunning = false;
  #hasEnded = false;
  /** Code of the application may have queued microtasks. */
  #hasEntered = true;
  #lastStir = 0;
  #lastActivity = 0;
  /** Modules that are loading, in real time; nothing else happens until they are loaded. */
  readonly #loading = new Set<Promise<unknown>>();
  /** Exceptions of listeners, which `run` throws. */
  readonly #thrown: unknown[] = [];
  readonly #restoreTimers: () => void;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.seed = options.seed ?? firstSeed();
    this.#random = new Random(this.seed);
    this.#own = new Random(~this.seed);
    this.#server = new SimulatedServer({
      clock: this.#clock,
      random: this.#random,
      settings: options,
      identify: (transport, token) => this.#identify(transport, token),
      log: (text) => this.#note(text),
      nameOf: (link) => this.#transports.get(link)?.tab.name ?? "somebody",
      stirred: () => this.#stir(),
    });
    this.#restoreTimers = options.fakeTimers ? replaceTimers(this.#clock, () => this.#enter()) : () => {};
  }

  /** True once `end` was called. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Simulated milliseconds since the beginning. */
  get now(): number {
    return this.#clock.now();
  }

  /**
   * A random number from 0 up to 1 from the seed, for choices of the test itself. It does not
   * change what the network does.
   */
  readonly random = (): number => this.#own.fraction();

  /** A participant joins, or several do. */
  join<Presence = unknown>(options?: JoinOptions<Presence>): Room<Presence>;
  join<Count extends number, Presence = unknown>(
    count: Count,
    options?: Omit<JoinOptions<Presence>, "name">,
  ): Times<Room<Presence>, Count>;
  join<Presence>(first: number | JoinOptions<Presence> = {}, options: JoinOptions<Presence> = {}): unknown {
    checkOptions(typeof first === "number" ? options : first, JOIN, "`join`");
    if (typeof first !== "number") return this.#join(first);
    check(first, PARTICIPANTS, "the number of participants of `join`");
    return Array.from({ length: first }, () => this.#join(options));
  }

  /**
   * `connect` of `groupwire`, for applications that call it themselves. Each call is a participant;
   * the address of the server is of no importance.
   */
  readonly connect: typeof connect = <Presence = unknown>(
    url: string | URL,
    room: string,
    options: ConnectOptions<Presence> = {},
  ): Room<Presence> => {
    checkConnect(room, options);
    return this.#make(serverOf(url), { room }, options);
  };

  /** Advances the virtual time by this many milliseconds. */
  async run(ms: number): Promise<void> {
    check(ms, DURATION, "`ms` of `run`");
    await this.#advance(this.now + ms);
  }

  /**
   * Goes on until the condition is true. Throws an error with the log if it is not within `limit`
   * (default: 60,000 ms).
   */
  async until(condition: () => boolean, options: { readonly limit?: number } = {}): Promise<void> {
    check(condition, "function", "`condition` of `until`");
    checkOptions(options, { limit: DURATION }, "`until`");
    const { limit = 60_000 } = options;
    if (await this.#advance(this.now + limit, condition)) return;
    throw failure("timeout", "own", `the condition is not true within ${limit} ms of simulated time\n${this.#last()}`);
  }

  /**
   * Goes on until everybody is connected, all transactions are confirmed, nothing is under way, and
   * nothing has happened for a while. It waits for partitions and restarts that end by themselves.
   * Participants who are cut off without an end are left out.
   */
  async settle(options: SettleOptions = {}): Promise<void> {
    checkOptions(options, SETTLE, "`settle`");
    const { quiet = QUIET_MS, limit = LIMIT_MS } = options;
    this.#stir();
    const isSettled = (): boolean => this.now - this.#lastStir >= quiet && this.#unsettled().length === 0;
    if (await this.#advance(this.now + limit, isSettled)) return;
    const why = this.#unsettled().join("; ") || "something happens again and again";
    throw failure("timeout", "own", `not settled within ${limit} ms of simulated time: ${why}\n${this.#last()}`);
  }

  /** Changes the network of a participant. */
  change(who: Who, conditions: NetworkConditions): void {
    const tab = this.#tabOf(who);
    checkOptions(conditions, NETWORK, "`change`");
    this.#note(() => `the network of ${tab.name} changes: ${JSON.stringify(conditions)}`);
    tab.path.change(conditions);
  }

  /**
   * Cuts a participant off the network. Nobody is notified: connections stay open and carry
   * nothing. `ms`: the duration; default: until `heal`.
   */
  partition(who: Who, ms = Infinity): void {
    const tab = this.#tabOf(who);
    check(ms, ANY_DURATION, "`ms` of `partition`");
    this.#note(() => `${tab.name} is cut off from the network${ms < Infinity ? ` for ${ms} ms` : ""}`);
    const until = this.now + ms;
    tab.path.cut(until);
    if (ms < Infinity) this.#clock.after(ms, () => tab.path.cutUntil === until && this.#heal(tab));
  }

  /** Ends a partition. */
  heal(who: Who): void {
    this.#heal(this.#tabOf(who));
  }

  /**
   * Breaks the connection of a participant: both ends notice at once, and what is under way is
   * lost.
   */
  breakConnection(who: Who): void {
    const tab = this.#tabOf(who);
    this.#note(() => `the connection of ${tab.name} breaks`);
    for (const transport of tab.transports) transport.break();
  }

  /** The server ends, and another one takes its place. */
  restartServer(options: RestartOptions = {}): void {
    checkOptions(options, RESTART, "`restartServer`");
    this.#mustGoOn();
    this.#stir();
    this.#server.restart(options);
  }

  /** The server asks a participant for another token, as when its token expires soon. */
  expireToken(who: Who): void {
    for (const transport of this.#tabOf(who).transports) this.#server.wantToken(transport);
  }

  /** Closes a participant's page: its room says goodbye. */
  closeTab(who: Who): void {
    const tab = this.#tabOf(who);
    this.#note(() => `the page of ${tab.name} is closed`);
    tab.close();
  }

  /** Ends a participant's program without a word. None of its code runs any more. */
  crashTab(who: Who): void {
    const tab = this.#tabOf(who);
    this.#note(() => `the program of ${tab.name} crashes`);
    tab.crash();
  }

  /**
   * Stops a participant's program for a while, as a browser freezes a page. Its connections stay
   * open.
   */
  suspendTab(who: Who, ms: number): void {
    const tab = this.#tabOf(who);
    check(ms, DURATION, "`ms` of `suspendTab`");
    this.#note(() => `the page of ${tab.name} is frozen for ${ms} ms`);
    tab.suspend();
    this.#clock.after(ms, () => {
      this.#note(() => `the page of ${tab.name} goes on`);
      tab.resume();
    });
  }

  /** The last things that happened, in plain words: at most 2,000 lines, or `lines`. */
  log(lines?: number): string {
    if (lines !== undefined) check(lines, COUNT, "`lines` of `log`");
    return this.#log.text(lines);
  }

  /** Ends the simulation: frees its memory, and puts timers back that `fakeTimers` replaced. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#restoreTimers();
    for (const tab of this.#tabs) tab.free();
    this.#server.free();
  }

  #join<Presence>({ token, presence, transports, ...options }: JoinOptions<Presence>): Room<Presence> {
    const given = { token, presence, transports };
    const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return this.#make(new URL("http://server.example"), options, stated);
  }

  #make<Presence>(
    server: URL,
    { name = nameAt(this.#tabs.length), room = "room", user, rights, ...network }: JoinOptions,
    options: ConnectOptions<Presence>,
  ): Room<Presence> {
    this.#mustGoOn();
    if (this.#tabs.some((tab) => tab.name === name))
      throw failure("invalid-argument", "own", `there is a participant "${name}" already: take another name`);
    const path = new Path(this.#clock, this.#random, this.#conditions());
    path.change(network);
    const tab: Tab = new Tab({
      name,
      path,
      clock: this.#clock,
      random: () => this.#random.fraction(),
      transports: this.#options.transports ?? TRANSPORTS,
      open: (_, transport, events) => this.#open(tab, room, transport, events),
      hold: (loading) => this.#hold(loading),
      log: (text) => this.#note(text),
      largest: this.#largest,
      stirred: () => tab.path.cutUntil === Infinity || this.#stir(),
      entered: () => this.#enter(),
    });
    this.#tabs.push(tab);
    if (user !== undefined || rights !== undefined)
      this.#identities.set(tab, { ...(user !== undefined && { user }), ...(rights && { rights }) });
    this.#note(() => `${name} joins the room "${room}"`);
    const made = new ClientRoom<Presence>(server, room, options, tab.environment);
    tab.room = made as Room;
    this.#clock.after(0, () => this.#modules && tab.start(this.#modules.core));
    return made;
  }

  /**
   * The bytes of the largest transaction that the room's log can hold. The log of a stored room has
   * no limit.
   */
  get #largest(): number {
    const { durability = "memory", maxLogBytes = Infinity } = this.#options;
    return durability === "memory" ? maxLogBytes - LOG_ENTRY : Infinity;
  }

  #open(
    tab: Tab,
    room: string,
    name: TransportName,
    events: ConstructorParameters<typeof SimulatedTransport>[0]["events"],
  ): SimulatedTransport {
    const number = this.#transports.size + 1;
    const transport = new SimulatedTransport({
      number,
      name,
      room,
      clock: this.#clock,
      path: tab.path,
      server: this.#server,
      events,
      log: (text) => this.#note(() => `${tab.name}: ${text()}`),
      sent: (way, sent) => this.#options.onPacket?.({ who: tab.name, way, ...sent }),
    });
    for (const old of tab.transports) if (old.isOver) tab.transports.delete(old);
    tab.transports.add(transport);
    this.#transports.set(number, { transport, tab });
    return transport;
  }

  #identify(transport: SimulatedTransport, token: string): Identity {
    const tab = this.#transports.get(transport.number)?.tab;
    const stated = tab && this.#identities.get(tab);
    const identity = this.#options.authenticate?.(token) ?? {};
    checkOptions(identity, IDENTITY, "the result of `authenticate`");
    return { ...identity, ...stated };
  }

  #conditions(): NetworkConditions {
    const { delay, jitter, loss, rate, up, down } = this.#options;
    const conditions = { delay, jitter, loss, rate, up, down };
    return Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined));
  }

  #heal(tab: Tab): void {
    if (tab.path.cutUntil === undefined) return;
    this.#note(() => `${tab.name} has its network again`);
    this.#stir();
    tab.path.heal();
  }

  /** Advances to a time, or until `done`. Returns whether `done` was true. */
  async #advance(end: number, done: () => boolean = () => false): Promise<boolean> {
    if (this.#isRunning)
      throw failure(
        "running",
        "own",
        "the simulation is running: await `run`, `until` or `settle` before the next one",
      );
    this.#mustGoOn();
    this.#isRunning = true;
    const stopCatching = throwsReports() ? catchReports(this.#thrown) : () => {};
    try {
      if (!this.#modules) {
        this.#modules = await modules();
        this.#server.start(this.#modules.room);
      }
      this.#hasEntered = true;
      let count = 0;
      for (;;) {
        await this.#finishTasks();
        // What has just run may have ended the simulation.
        this.#mustGoOn();
        if (done()) return true;
        if (this.#clock.next() > end) break;
        const before = this.now;
        this.#clock.runNext();
        count = this.now > before ? 0 : count + 1;
        if (count > MOST_AT_ONCE) throw failure("timeout", "own", `time does not go on\n${this.#last()}`);
      }
      this.#clock.goTo(end);
      return done();
    } finally {
      stopCatching();
      this.#isRunning = false;
    }
  }

  /** Runs all promise callbacks that the application and the client have queued. */
  async #finishTasks(): Promise<void> {
    if (this.#hasEntered) {
      this.#hasEntered = false;
      await otherTasks();
      while (this.#loading.size > 0) {
        await Promise.allSettled(this.#loading);
        await otherTasks();
      }
    }
    if (this.#thrown.length > 0) throw this.#thrown.shift();
  }

  #hold<T>(loading: Promise<T>): Promise<T> {
    this.#loading.add(loading);
    const finish = (): void => void this.#loading.delete(loading);
    loading.then(finish, finish);
    return loading;
  }

  /** Why the simulation is not settled. */
  #unsettled(): string[] {
    const reasons = this.#tabs.flatMap((tab) => {
      const { room, path, name, isGone } = tab;
      if (!room || path.cutUntil === Infinity) return [];
      const underWay = [...tab.transports].some((transport) => transport.underWay > 0);
      const reasons = underWay ? [`packets of ${name} are under way`] : [];
      if (isGone) return reasons;
      if (path.cutUntil !== undefined) reasons.push(`${name} is cut off from the network`);
      if (tab.isSuspended) reasons.push(`the page of ${name} is frozen`);
      if (room.status === "closed") return reasons;
      if (room.status !== "connected") reasons.push(`${name} is ${room.status}`);
      if (room.pending > 0) reasons.push(`${name} has ${room.pending} transactions that are not confirmed`);
      return reasons;
    });
    if (!this.#server.isUp) reasons.push("the server is down");
    if (this.#server.isStoring) reasons.push("the server is storing");
    const { activity } = this.#server;
    if (activity !== this.#lastActivity) {
      this.#lastActivity = activity;
      this.#stir();
      reasons.push("messages were sent");
    }
    return reasons;
  }

  #tabOf(who: Who): Tab {
    const tab = this.#tabs.findLast((tab) => tab.name === who || tab.room === who);
    if (tab) return tab;
    const what = typeof who === "object" && who !== null ? "with this room" : shown(who);
    throw failure("invalid-argument", "own", `there is no participant ${what}: give its room, or its name`);
  }

  #mustGoOn(): void {
    if (this.#hasEnded) throw failure("ended", "own", "the simulation has ended: make another one by `simulate`");
  }

  #enter(): void {
    this.#hasEntered = true;
  }

  #stir(): void {
    this.#lastStir = this.now;
  }

  #note(text: () => string): void {
    this.#log.add(this.now, text);
  }

  #last(): string {
    return `seed ${this.seed}; what happened last:\n${this.log(TOLD)}`;
  }
}

/** a, b, …, z, then p27 and so on. */
function nameAt(index: number): string {
  return index < 26 ? String.fromCharCode(97 + index) : `p${index + 1}`;
}

/**
 * Collects exceptions of listeners, which the client reports by the global `reportError`. Returns
 * how to stop.
 */
function catchReports(thrown: unknown[]): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, "reportError");
  const value = (error: unknown): void => void thrown.push(error);
  Object.defineProperty(globalThis, "reportError", { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(globalThis, "reportError", before);
    else delete (globalThis as { reportError?: unknown }).reportError;
  };
}
