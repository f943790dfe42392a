/**
 * The platform of a room: clock, random numbers, core, transports and page. Tests of applications
 * use a simulated one (testing.ts).
 */

import type { Problem, TransportName, WebSocketConstructor } from "./api.js";
import type { Clock } from "./choice.js";
import { loadCodecs } from "./compress.js";
import { loadCore } from "./core.js";
import { StoredMemory, type Memory } from "./memory.js";
import { watchPage } from "./page.js";
import type { OutageOptions } from "./outage.js";
import type { Link, LinkEvents } from "./transport/link.js";
import { available, isPage, Opener, prepare } from "./transport/platform.js";

export interface Environment {
  readonly clock: Clock;
  /** Runs a function after the current task and the microtasks that are queued. */
  readonly soon: (run: () => void) => void;
  /** A random number from 0 up to 1, from which the core draws its delays. */
  readonly random: () => number;
  readonly loadCore: typeof loadCore;
  readonly loadCodecs: typeof loadCodecs;
  /**
   * The transports of `wanted` that are here, in the same order. Without `wanted`, the default
   * ones.
   */
  readonly available: typeof available;
  /** Creates the object that opens links to a server. */
  readonly opener: (
    server: URL,
    WebSocket: WebSocketConstructor | undefined,
  ) => {
    /** Opens a link to this server, or to the one that has the room. */
    open(name: TransportName, events: LinkEvents, owner: URL | undefined): Link;
    /** Finds out why no transport opens ({@link OutageOptions.diagnose}). Never rejects. */
    diagnose(tried: string, before: Problem | undefined): Promise<Problem>;
  };
  readonly memory: (server: URL) => Memory;
  readonly watchPage: typeof watchPage;
  /** Loads the code of further transports early. */
  readonly prepare: () => void;
  /**
   * True where each request that fails is written into a console, so that fewer are made while none
   * succeeds.
   */
  readonly sparesRequests: boolean;
  /** Tells the developer something that the application does not listen to. */
  readonly warn: (text: string) => void;
}

/** A page, a worker or a program in Node. */
export const HERE: Environment = {
  clock: {
    now: () => performance.now(),
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  soon: (run) => queueMicrotask(run),
  random: () => Math.random(),
  loadCore,
  loadCodecs,
  available,
  opener: (server, WebSocket) => new Opener(server, WebSocket),
  memory: (server) => new StoredMemory(server),
  watchPage,
  prepare,
  sparesRequests: isPage(),
  warn: (text) => console.warn(text),
};
