/**
 * Drives the core: gives it time and a transport, and keeps calls that come before the core is
 * loaded.
 */

import type {
  ConnectOptions,
  Contract,
  Durability,
  Problem,
  Qos,
  RoomError,
  Receipt,
  SendOptions,
  Sent,
  Transport,
  TransportName,
  WebSocketConstructor,
} from "./api.js";
import { Choice } from "./choice.js";
import type { Encoded } from "./codec.js";
import type { Codecs, Compression, CodecModule } from "./compress.js";
import type { Core, CoreEvent, CoreStats, LoadedCore, Output } from "./core.js";
import type { Environment } from "./environment.js";
import { asGroupwireError, failure, errorInfo } from "./errors.js";
import { Outage, type Round } from "./outage.js";
import { describe } from "./reasons.js";

export interface DriverOptions {
  readonly server: URL;
  readonly room: string;
  /** The token to begin with. */
  readonly token: Uint8Array | Promise<Uint8Array>;
  readonly presence: Uint8Array;
  readonly core: Promise<LoadedCore>;
  readonly environment: Environment;
  /** Where the modules with further codecs are. */
  readonly parts: Readonly<Record<CodecModule, ConnectOptions["codecs"]>>;
  readonly WebSocket: WebSocketConstructor | undefined;
  /** The transports that the application allows. */
  readonly transports: readonly TransportName[] | undefined;
  /** Whether the models that compress messages have little memory. */
  readonly isSmall: boolean;
  /** Called for each event, in the order of the core. It may call methods of the driver. */
  readonly emit: (event: CoreEvent) => void;
  readonly transport: (transport: Transport) => void;
  /** Called when the reason why there is no connection has changed. */
  readonly problem: (problem: Problem | undefined) => void;
  /** Called for errors that arise outside of the core. */
  readonly report: (error: RoomError) => void;
}

/** Opens links to the server. */
export type Links = ReturnType<Environment["opener"]>;

/** A channel as the driver sees it. */
export interface DriverChannel {
  readonly name: string;
  readonly qos: Qos;
  /** How the messages of this channel are compressed. */
  readonly compression: Compression;
  /** The core's number of the channel, once the core has accepted it. */
  id: number | undefined;
  /** The subscription has ended. */
  closed(): void;
}

/**
 * Limits of what is kept until the core is loaded: one channel of the core takes no more (`Limits`
 * in crates/session).
 */
const MAX_EARLY = 1024;
const MAX_EARLY_BYTES = 1 << 20;

/** The bytes that the core adds to each message when it counts its send queue (crates/session). */
const OVERHEAD = 64;

interface Early extends Encoded {
  readonly channel: DriverChannel;
  readonly options: SendOptions | undefined;
}

/**
 * After joining, the session's own messages come first. Then the code of the other transports is
 * loaded, because the network may be blocked when it is needed.
 */
const PREPARE_MS = 1000;

/**
 * The second part of the core is requested after joining, so that the link is free for the first
 * messages. If the session does not join within this time, the part is requested all the same.
 */
const COMPLETE_MS = 1000;

/**
 * If the second part could not be loaded, it is requested again after this time, then after twice
 * as long each time.
 */
const COMPLETE_AGAIN_MS = 15_000;
const LONGEST_COMPLETE_AGAIN_MS = 300_000;

/**
 * Closing a channel waits for this time, in which opening it again costs nothing: a part of a page
 * that is taken away and shown again does not change the fan-out group in which the server has this
 * participant.
 */
const CLOSE_MS = 1000;

/** How often leaving sends two packets of what is submitted: 256 KiB in all. */
const LAST_ROUNDS = 8;

const NOTHING = { messages: 0, packets: 0, bytesBefore: 0, bytesAfter: 0, bytesPayload: 0 };

