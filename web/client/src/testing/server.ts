/** The server: its rooms, its store, and who may join. */

import { errorInfo } from "../errors.js";
import type { SimulatedClock } from "./clock.js";
import type { Random } from "./random.js";
import type { RoomCore, RoomEvent, RoomModule, RoomSettings } from "./room-module.js";
import type { ServerEnd, SimulatedTransport } from "./transport.js";

/**
 * A change becomes durable after this time at most: a commit of a disk that works takes a few
 * milliseconds.
 */
const SLOWEST_COMMIT_MS = 10;

/** The identity and rights of a participant. */
export interface Identity {
  /** The user, as verified by a server that checks tokens. Default: unknown. */
  readonly user?: string;
  readonly rights?: Rights;
}

/**
 * What a participant may do, as in the claim `groupwire` of a JSON web token: patterns of channel
 * names in which a star stands for any text.
 */
export interface Rights {
  /** The channels that it may publish on. Default: all. */
  readonly publish?: readonly string[];
  /** The channels that it may receive. Default: all. */
  readonly subscribe?: readonly string[];
  /**
   * The channels whose QoS it may set, also by being the first who opens one. Default: those of
   * `publish`.
   */
  readonly qos?: readonly string[];
  /**
   * The channels that may be in parts of the snapshot that it uploads. Default: those of `publish`.
   */
  readonly snapshot?: readonly string[];
}

export interface ServerOptions {
  readonly clock: SimulatedClock;
  readonly random: Random;
  readonly settings: RoomSettings;
  /** Identifies the participant of a transport by its token. Throws if it may not join. */
  readonly identify: (transport: SimulatedTransport, token: string) => Identity;
  /** Adds a line to the log. */
  readonly log: (text: () => string) => void;
  /** The name of the participant at the other end of a transport. */
  readonly nameOf: (link: number) => string;
  /** Called when something happened that `settle` waits for. */
  readonly stirred: () => void;
}

/** How a server restarts. */
export interface RestartOptions {
  /** Milliseconds until the new server accepts connections. Default: 0. */
  readonly downFor?: number;
  /**
   * Whether the rooms that are stored are still there. Default: true. Rooms with the durability
   * `memory` never are: their participants get the gap `incarnation`.
   */
  readonly keepsState?: boolean;
  /**
   * The server says goodbye and stores everything, as `groupwire serve` does when it is stopped.
   * Default: it is killed.
   */
  readonly goodbye?: boolean;
}

export class SimulatedServer implements ServerEnd {
  readonly #options: ServerOptions;
  readonly #rooms = new Map<string, HostedRoom>();
  readonly #transports = new Map<number, SimulatedTransport>();
  #module: RoomModule | undefined;
  #incarnation = 0;
  #isUp = true;
  /** Counts the servers, so that only the last one of several restarts takes connections. */
  #life = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The module is loaded. */
  start(module: RoomModule): void {
    this.#module = module;
  }

