/**
 * A participant's program, such as a tab of a browser: the environment of its room, and its state.
 */

import type { Problem, Room, TransportName } from "../api.js";
import type { Clock } from "../choice.js";
import type { Compression } from "../compress.js";
import { loadCodecs } from "../compress.js";
import type { Core, CoreConstructor, LoadedCore, Output } from "../core.js";
import type { Qos } from "../api.js";
import type { Environment } from "../environment.js";
import { failure } from "../errors.js";
import type { Memory } from "../memory.js";
import type { PageEvents } from "../page.js";
import { shown } from "./log.js";
import { wholeCore } from "./modules.js";
import type { Path } from "./path.js";
import type { SimulatedTransport } from "./transport.js";

/** The transports that a simulated network carries, best first. */
export const TRANSPORTS: readonly TransportName[] = ["webtransport", "websocket"];

/** What a room says that finds no connection. */
const UNREACHABLE: Problem = { code: "unreachable", message: "Nothing answers in the simulated network." };

export interface TabOptions {
  readonly name: string;
  readonly path: Path;
  readonly clock: Clock;
  readonly random: () => number;
  /** The transports that its network lets through. */
  readonly transports: readonly TransportName[];
  readonly open: (
    tab: Tab,
    name: TransportName,
    events: Parameters<ReturnType<Environment["opener"]>["open"]>[1],
  ) => SimulatedTransport;
  /** Makes the simulation wait, in real time, for a loading module. */
  readonly hold: <T>(loading: Promise<T>) => Promise<T>;
  readonly log: (text: () => string) => void;
  /** The bytes of the largest transaction that the log of the room holds. */
  readonly largest: number;
  /** Something happened that `settle` waits for. */
  readonly stirred: () => void;
  /** Code of the client or the application has run. */
  readonly entered: () => void;
}

export class Tab {
  readonly #options: TabOptions;
  readonly environment: Environment;
  readonly transports = new Set<SimulatedTransport>();
  /** Its room, once it is made. */
  room: Room | undefined;
  /** The program is gone: none of its code runs any more. */
  #isGone = false;
  /** Calls that wait until the suspended program resumes; undefined while it runs. */
  #suspended: (() => void)[] | undefined;
  #page: PageEvents | undefined;
  #startCore: (core: LoadedCore) => void = () => {};

  constructor(options: TabOptions) {
    this.#options = options;
    this.environment = this.#makeEnvironment();
  }

  get name(): string {
    return this.#options.name;
  }

  get path(): Path {
    return this.#options.path;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get isSuspended(): boolean {
    return this.#suspended !== undefined;
  }

  /** The core is loaded. */
  start(core: LoadedCore): void {
    const Core = this.#traced(core.Core);
    this.#startCore({ Core, isComplete: core.isComplete, complete: () => core.complete() });
    this.#options.entered();
  }