export class Driver {
  readonly #options: DriverOptions;
  readonly #environment: Environment;
  readonly #stopWatching: () => void;
  #core: Core | undefined;
  readonly #links: Links;
  readonly #choice: Choice;
  readonly #outage: Outage;
  #presence: Uint8Array;
  #cancelTimer = (): void => {};
  #isPumping = false;
  #isScheduled = false;
  #hasEnded = false;
  #isPrepared = false;
  /** Calls that came before the core was loaded. */
  #openings: DriverChannel[] = [];
  #earlyCalls: ((core: Core) => void)[] = [];
  #early: Early[] = [];
  #earlyBytes = 0;
  /**
   * Channels that were closed before the core was loaded. They are closed after their early
   * messages are sent.
   */
  #earlyClosings: DriverChannel[] = [];
  /** Channels that will be closed after `CLOSE_MS`, with the function that cancels this. */
  readonly #closings = new Map<DriverChannel, () => void>();
  #needsDrain = false;
  /** The callbacks for the outcome of direct messages, by their tags. */
  readonly #receipts = new Map<number, (receipt: Receipt) => void>();
  #lastTag = 0;
  readonly #parts = new Set<CodecModule>();
  #plain: string | undefined = "the core is loading";
  #isCompleting = false;
  #cancelCompletion = (): void => {};
  #cancelMove = (): void => {};
  #completeAgain = COMPLETE_AGAIN_MS;
  #lastStats: CoreStats = { sent: NOTHING, received: NOTHING, roundTrip: undefined, reconnects: 0, channels: [] };

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#environment = options.environment;
    this.#presence = options.presence;
    this.#links = this.#environment.opener(options.server, options.WebSocket);
    this.#choice = this.#makeChoice();
    this.#outage = new Outage({
      clock: this.#environment.clock,
      sparesRequests: this.#environment.sparesRequests,
      diagnose: (tried, before) => this.#links.diagnose(tried, before),
      changed: (problem) => this.#hasEnded || options.problem(problem),
    });
    this.#stopWatching = this.#environment.watchPage({
      resumed: () => this.#hurry(),
      pageCloses: () => this.leave(true),
      ended: () => this.#end(false),
    });
    // Connecting begins while the core is loading.
    this.#choice.preconnect();
    Promise.all([options.core, options.token]).then(
      ([loaded, token]) => this.#start(loaded, token),
      (error: unknown) => this.#fail(error),
    );
  }

  /** What `groupwire/devtools` looks into. The core is undefined before it is loaded. */
  get inside(): readonly [choice: Choice, links: Links, core: Core | undefined] {
    return [this.#choice, this.#links, this.#core];
  }

  get transport(): Transport | undefined {
    return this.#choice.transport;
  }

  get problem(): Problem | undefined {
    return this.#outage.problem;
  }

  setTransports(names: readonly TransportName[] | undefined): void {
    this.#mustBeOpen();
    this.#choice.choose(some(this.#environment.available(names, this.#options.WebSocket)));
    this.#outage.hint();
    this.#input((core, now) => core.hurry(now));
  }

  /** Why the session sends plain messages; undefined if it does not. */
  get plain(): string | undefined {
    return this.#plain;
  }

  get pending(): number {
    const early = this.#early.filter(({ channel }) => channel.qos.kind === "transaction");
    return this.#core?.pending() ?? early.length;
  }

  get durability(): Durability | undefined {
    return this.#core?.durability();
  }

  get stats(): CoreStats {
    return this.#core?.stats() ?? this.#lastStats;
  }

  open(channel: DriverChannel): void {
    this.#mustBeOpen();
    if (!this.#core) {
      this.#openings.push(channel);
      return;
    }
    channel.id = this.#ask((core) => core.channel(channel.name, channel.qos, channel.compression));
  }

  /** Applies a changed compression setting of a channel. */
  compress(channel: DriverChannel): void {
    // A channel that is not yet open takes its setting along when it is opened.
    const { id, compression } = channel;
    if (id === undefined || !this.#core) return;
    this.#ask((core) => core.compress(id, compression));
  }

  setQos(channel: DriverChannel, qos: Qos): void {
    this.#mustBeOpen();
    this.#whenOpen(channel, (core, id) => core.setQos(id, qos));
  }

  limitRate(channel: DriverChannel, rate: number | undefined): void {
    this.#mustBeOpen();
    this.#whenOpen(channel, (core, id) => core.limitRate(id, rate));
  }

  /**
   * Closes a channel after `CLOSE_MS`. Answered by `closed`: of the core, or at once if the channel
   * is not open or the room is closed.
   */
  close(channel: DriverChannel): void {
    if (this.#hasEnded) return channel.closed();
    const close = (): void => {
      this.#closings.delete(channel);
      // The room has told its channels that it is closed.
      if (this.#hasEnded) return;
      if (this.#core) this.#close(this.#core, channel);
      else this.#earlyClosings.push(channel);
    };
    this.#closings.set(channel, this.#environment.clock.after(CLOSE_MS, close));
  }

  /** Cancels a closing that was not answered. */
  reopen(channel: DriverChannel): void {
    const cancel = this.#closings.get(channel);
    this.#closings.delete(channel);
    if (cancel) return cancel();
    this.#earlyClosings = this.#earlyClosings.filter((other) => other !== channel);
    if (this.#core && channel.id !== undefined) {
      this.#ask((core) => core.channel(channel.name, channel.qos, channel.compression));
    }
  }

  contract({ id }: DriverChannel): Contract | undefined {
    return id === undefined || !this.#core ? undefined : this.#ask((core) => core.contract(id));
  }

  async loadCodecs(part: CodecModule): Promise<Codecs> {
    const codecs = await this.#environment.loadCodecs(part, this.#options.parts[part], this.#options.core);
    if (!this.#parts.has(part)) {
      this.#parts.add(part);
      this.#core?.setCodecs(this.#parts.has("codecs"), this.#parts.has("brotli"));
    }
    return codecs;
  }

  /** Reports an error, of a channel if there is one, that arose after the call that caused it. */
  reportError(channel: DriverChannel | undefined, error: unknown): void {
    if (!this.#hasEnded) this.#options.report({ ...errorInfo(error), fatal: false, channel: channel?.name });
  }

  send(channel: DriverChannel, message: Encoded, options: SendOptions | undefined): Sent {
    this.#mustBeOpen();
    if (!this.#core) return this.#keep({ channel, options: { ...options }, ...message });
    return this.#ask((core) => submit(core, this.#now(), { channel, options, ...message }));
  }

  sendTo(channel: DriverChannel, to: number, { bytes, text }: Encoded): Promise<Receipt> {
    this.#mustBeOpen();
    // Nobody is known before the core is loaded.
    if (!this.#core) return Promise.resolve("unknown");
    const tag = (this.#lastTag += 1);
    const sent = this.#ask((core) => core.sendTo(this.#now(), opened(channel), bytes, text, to, tag));
    if (sent === "not-now") return Promise.resolve(sent);
    return new Promise((resolve) => this.#receipts.set(tag, resolve));
  }

  setPresence(presence: Uint8Array): void {
    this.#mustBeOpen();
    if (this.#core) this.#ask((core) => core.setPresence(presence));
    this.#presence = presence;
  }

  wantPage(after: number): void {
    this.#mustBeOpen();
    if (this.#core) this.#ask((core) => core.wantPage(after));
  }

  /** Replaces the token. */
  setToken(token: Uint8Array): void {
    this.#mustBeOpen();
    this.#whenLoaded(undefined, (core) => core.setToken(token));
  }

  /** States that the application makes a part of the snapshot. Its channels were opened before. */
  provide(part: string, channels: readonly DriverChannel[]): void {
    this.#whenLoaded(undefined, (core) => {
      const ids = channels.flatMap(({ id }) => (id === undefined ? [] : [id]));
      if (ids.length > 0) core.provide(part, Uint32Array.from(ids));
    });
  }

  /** Answers the core's event `snapshotWanted`. */
  snapshot(part: string, asOf: number, bytes: Uint8Array): void {
    if (this.#core) this.#ask((core) => core.snapshot(part, asOf, bytes));
  }

  /** Leaves the room. `pageCloses`: the page is being closed, too. */
  leave(pageCloses = false): void {
    if (this.#hasEnded) return;
    // A listener called this in the middle of a round of `#pump`: leave after that round.
    if (this.#isPumping) return this.#environment.soon(() => this.leave(pageCloses));
    if (!this.#core) return this.#end();
    // Submitted messages are sent before BYE, and both without waiting for the network: the page
    // may be gone soon. Each round sends two packets.
    for (let round = 0; round < LAST_ROUNDS; round += 1) {
      this.#choice.release(pageCloses);
      this.#pump();
    }
    this.#input((core) => {
      core.leave();
      this.#choice.release(pageCloses);
    });
  }

  #start({ Core, isComplete }: LoadedCore, token: Uint8Array): void {
    if (this.#hasEnded) return;
    try {
      const core = new Core(
        this.#now(),
        this.#options.room,
        token,
        this.#presence,
        this.#environment.random(),
        !isComplete,
        this.#options.isSmall,
      );
      core.setCodecs(this.#parts.has("codecs"), this.#parts.has("brotli"));
      for (const channel of this.#openings) {
        this.#attempt(channel, () => (channel.id = core.channel(channel.name, channel.qos, channel.compression)));
      }
      for (const call of this.#earlyCalls) call(core);
      for (const message of this.#early) this.#attempt(message.channel, () => submit(core, this.#now(), message));
      for (const channel of this.#earlyClosings) this.#close(core, channel);
      this.#openings = [];
      this.#earlyCalls = [];
      this.#early = [];
      this.#earlyClosings = [];
      // A listener of the errors above may have called `leave`.
      if (this.#hasEnded) return core.free();
      this.#core = core;
    } catch (error) {
      return this.#fail(error);
    }
    if (isComplete) this.#plain = undefined;
    else this.#beginPlain();
    if (this.#needsDrain) this.#options.emit({ type: "drain" });
    this.#pump();
  }

  #beginPlain(): void {
    this.#plain = "the second part of the core is loading";
    this.#choice.hold();
    this.#completeAfter(COMPLETE_MS);
  }

  #completeAfter(ms: number): void {
    this.#cancelCompletion = this.#environment.clock.after(ms, () => void this.#complete());
  }

  /**
   * Loads the second part of the core, and moves the session to a transport on which it is used.
   */
  async #complete(): Promise<void> {
    if (this.#plain === undefined || this.#isCompleting) return;
    this.#isCompleting = true;
    this.#cancelCompletion();
    try {
      await (await this.#options.core).complete();
      this.#plain = undefined;
    } catch (error) {
      this.#plain = `the second part of the core could not be loaded (${errorInfo(error).message})`;
    }
    this.#isCompleting = false;
    if (this.#hasEnded) return;
    if (this.#plain === undefined) {
      this.#core?.complete();
      this.#choice.renew();
    } else {
      this.#completeAfter(this.#completeAgain);
      this.#completeAgain = Math.min(this.#completeAgain * 2, LONGEST_COMPLETE_AGAIN_MS);
      this.#choice.unhold();
    }
    this.#describe();
  }

  /**
   * Calls the core for the application, and then carries out what the core wants done. What the
   * core throws reaches the application as an error of this package.
   */
  #ask<Result>(question: (core: Core) => Result): Result {
    try {
      const answer = question(this.#core as Core);
      this.#schedule();
      return answer;
    } catch (thrown) {
      const error = asGroupwireError(thrown);
      // After a failure of its own, the core must not be called again.
      if (error.code === "internal") this.#fail(error);
      throw error;
    }
  }

  #close(core: Core, channel: DriverChannel): void {
    // The core did not accept the channel.
    if (channel.id === undefined) return channel.closed();
    core.close(channel.id);
    this.#schedule();
  }

  /**
   * Runs a delayed call. Its caller has returned, so an exception is reported as an error of the
   * room.
   */
  #attempt(channel: DriverChannel | undefined, run: () => unknown): void {
    try {
      run();
    } catch (error) {
      this.reportError(channel, error);
    }
  }

  #keep(message: Early): Sent {
    const bytes = this.#earlyBytes + message.bytes.length + OVERHEAD;
    if (this.#early.length >= MAX_EARLY || bytes > MAX_EARLY_BYTES) {
      this.#needsDrain = true;
      return "not-now";
    }
    // The bytes are copied because the caller may write into them again.
    this.#early.push({ ...message, bytes: message.bytes.slice() });
    this.#earlyBytes = bytes;
    return "accepted";
  }

  /** Calls the core for a channel, unless the core has not accepted it. */
  #whenOpen(channel: DriverChannel, run: (core: Core, id: number) => void): void {
    this.#whenLoaded(channel, (core) => channel.id !== undefined && run(core, channel.id));
  }

  /** Runs a call, of a channel if there is one, at once or as soon as the core is loaded. */
  #whenLoaded(channel: DriverChannel | undefined, run: (core: Core) => unknown): void {
    if (this.#core) this.#ask(run);
    else this.#earlyCalls.push((core) => this.#attempt(channel, () => run(core)));
  }

  /**
   * Polls the core after the current task, so that all messages that the application sends in one
   * task share a packet.
   */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#environment.soon(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #input(happening: (core: Core, now: number) => void): void {
    if (!this.#core) return;
    try {
      happening(this.#core, this.#now());
    } catch (error) {
      return this.#fail(error);
    }
    this.#pump();
  }

  /**
   * The driving interface of the core: carries out its outputs until it answers when to come back.
   */
  #pump(): void {
    if (this.#isPumping || !this.#core) return;
    this.#isPumping = true;
    try {
      for (let core: Core | undefined = this.#core; core; core = this.#core) {
        const output = core.poll(this.#now());
        if (output.type === "timeout") {
          this.#wait(output.at);
          break;
        }
        this.#act(core, output);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isPumping = false;
    }
  }

  #act(core: Core, output: Exclude<Output, { type: "timeout" }>): void {
    switch (output.type) {
      case "dial":
        some(this.#choice.names);
        this.#outage.begin(this.#round);
        break;
      case "send":
        this.#choice.send(output.packet);
        break;
      case "datagram":
        this.#choice.sendDatagram(output.packet);
        break;
      case "quiet":
        this.#choice.quiet(output.quiet);
        break;
      case "joined":
        this.#joined();
        this.#options.emit(output);
        break;
      case "hangup":
        this.#choice.hangup();
        // Reported at once instead of when the other end has answered, because the other end may be
        // dead.
        core.closed(this.#now());
        break;
      case "owner":
        this.#follow(output.address, output.after);
        break;
      case "receipt":
        this.#receipts.get(output.tag)?.(output.receipt);
        this.#receipts.delete(output.tag);
        break;
      case "status":
        if (output.status === "closed") this.#end();
        else this.#options.emit(output);
        break;
      default:
        this.#options.emit(output);
    }
  }

  /** The room is on another server: moves there, unless that would give up encryption. */
  #follow(address: string, after: number): void {
    let owner: URL;
    try {
      owner = new URL(address);
    } catch {
      return;
    }
    if (![this.#options.server.protocol, "https:"].includes(owner.protocol)) return;
    this.#cancelMove();
    this.#cancelMove = this.#environment.clock.after(after, () => this.#choice.move(owner));
  }

  #joined(): void {
    this.#outage.over();
    this.#choice.joined();
    void this.#complete();
    if (this.#isPrepared || this.#choice.names.length === 1) return;
    this.#isPrepared = true;
    // Later: the messages that the application is waiting for come first.
    this.#environment.clock.after(PREPARE_MS, this.#environment.prepare);
  }

  /** The page is active again, or the network has changed. */
  #hurry(): void {
    this.#choice.hint();
    this.#outage.hint();
    this.#input((core, now) => core.hurry(now));
  }

  readonly #round: Round = {
    all: () => this.#choice.dial(),
    one: () => this.#choice.dialOne(),
    fail: () => this.#input((core, now) => core.closed(now)),
  };

  #makeChoice(): Choice {
    const { server, WebSocket, transports } = this.#options;
    const { available, clock, memory } = this.#environment;
    return new Choice({
      names: available(transports, WebSocket),
      open: (name, events, owner) => this.#links.open(name, events, owner),
      clock,
      memory: memory(server),
      events: {
        opened: (maxDatagram) => {
          this.#outage.opened();
          this.#input((core, now) => core.opened(now, maxDatagram));
        },
        received: (packet) => this.#input((core, now) => core.received(now, packet)),
        receivedDatagram: (packet) => this.#input((core, now) => core.receivedDatagram(now, packet)),
        sent: () => this.#input((core, now) => core.sent(now)),
        datagramSent: () => this.#input((core, now) => core.datagramSent(now)),
        closed: () => {
          this.#cancelMove();
          this.#input((core, now) => core.closed(now));
        },
        failed: (isFull, tried) => this.#outage.failed(isFull, tried),
        changed: (transport) => this.#changed(transport),
      },
    });
  }

  #changed(transport: Transport | undefined): void {
    if (!transport) return;
    this.#describe();
    this.#options.transport(transport);
  }

  /** Tells the inspector why the transport is in use. */
  #describe(): void {
    const { transport } = this.#choice;
    if (transport) this.#core?.setReason(describe(transport, this.#plain));
  }

  #wait(at: number | undefined): void {
    this.#cancelTimer();
    if (at === undefined) return;
    // Rounded up, because a timer that fires too early must be set again.
    const delay = Math.max(0, Math.ceil(at - this.#now()));
    this.#cancelTimer = this.#environment.clock.after(delay, () => this.#input((core, now) => core.timeout(now)));
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#options.report({ ...errorInfo(error), fatal: true, channel: undefined });
    this.#end();
  }

  #end(tells = true): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#cancelCompletion();
    this.#cancelMove();
    this.#stopWatching();
    this.#choice.end();
    this.#outage.over();
    this.#lastStats = this.#statsOf(this.#core);
    this.#core = undefined;
    this.#early = [];
    this.#receipts.forEach((resolve) => resolve("unknown"));
    this.#receipts.clear();
    if (tells) this.#options.emit({ type: "status", status: "closed" });
  }

  /** Takes the last counts from a core and frees it. */
  #statsOf(core: Core | undefined): CoreStats {
    try {
      const stats = core?.stats();
      core?.free();
      return stats ?? this.#lastStats;
    } catch {
      // The core has trapped before; that error was already reported.
      return this.#lastStats;
    }
  }

  #now(): number {
    return this.#environment.clock.now();
  }

  #mustBeOpen(): void {
    if (this.#hasEnded) throw failure("closed", "own", `the room "${this.#options.room}" is closed: connect again`);
  }
}

function submit(core: Core, now: number, { channel, bytes, text, options }: Early): Sent {
  return core.send(now, opened(channel), bytes, text, options?.key, options?.priority);
}

function opened({ id, name }: DriverChannel): number {
  if (id === undefined) throw failure("not-allowed", "own", `the channel "${name}" could not be opened`);
  return id;
}

function some(names: readonly TransportName[]): readonly TransportName[] {
  if (names.length > 0) return names;
  const hint = "outside of a browser pass a WebSocket to `connect` as `options.WebSocket`";
  throw failure("no-transport", "own", `none of the transports that may be used is there; ${hint}`);
}
