/** Remembers from one visit to the next which transports work with a server. */

import type { TransportName } from "./api.js";

/**
 * One day, in milliseconds: a laptop changes its network more often, but a wrong entry only makes
 * the search begin with another transport.
 */
const TERM_MS = 86_400_000;

/**
 * Once the best transport has worked with a server, a failure is probably a passing one; this is
 * remembered for longer.
 */
const WORKED_TERM_MS = 30 * TERM_MS;

export interface Memory {
  /** The transport to begin with if `best` has never worked; undefined: begin with `best`. */
  recall(best: TransportName): TransportName | undefined;
  /** Records that `name` carried a session. */
  worked(name: TransportName, best: TransportName): void;
  /** Records that `best` failed while `name` works. */
  fellBack(name: TransportName, best: TransportName): void;
}

interface Entry {
  readonly best: TransportName;
  /** The transport that works instead of `best`; undefined if `best` has worked. */
  readonly instead?: TransportName;
  /** When the entry expires, by `Date.now()`. */
  readonly until: number;
}

/** Keeps entries in `localStorage`. Where it is missing or forbidden, nothing is remembered. */
export class StoredMemory implements Memory {
  readonly #key: string;

  constructor(server: URL) {
    this.#key = `groupwire ${server.host}`;
  }

  recall(best: TransportName): TransportName | undefined {
    return this.#read(best)?.instead;
  }

  worked(name: TransportName, best: TransportName): void {
    if (name === best) this.#write({ best, until: Date.now() + WORKED_TERM_MS });
  }

  fellBack(instead: TransportName, best: TransportName): void {
    const before = this.#read(best);
    if (before && before.instead === undefined) return;
    this.#write({ best, instead, until: Date.now() + TERM_MS });
  }

  #read(best: TransportName): Entry | undefined {
    try {
      const entry = JSON.parse(localStorage.getItem(this.#key) ?? "null") as Entry | null;
      return entry?.best === best && entry.until > Date.now() ? entry : undefined;
    } catch {
      return undefined;
    }
  }

  #write(entry: Entry): void {
    try {
      localStorage.setItem(this.#key, JSON.stringify(entry));
    } catch {
      // Storage is forbidden in private windows and sandboxed frames, and may be full.
    }
  }
}