  /** Runs code of this program now, or when it goes on; never once it is gone. */
  enter(run: () => void): void {
    if (this.#isGone) return;
    if (this.#suspended) return void this.#suspended.push(run);
    this.#options.entered();
    run();
  }

  /** The page is closed: its room leaves. */
  close(): void {
    this.enter(() => this.#page?.pageCloses());
    this.#isGone = true;
  }

  /** The program ends without a word. */
  crash(): void {
    this.#isGone = true;
    for (const transport of this.transports) transport.close();
  }

  /**
   * No code of the program runs, as in a page that the browser has frozen. Connections stay open.
   */
  suspend(): void {
    this.#suspended ??= [];
  }

  /** The program goes on. */
  resume(): void {
    const waiting = this.#suspended ?? [];
    this.#suspended = undefined;
    for (const run of waiting) this.enter(run);
    this.enter(() => this.#page?.resumed());
  }

  /** The simulation has ended: its room frees the memory of the core, and tells nobody. */
  free(): void {
    this.#page?.ended();
    this.#isGone = true;
  }

  #makeEnvironment(): Environment {
    const { clock, random, open, hold } = this.#options;
    const loaded = new Promise<LoadedCore>((resolve) => (this.#startCore = resolve));
    return {
      // As in Node, timers take a millisecond at least, so that a timer which starts itself anew
      // does not stop time.
      clock: { now: () => clock.now(), after: (ms, run) => clock.after(Math.max(1, ms), () => this.enter(run)) },
      // Not `queueMicrotask`, which fake timers of test runners replace.
      soon: (run) => void Promise.resolve().then(() => this.#isGone || run()),
      random,
      loadCore: () => loaded,
      loadCodecs: (part, source) => hold(loadCodecs(part, source, wholeCore())),
      available: (wanted) => this.#available(wanted),
      opener: () => ({
        open: (name, { opened, received, receivedDatagram, sent, datagramSent, closed }) =>
          open(this, name, {
            opened: (maxDatagram) => this.enter(() => opened(maxDatagram)),
            received: (packet) => this.enter(() => received(packet)),
            receivedDatagram: (packet) => this.enter(() => receivedDatagram(packet)),
            sent: () => this.enter(() => sent()),
            datagramSent: () => this.enter(() => datagramSent()),
            closed: (reason) => this.enter(() => closed(reason)),
          }),
        diagnose: () =>
          new Promise((resolve) => void Promise.resolve().then(() => this.enter(() => resolve(UNREACHABLE)))),
      }),
      memory: () => NO_MEMORY,
      watchPage: (events) => {
        this.#page = events;
        return () => (this.#page = undefined);
      },
      prepare: () => {},
      sparesRequests: false,
      warn: (text) => this.#options.log(() => text),
    };
  }

  /** The transports of `wanted` that the network lets through. */
  #available(wanted: readonly TransportName[] = TRANSPORTS): TransportName[] {
    return wanted.filter((name) => this.#options.transports.includes(name));
  }

  /** A core that logs its inputs and outputs. */
  #traced(Core: CoreConstructor): CoreConstructor {
    const { log, stirred, name, largest } = this.#options;
    const names = new Map<number, string>();
    const transactions = new Set<number>();
    const of = (id: number | undefined): string => (id === undefined ? "" : ` on "${names.get(id) ?? id}"`);
    return class extends Core {
      override channel(channel: string, qos: Qos, compression: Compression): number {
        stirred();
        const id = super.channel(channel, qos, compression);
        names.set(id, channel);
        if (qos.kind === "transaction") transactions.add(id);
        return id;
      }

      override send(...all: Parameters<Core["send"]>): ReturnType<Core["send"]> {
        stirred();
        const [, channel, bytes, text, key] = all;
        if (transactions.has(channel) && bytes.length > largest)
          throw failure(
            "too-large",
            "own",
            `the room could deliver this message of ${bytes.length} bytes to nobody: \`maxLogBytes\` has to hold several of the largest messages`,
          );
        const sent = super.send(...all);
        const data = text ? new TextDecoder().decode(bytes) : bytes;
        const how = sent === "accepted" ? "" : `: ${sent}`;
        log(() => `${name} sends${of(channel)}${key === undefined ? "" : `, key "${key}"`}: ${shown(data)}${how}`);
        return sent;
      }

      override setPresence(presence: Uint8Array): void {
        stirred();
        super.setPresence(presence);
      }

      override poll(now: number): Output {
        const output = super.poll(now);
        const text = describe(output, of);
        if (text !== undefined) {
          stirred();
          log(() => `${name} ${text()}`);
        }
        return output;
      }
    };
  }
}

const NO_MEMORY: Memory = { recall: () => undefined, worked() {}, fellBack() {} };

/** The log's line for an output; undefined if it is not logged. */
function describe(output: Output, of: (channel: number | undefined) => string): (() => string) | undefined {
  switch (output.type) {
    case "direct":
      return () => `receives from participant ${output.sender}, alone${of(output.channel)}: ${shown(output.data)}`;
    case "receipt":
      return () => `learns of its message ${output.tag} for one participant: ${output.receipt}`;
    case "message": {
      const { channel, data, sender, own, key, position, stale, departed } = output;
      if (departed !== undefined) {
        return () => `is told that participant ${departed} has left${of(channel)}, position ${position}`;
      }
      const what = own ? "has its own message confirmed" : `receives from participant ${sender}`;
      const where = `${key === undefined ? "" : `, key "${key}"`}${position > 0 ? `, position ${position}` : ""}`;
      return () => `${what}${of(channel)}${where}${stale ? ", stale" : ""}: ${shown(data)}`;
    }
    case "status":
      return () => `is ${output.status}`;
    case "joined":
      return () => `has joined as participant ${output.participant}`;
    case "participants": {
      const changes = output.changes.map(({ id, state }) => `${id} is ${state === "left" ? "gone" : state}`);
      return () => `sees participants: ${changes.join(", ") || "nobody else"}`;
    }
    case "synced":
      return () => `has the late-joiner state${of(output.channel)}`;
    case "opened":
    case "closed":
    case "changed":
      return () => `has the channel${of(output.channel)} ${output.type}`;
    case "snapshotWanted":
      return () => `is asked for the part "${output.part}" of the snapshot, up to position ${output.asOf}`;
    case "snapshot":
      return () => `receives the part "${output.part}" of the snapshot, up to position ${output.asOf}`;
    case "gap":
      return () => `has a gap: ${output.reason}${of(output.channel)}, ${output.uncertain} transactions uncertain`;
    case "pending":
      return () =>
        output.count > 0 ? "has transactions that are not confirmed" : "has all its transactions confirmed";
    case "drain":
      return () => "may send again";
    case "tokenWanted":
      return () => "is asked for another token";
    case "error":
      return () => `has an error${of(output.channel)}: ${output.message}`;
    case "dial":
      return () => "opens a transport";
    case "hangup":
      return () => "closes its transport";
    case "send":
    case "datagram":
    case "timeout":
    case "quiet":
    case "contract":
    case "unknown":
      return undefined;
  }
}
