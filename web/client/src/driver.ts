/** Drives the core: time, the transport, and the wait until the core is loaded. */

import type {
  ConnectOptions,
  Contract,
  Qos,
  RoomError,
  SendOptions,
  Sent,
  Transport,
  TransportName,
  WebSocketConstructor,
} from "./api.js";
import { Choice } from "./choice.js";
import type { Encoded } from "./codec.js";
import { loadCodecs, type Codecs, type How, type Part } from "./compress.js";
import type { Core, CoreConstructor, CoreEvent, CoreStats, Output } from "./core.js";
import { failure, judged } from "./errors.js";
import { StoredMemory } from "./memory.js";
import { watchPage } from "./page.js";
import { introduce } from "./reasons.js";
import { available, Opener, prepare } from "./transport/platform.js";

export interface DriverOptions {
  readonly server: URL;
  readonly room: string;
  readonly token: Uint8Array;
  readonly presence: Uint8Array;
  readonly core: Promise<CoreConstructor>;
  /** Where the modules with other codecs are. */
  readonly parts: Readonly<Record<Part, ConnectOptions["codecs"]>>;
  readonly WebSocket: WebSocketConstructor | undefined;
  /** What the application allows. */
  readonly transports: readonly TransportName[] | undefined;
  /** Called in the order of things. May call back. */
  readonly tell: (event: CoreEvent) => void;
  readonly transport: (transport: Transport) => void;
  /** The same for what goes wrong outside of the core. */
  readonly report: (error: RoomError) => void;
}

/** A channel as the driver needs it. */
export interface Opening {
  readonly name: string;
  readonly qos: Qos;
  /** How its messages become small. */
  readonly how: How;
  /** The core's number for it, once the core is there and has taken it. */
  id: number | undefined;
}

/** What may wait until the core is loaded: no more than a channel of the core takes (`Limits` in crates/session). */
const MAX_EARLY = 1024;
const MAX_EARLY_BYTES = 1 << 20;

/** The core's flat price of a message, for its bookkeeping. */
const OVERHEAD = 64;

interface Early extends Encoded {
  readonly channel: Opening;
  readonly options: SendOptions;
}

/** When there is a session, and time, what the other transports need is loaded: later the way may be blocked. */
const PREPARE_MS = 1000;

const NOTHING = { messages: 0, packets: 0, bytesBefore: 0, bytesAfter: 0 };

