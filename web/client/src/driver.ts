/** Drives the core: time, the transport, and the wait until the core is loaded. */

import type { Qos, RoomError, SendOptions, Sent, Stats, WebSocketConstructor } from "./api.js";
import type { Encoded } from "./codec.js";
import type { Core, CoreConstructor, CoreEvent, Output } from "./core.js";
import { failure, judged } from "./errors.js";
import { watchPage } from "./page.js";
import { WebSocketTransport, type TransportEvents } from "./websocket.js";

export interface DriverOptions {
  /** Of the WebSocket. */
  readonly url: string;
  readonly room: string;
  readonly token: Uint8Array;
  readonly presence: Uint8Array;
  readonly core: Promise<CoreConstructor>;
  readonly WebSocket: WebSocketConstructor | undefined;
  /** Called in the order of things. May call back. */
  readonly tell: (event: CoreEvent) => void;
  /** The same for what goes wrong outside of the core. */
  readonly report: (error: RoomError) => void;
}

/** A channel as the driver needs it. */
export interface Opening {
  readonly name: string;
  readonly qos: Qos;
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

const NOTHING = { messages: 0, packets: 0, bytesBefore: 0, bytesAfter: 0 };

export class Driver {
  readonly #options: DriverOptions;
  readonly #stopWatching: () => void;
  #core: Core | undefined;
  #transport: WebSocketTransport | undefined;
  #presence: Uint8Array;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPumping = false;
  #isScheduled = false;
  #hasEnded = false;
  /** What was asked for before the core was there. */
  #openings: Opening[] = [];
  #early: Early[] = [];
  #earlyBytes = 0;
  #owesDrain = false;
  #lastStats: Omit<Stats, "transport"> = { sent: NOTHING, received: NOTHING, roundTrip: undefined, reconnects: 0 };

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#presence = options.presence;
    this.#stopWatching = watchPage({
      woke: () => this.#input((core) => core.hurry(now())),
      goes: () => this.leave(),
    });
    options.core.then(
      (Core) => this.#start(Core),
      (error: unknown) => this.#fail(error),
    );
  }

  get stats(): Omit<Stats, "transport"> {
    return this.#core?.stats() ?? this.#lastStats;
  }

  open(channel: Opening): void {
    this.#mustBeOpen();
    if (!this.#core) {
      this.#openings.push(channel);
      return;
    }
    channel.id = this.#core.channel(channel.name, channel.qos);
    this.#schedule();
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

  leave(): void {
    if (this.#hasEnded) return;
    // Called by a listener: after this round, as the core is in the middle of it.
    if (this.#isPumping) return queueMicrotask(() => this.leave());
    if (!this.#core) return this.#end();
    // What was submitted before goes before the goodbye, and both without waiting: the page may be gone after this.
    this.#transport?.release();
    this.#pump();
    this.#input((core) => {
      core.leave();
      this.#transport?.release();
    });
  }

  #start(Core: CoreConstructor): void {
    if (this.#hasEnded) return;
    try {
      const { room, token } = this.#options;
      const core = new Core(now(), room, token, this.#presence, Math.random());
      for (const channel of this.#openings) {
        this.#attempt(channel, () => (channel.id = core.channel(channel.name, channel.qos)));
      }
      for (const message of this.#early) this.#attempt(message.channel, () => submit(core, message));
      this.#openings = [];
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
  #attempt({ name }: Opening, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#options.report({ ...judged(error), fatal: false, channel: name });
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
        this.#transport = this.#dial();
        break;
      case "send":
        this.#transport?.send(output.packet);
        break;
      case "datagram":
        break;
      case "hangup":
        this.#transport?.close();
        this.#transport = undefined;
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

  #dial(): WebSocketTransport {
    const WebSocket = this.#options.WebSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
    if (!WebSocket) {
      throw failure("no-transport", "own", "there is no WebSocket here: pass one to `connect` as `options.WebSocket`");
    }
    const events: TransportEvents = {
      opened: () => this.#input((core) => core.opened(now(), 0)),
      received: (packet) => this.#input((core) => core.received(now(), packet)),
      sent: () => this.#input((core) => core.sent(now())),
      closed: () => {
        this.#transport = undefined;
        this.#input((core) => core.closed(now()));
      },
    };
    return new WebSocketTransport(WebSocket, this.#options.url, events);
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
    this.#transport?.close();
    this.#lastStats = this.#statsOf(this.#core);
    this.#core = this.#transport = undefined;
    this.#early = [];
    this.#options.tell({ type: "status", status: "closed" });
  }

  /** The last stats of a core, which is freed. */
  #statsOf(core: Core | undefined): Omit<Stats, "transport"> {
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

function now(): number {
  return performance.now();
}