  /** Grows with each message that a room takes or sends. */
  get activity(): number {
    let sum = 0;
    for (const { core } of this.#rooms.values()) sum += core.activity;
    return sum;
  }

  /** True while changes wait to become durable. */
  get isStoring(): boolean {
    return [...this.#rooms.values()].some(({ core }) => core.unstored > 0);
  }

  opened(transport: SimulatedTransport): void {
    this.#transports.set(transport.number, transport);
  }

  received(transport: SimulatedTransport, packet: Uint8Array): void {
    const room = this.#roomOf(transport);
    if (room.has(transport.number)) room.input((core, now) => core.packet(now, transport.number, packet));
    else this.#join(room, transport, packet);
  }

  receivedDatagram(transport: SimulatedTransport, packet: Uint8Array): void {
    this.#roomOf(transport).input((core, now) => core.datagram(now, transport.number, packet));
  }

  sent(transport: SimulatedTransport): void {
    this.#roomOf(transport).input((core, now) => core.sent(now, transport.number));
  }

  datagramSent(transport: SimulatedTransport): void {
    this.#roomOf(transport).input((core, now) => core.datagramSent(now, transport.number));
  }

  closed(transport: SimulatedTransport): void {
    this.#transports.delete(transport.number);
    this.#roomOf(transport).closed(transport.number);
  }

  /** Asks the participant of a transport for another token. */
  wantToken(transport: SimulatedTransport): void {
    // Before the first `run` nobody has joined.
    if (this.#module) this.#roomOf(transport).input((core, now) => core.wantToken(now, transport.number));
  }

  /** The server ends, and another one takes its place. */
  restart({ downFor = 0, keepsState = true, goodbye = false }: RestartOptions): void {
    const { log, clock } = this.#options;
    const state = keepsState ? "with what it stored" : "without its state";
    const time = downFor > 0 ? ` after ${downFor} ms` : "";
    log(() => `the server ${goodbye ? "says goodbye" : "is killed"} and starts again${time}, ${state}`);
    if (goodbye) for (const room of this.#rooms.values()) room.sayGoodbye(downFor);
    this.#isUp = false;
    for (const transport of this.#transports.values()) transport.serverCloses();
    this.#transports.clear();
    for (const room of this.#rooms.values()) room.die(goodbye, keepsState, (this.#incarnation += 1));
    const life = (this.#life += 1);
    clock.after(downFor, () => {
      if (life !== this.#life) return;
      this.#isUp = true;
      for (const room of this.#rooms.values()) room.revive();
      if (downFor > 0) log(() => "the server is there again");
    });
  }

  /** Frees the memory of all rooms. */
  free(): void {
    this.#isUp = false;
    for (const room of this.#rooms.values()) room.free();
    this.#rooms.clear();
  }

  #join(room: HostedRoom, transport: SimulatedTransport, packet: Uint8Array): void {
    if (!this.#module) return;
    try {
      const { user = "", rights } = this.#options.identify(transport, this.#module.tokenOf(packet));
      room.join(transport, packet, user, writeRights(rights));
    } catch (error) {
      const why = errorInfo(error).message;
      const { log, nameOf } = this.#options;
      log(() => `the server refuses ${nameOf(transport.number)}: ${why}`);
      this.#transports.delete(transport.number);
      transport.serverCloses(this.#module.refusal(why));
    }
  }

  #roomOf({ room: name }: SimulatedTransport): HostedRoom {
    const known = this.#rooms.get(name);
    if (known) return known;
    if (!this.#module) throw new Error("the room's module is not loaded");
    const core = new this.#module.SimulatedRoom(name, (this.#incarnation += 1), this.#options.settings);
    const room = new HostedRoom(core, this.#transports, this.#options);
    this.#rooms.set(name, room);
    return room;
  }
}

/** One room, and the code that drives it. */
class HostedRoom {
  readonly #transports: Map<number, SimulatedTransport>;
  readonly #options: ServerOptions;
  /** The transports whose first packet the room has. */
  readonly #links = new Set<number>();
  /** The names of participants by their ids, for the log. */
  readonly #names = new Map<number, string>();
  #cancelTimer = (): void => {};
  #lastCommit = 0;
  #isPumping = false;
  #isDead = false;
  /** Counts the servers, so that a commit of a killed one is not reported to the next. */
  #life = 0;

  constructor(
    readonly core: RoomCore,
    transports: Map<number, SimulatedTransport>,
    options: ServerOptions,
  ) {
    this.#transports = transports;
    this.#options = options;
  }

  has(link: number): boolean {
    return this.#links.has(link);
  }

  join(transport: SimulatedTransport, packet: Uint8Array, user: string, rights: string): void {
    this.#links.add(transport.number);
    this.input((core, now) => core.join(now, transport.number, packet, transport.maxDatagram, user, rights));
  }

  closed(link: number): void {
    if (this.#links.delete(link)) this.input((core, now) => core.closed(now, link));
  }

  input(happening: (core: RoomCore, now: number) => void): void {
    if (this.#isDead) return;
    happening(this.core, this.#options.clock.now());
    this.#pump();
  }

  sayGoodbye(retry: number): void {
    this.input((core, now) => core.shutdown(now, retry));
  }

  /**
   * Ends the server. After a goodbye all unstored changes are kept, otherwise a random number of
   * them.
   */
  die(goodbye: boolean, keepsState: boolean, incarnation: number): void {
    const { unstored } = this.core;
    const kept = goodbye ? unstored : this.#options.random.below(unstored + 1);
    if (keepsState) this.core.restart(kept, incarnation);
    else this.core.lose(incarnation);
    this.#links.clear();
    this.#cancelTimer();
    this.#life += 1;
    this.#isDead = true;
  }

  /** Frees its memory. Nothing happens to it any more. */
  free(): void {
    this.#isDead = true;
    this.core.free();
  }

  /** Starts the next server. */
  revive(): void {
    this.#isDead = false;
    this.input((core, now) => core.timeout(now));
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      for (;;) {
        const output = this.core.poll();
        if (output.type === "timeout") return this.#wait(output.at);
        switch (output.type) {
          case "send":
            this.#transports.get(output.link)?.serverSends(output.packet);
            break;
          case "datagram":
            this.#transports.get(output.link)?.serverSendsDatagram(output.packet, output.reports);
            break;
          case "close":
            this.#close(output.link, output.packet);
            break;
          case "token":
            this.#renew(output.link, output.token);
            break;
          case "store":
            this.#store();
            break;
          case "event":
            this.#options.stirred();
            this.#logEvent(output);
        }
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #wait(at: number): void {
    this.#cancelTimer();
    if (at === Infinity) return;
    const { clock } = this.#options;
    this.#cancelTimer = clock.at(at, () => this.input((core, now) => core.timeout(now)));
  }

  #close(link: number, packet: Uint8Array): void {
    const transport = this.#transports.get(link);
    this.#transports.delete(link);
    this.#links.delete(link);
    transport?.serverCloses(packet);
  }

  /** Changes become durable in their order. */
  #store(): void {
    const { clock, random, stirred } = this.#options;
    const life = this.#life;
    this.#lastCommit = Math.max(this.#lastCommit, clock.now() + random.fraction() * SLOWEST_COMMIT_MS);
    stirred();
    clock.at(this.#lastCommit, () => {
      if (life === this.#life) this.input((core, now) => core.stored(now));
    });
  }

  #renew(link: number, token: string): void {
    const transport = this.#transports.get(link);
    if (!transport) return;
    const now = this.#options.clock.now();
    try {
      const { user = "", rights } = this.#options.identify(transport, token);
      this.core.renewed(now, link, user, writeRights(rights));
    } catch (error) {
      this.core.refuse(now, link, errorInfo(error).message);
    }
  }

  #logEvent(event: RoomEvent): void {
    const { log, nameOf } = this.#options;
    const name = (id: number): string => this.#names.get(id) ?? `participant ${id}`;
    switch (event.event) {
      case "joined": {
        const who = nameOf(event.link);
        this.#names.set(event.participant, who);
        return log(() => `the room has ${who} as participant ${event.participant}${event.resumed ? ", resumed" : ""}`);
      }
      case "refused":
        return log(() => `the room refuses ${nameOf(event.link)}: ${event.why}`);
      case "away":
        return log(() => `the room marks ${name(event.participant)} as away${event.why ? `: ${event.why}` : ""}`);
      case "left":
        return log(() => `${name(event.participant)} has left the room`);
      case "changed":
        return log(() => `${name(event.participant)} changes the QoS of "${event.name}"`);
      case "snapshot":
        return log(
          () =>
            `the room has the part "${event.part}" of its snapshot: ${event.size} bytes, up to position ${event.asOf}`,
        );
      case "channel":
      case "other":
    }
  }
}

/** The rights as crates/simulation/src/room/rights.rs reads them. */
function writeRights(rights: Rights = {}): string {
  return Object.entries(rights)
    .filter(([, patterns]) => patterns !== undefined)
    .map(([right, patterns]: [string, readonly string[]]) => [right, ...patterns].join("\t"))
    .join("\n");
}