export class Driver {
  readonly #options: DriverOptions;
  readonly #stopWatching: () => void;
  #core: Core | undefined;
  readonly #choice: Choice;
  #presence: Uint8Array;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPumping = false;
  #isScheduled = false;
  #hasEnded = false;
  #isPrepared = false;
  /** What was asked for before the core was there. */
  #openings: Opening[] = [];
  #wishes: ((core: Core) => void)[] = [];
  #early: Early[] = [];
  #earlyBytes = 0;
  #owesDrain = false;
  readonly #parts = new Set<Part>();
  #lastStats: CoreStats = { sent: NOTHING, received: NOTHING, roundTrip: undefined, reconnects: 0, channels: [] };

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#presence = options.presence;
    this.#choice = this.#makeChoice();
    this.#stopWatching = watchPage({
      woke: () => {
        this.#choice.hint();
        this.#input((core) => core.hurry(now()));
      },
      goes: () => this.leave(true),
    });
    // While the core is being loaded.
    this.#choice.warm();
    options.core.then(
      (Core) => this.#start(Core),
      (error: unknown) => this.#fail(error),
    );
  }

  get transport(): Transport | undefined {
    return this.#choice.transport;
  }

  setTransports(names: readonly TransportName[] | undefined): void {
    this.#mustBeOpen();
    this.#choice.choose(some(available(names, this.#options.WebSocket)));
    this.#input((core) => core.hurry(now()));
  }

  get stats(): CoreStats {
    return this.#core?.stats() ?? this.#lastStats;
  }

  open(channel: Opening): void {
    this.#mustBeOpen();
    if (!this.#core) {
      this.#openings.push(channel);
      return;
    }
    channel.id = this.#core.channel(channel.name, channel.qos, channel.how);
    this.#schedule();
  }

  /** How the messages of a channel become small has changed. */
  compress(channel: Opening): void {
    // Before it is open, opening it says so.
    if (channel.id === undefined || !this.#core) return;
    this.#core.compress(channel.id, channel.how);
    this.#schedule();
  }

  setQos(channel: Opening, qos: Qos): void {
    this.#mustBeOpen();
    this.#whenOpen(channel, (core, id) => core.setQos(id, qos));
  }

  limitRate(channel: Opening, rate: number | undefined): void {
    this.#mustBeOpen();
    this.#whenOpen(channel, (core, id) => core.limitRate(id, rate));
  }

  contract({ id }: Opening): Contract | undefined {
    return id === undefined ? undefined : this.#core?.contract(id);
  }

  async loadCodecs(part: Part): Promise<Codecs> {
    const codecs = await loadCodecs(part, this.#options.parts[part], this.#options.core);
    if (!this.#parts.has(part)) {
      this.#parts.add(part);
      this.#core?.setCodecs(this.#parts.has("codecs"), this.#parts.has("brotli"));
    }
    return codecs;
  }

  /** Tells of something that went wrong with a channel, after the call that began it. */
  complain({ name }: Opening, error: unknown): void {
    if (!this.#hasEnded) this.#options.report({ ...judged(error), fatal: false, channel: name });
  }

  send(channel: Opening, message: Encoded, options: SendOptions): Sent {
    this.#mustBeOpen();
    if (!this.#core) return this.#keep({ channel, options, ...message });
    const sent = submit(this.#core, { channel, options, ...message });
    this.#schedule();
    return sent;
  }

  setPresence(presence: Uint8Array): void {
    this.#mustBeOpen();
    this.#core?.setPresence(presence);
    this.#presence = presence;
    this.#schedule();
  }

  /** Answers `snapshotWanted`. */
  snapshot(asOf: number, bytes: Uint8Array): void {
    this.#core?.snapshot(asOf, bytes);
    this.#schedule();
  }

  /** `goes`: the page does, too. */
  leave(goes = false): void {
    if (this.#hasEnded) return;
    // Called by a listener: after this round, as the core is in the middle of it.
    if (this.#isPumping) return queueMicrotask(() => this.leave(goes));
    if (!this.#core) return this.#end();
    // What was submitted before goes before the goodbye, and both without waiting: the page may be gone after this.
    this.#choice.release(goes);
    this.#pump();
    this.#input((core) => {
      core.leave();
      this.#choice.release(goes);
    });
  }

  #start(Core: CoreConstructor): void {
    if (this.#hasEnded) return;
    try {
      const { room, token } = this.#options;
      const core = new Core(now(), room, token, this.#presence, Math.random());
      core.setCodecs(this.#parts.has("codecs"), this.#parts.has("brotli"));
      for (const channel of this.#openings) {
        this.#attempt(channel, () => (channel.id = core.channel(channel.name, channel.qos, channel.how)));
      }
      for (const wish of this.#wishes) wish(core);
      for (const message of this.#early) this.#attempt(message.channel, () => submit(core, message));
      this.#openings = [];
      this.#wishes = [];
      this.#early = [];
      // Whoever was told of an error may have left.
      if (this.#hasEnded) return core.free();
      this.#core = core;
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#owesDrain) this.#options.tell({ type: "drain" });
    this.#pump();
  }

  /** The caller is long gone: what would have been thrown is told. */
  #attempt(channel: Opening, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.complain(channel, error);
    }
  }

  #keep(message: Early): Sent {
    const bytes = this.#earlyBytes + message.bytes.length + OVERHEAD;
    if (this.#early.length >= MAX_EARLY || bytes > MAX_EARLY_BYTES) {
      this.#owesDrain = true;
      return "not-now";
    }
    // A copy: the caller may go on to write into its bytes.
    this.#early.push({ ...message, bytes: message.bytes.slice() });
    this.#earlyBytes = bytes;
    return "accepted";
  }

  /** At once, or as soon as the core is there. */
  #whenOpen(channel: Opening, run: (core: Core, id: number) => void): void {
    if (!this.#core) {
      this.#wishes.push((core) => this.#attempt(channel, () => channel.id !== undefined && run(core, channel.id)));
      return;
    }
    if (channel.id === undefined) return;
    run(this.#core, channel.id);
    this.#schedule();
  }

  /** Once after all that the application does in one go, so that it shares a packet. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #input(happening: (core: Core) => void): void {
    if (!this.#core) return;
    try {
      happening(this.#core);
    } catch (error) {
      return this.#fail(error);
    }
    this.#pump();
  }

  /** The driving contract: poll, and do what it says, until it says when to come back. */
  #pump(): void {
    if (this.#isPumping || !this.#core) return;
    this.#isPumping = true;
    try {
      for (let core: Core | undefined = this.#core; core; core = this.#core) {
        const output = core.poll(now());
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
        this.#choice.dial();
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
        this.#options.tell(output);
        break;
      case "hangup":
        this.#choice.hangup();
        // At once, not when the other end has answered: it may be dead.
        core.closed(now());
        break;
      case "status":
        if (output.status === "closed") this.#end();
        else this.#options.tell(output);
        break;
      default:
        this.#options.tell(output);
    }
  }

  #joined(): void {
    this.#choice.joined();
    if (this.#isPrepared || this.#choice.names.length === 1) return;
    this.#isPrepared = true;
    // Not now: what the application is waiting for comes first.
    setTimeout(prepare, PREPARE_MS);
  }

  #makeChoice(): Choice {
    const { server, WebSocket, transports } = this.#options;
    const opener = new Opener(server, WebSocket);
    return new Choice({
      names: available(transports, WebSocket),
      open: (name, events) => opener.open(name, events),
      clock: { now, after },
      memory: new StoredMemory(server),
      events: {
        opened: (maxDatagram) => this.#input((core) => core.opened(now(), maxDatagram)),
        received: (packet) => this.#input((core) => core.received(now(), packet)),
        receivedDatagram: (packet) => this.#input((core) => core.receivedDatagram(now(), packet)),
        sent: () => this.#input((core) => core.sent(now())),
        datagramSent: () => this.#input((core) => core.datagramSent(now())),
        closed: () => this.#input((core) => core.closed(now())),
        changed: (transport) => this.#changed(transport),
      },
    });
  }

  #changed(transport: Transport | undefined): void {
    if (!transport) return;
    this.#core?.setReason(introduce(transport));
    this.#options.transport(transport);
  }

  #wait(at: number | undefined): void {
    clearTimeout(this.#timer);
    if (at === undefined) return;
    // Rounded up: a timer that comes early only comes twice.
    const delay = Math.max(0, Math.ceil(at - now()));
    this.#timer = setTimeout(() => this.#input((core) => core.timeout(now())), delay);
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#options.report({ ...judged(error), fatal: true, channel: undefined });
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#stopWatching();
    this.#choice.end();
    this.#lastStats = this.#statsOf(this.#core);
    this.#core = undefined;
    this.#early = [];
    this.#options.tell({ type: "status", status: "closed" });
  }

  /** The last stats of a core, which is freed. */
  #statsOf(core: Core | undefined): CoreStats {
    try {
      const stats = core?.stats();
      core?.free();
      return stats ?? this.#lastStats;
    } catch {
      // It trapped before, which was told.
      return this.#lastStats;
    }
  }

  #mustBeOpen(): void {
    if (this.#hasEnded) throw failure("closed", "own", `the room "${this.#options.room}" is closed: connect again`);
  }
}

function submit(core: Core, { channel, bytes, text, options }: Early): Sent {
  if (channel.id === undefined)
    throw failure("not-allowed", "own", `the channel "${channel.name}" could not be opened`);
  return core.send(now(), channel.id, bytes, text, options.key, options.priority);
}

function some(names: readonly TransportName[]): readonly TransportName[] {
  if (names.length > 0) return names;
  const hint = "outside of a browser pass a WebSocket to `connect` as `options.WebSocket`";
  throw failure("no-transport", "own", `none of the transports that may be used is there; ${hint}`);
}

function now(): number {
  return performance.now();
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
